package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/server"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// shout is an agent: a plain function that answers one turn.
func shout(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	answer := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(strings.ToUpper(turn.Message.Text()) + "!")}}
	return agent.Completed(), out.Artifact(ctx, answer, agent.Chunk{Last: true})
}

// functions says which function answers for which skill.
type functions map[string]agent.Agent

func (p functions) Agent(_, skill string) (agent.Agent, bool) {
	found, ok := p[skill]
	return found, ok
}

// A Go function becomes an A2A agent: a store, an engine that runs it, and a
// handler that any HTTP server can serve.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, dir, sqlite.Config{})
	if err != nil {
		panic(err)
	}
	engine, err := task.NewEngine(ctx, store, functions{"shout": agent.Func(shout)}, task.Config{})
	if err != nil {
		panic(err)
	}
	web := httptest.NewUnstartedServer(nil) // yours is an http.Server
	handler, err := server.New(engine, []server.Agent{{Card: a2a.AgentCard{
		Name: "Shouter", Description: "Says it louder.", Version: "1.0.0",
		Capabilities:      a2a.AgentCapabilities{Streaming: new(true)},
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "shout", Name: "shout", Description: "Says it louder.", Tags: []string{"text"}}},
	}}}, server.Config{PublicURL: "http://" + web.Listener.Addr().String()})
	if err != nil {
		panic(err)
	}
	web.Config.Handler = handler
	web.Start()
	done := make(chan error, 1)
	go func() { done <- engine.Run(ctx) }()

	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, web.URL, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(a2a.HeaderVersion, a2a.ProtocolVersion)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	fmt.Println(strings.Contains(string(body), `"text":"HELLO!"`), strings.Contains(string(body), "TASK_STATE_COMPLETED"))

	stop() // runs under way may finish, then what is held open ends
	<-done
	handler.Stop()
	web.Close()
	store.Close()
	// Output: true true
}
