package partner_test

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gosdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// startPeer serves an agent written with the SDK until the test ends.
func startPeer(t *testing.T) string {
	t.Helper()
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "local", nil },
	})
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	card := &gosdk.AgentCard{
		Name: "Peer", Description: "An agent of the SDK.", Version: "1.0.0",
		SupportedInterfaces: []*gosdk.AgentInterface{gosdk.NewAgentInterface(web.URL+"/invoke", gosdk.TransportProtocolJSONRPC)},
		Capabilities:        gosdk.AgentCapabilities{Streaming: true},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []gosdk.AgentSkill{{ID: "echo", Name: "Echo", Description: "Says it again.", Tags: []string{"text"}}},
	}
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/invoke", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor{make(chan struct{})}, a2asrv.WithTaskStore(store))))
	return web.URL
}

// executor plays the first text of a message. A task that says gated goes on
// once another says open.
type executor struct{ gate chan struct{} }

func (e executor) Execute(ctx context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[gosdk.Event, error] {
	return func(yield func(gosdk.Event, error) bool) {
		say := func(event gosdk.Event) bool { return yield(event, nil) }
		status := func(state gosdk.TaskState) bool {
			return say(gosdk.NewStatusUpdateEvent(turn, state, nil))
		}
		text := turn.Message.Parts[0].Text()
		if text == "message" {
			say(gosdk.NewMessage(gosdk.MessageRoleAgent, gosdk.NewTextPart("no task")))
			return
		}
		if turn.StoredTask == nil && !say(gosdk.NewSubmittedTask(turn, turn.Message)) {
			return
		}
		if !status(gosdk.TaskStateWorking) {
			return
		}
		switch {
		case text == "ask":
			status(gosdk.TaskStateInputRequired)
			return
		case text == "wait":
			<-ctx.Done()
			return
		case text == "gated":
			select {
			case <-e.gate:
			case <-ctx.Done():
				return
			}
		case text == "open":
			select {
			case e.gate <- struct{}{}:
			case <-ctx.Done():
				return
			}
		case text == "chunks":
			first := gosdk.NewArtifactEvent(turn, gosdk.NewTextPart("piece-1 "))
			if !say(first) || !say(gosdk.NewArtifactUpdateEvent(turn, first.Artifact.ID, gosdk.NewTextPart("piece-2 "))) ||
				!say(gosdk.NewArtifactUpdateEvent(turn, first.Artifact.ID, gosdk.NewTextPart("piece-3"))) {
				return
			}
		case strings.HasPrefix(text, "parts"):
			if !say(gosdk.NewArtifactEvent(turn, turn.Message.Parts[1:]...)) {
				return
			}
		default:
			if !say(gosdk.NewArtifactEvent(turn, gosdk.NewTextPart(text))) {
				return
			}
		}
		status(gosdk.TaskStateCompleted)
	}
}

func (executor) Cancel(_ context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[gosdk.Event, error] {
	return func(yield func(gosdk.Event, error) bool) {
		yield(gosdk.NewStatusUpdateEvent(turn, gosdk.TaskStateCanceled, nil), nil)
	}
}
