package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/server"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// world is a server with agents of every kind, on a real engine and store.
type world struct {
	*server.Server
	engine *task.Engine
	store  *sqlite.Store
	gate   *gate
	logs   *logs
	halt   func() // stops the engine's claimer
}

// options change the world a test begins with.
type options struct {
	config func(*server.Config)
	engine task.Config
	agents []server.Agent // nil: those of published
	dir    string         // of the store; empty: a fresh one
}

// newWorld builds a world that ends with the test.
func newWorld(t *testing.T, with options) *world {
	t.Helper()
	w, stop := startWorld(t, with)
	t.Cleanup(stop)
	return w
}

// startWorld builds a world that ends when the returned function is called.
func startWorld(t testing.TB, with options) (*world, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	dir := with.dir
	if dir == "" {
		dir = t.TempDir()
	}
	store, err := sqlite.Open(ctx, dir, sqlite.Config{Sync: sqlite.Off, Now: with.engine.Now}) // one clock for both
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: store, gate: newGate(), logs: &logs{}}
	logger := slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := server.Config{
		PublicURL: "https://agents.example.com", Callers: byHeader{}, Logger: logger,
		Now: func() time.Time { return epoch },
	}
	if with.config != nil {
		with.config(&cfg)
	}
	claimer := work.NewClaimer(store, work.Config{Drain: -1})
	with.engine.Claimer, with.engine.Logger = claimer, cfg.Logger
	w.engine, err = task.NewEngine(ctx, store, behaviours(w.gate), with.engine)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := claimer.Run(ctx); err != nil {
			t.Errorf("claimer: %v", err)
		}
	})
	w.halt = func() {
		cancel()
		running.Wait()
	}
	agents := with.agents
	if agents == nil {
		agents = published()
	}
	w.Server, err = server.New(w.engine, agents, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w, func() {
		w.Stop()
		w.halt()
		if err := store.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	}
}

var epoch = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

// byHeader takes the caller's name from a header.
type byHeader struct{}

func (byHeader) Caller(r *http.Request) (server.Caller, error) {
	switch name := r.Header.Get("X-Caller"); name {
	case "":
		return server.Caller{}, &server.Refusal{Status: 401, Reason: "who are you?", Challenge: `Bearer realm="test"`}
	case "denied":
		return server.Caller{}, &server.Refusal{Status: 403, Reason: "this caller may not call"}
	case "hasty":
		return server.Caller{}, &server.Refusal{Status: 429, Reason: "slow down", RetryAfter: 1500 * time.Millisecond}
	case "unclear":
		return server.Caller{}, errors.New("the directory of callers is away")
	case "bug":
		panic("secret of a caller")
	default:
		return server.Caller{Name: name}, nil
	}
}

// logs keeps what was logged.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// form is a card without interfaces, whose skills have the given ids.
func form(name string, skills ...string) a2a.AgentCard {
	c := a2a.AgentCard{
		Name: name, Description: "An agent of the tests.", Version: "1",
		Capabilities:       a2a.AgentCapabilities{Streaming: new(true)},
		DefaultInputModes:  []string{"text/*", "application/json"},
		DefaultOutputModes: []string{"text/plain", "application/json"},
	}
	for _, id := range skills {
		c.Skills = append(c.Skills, a2a.AgentSkill{ID: id, Name: id, Description: "Does " + id + ".", Tags: []string{"test"}})
	}
	return c
}

// published are the agents of a world: one for each behaviour, and some with
// special cards.
func published() []server.Agent {
	agents := []server.Agent{{Card: form("Echo", "echo", "ask"), DefaultSkill: "echo"}}
	for _, name := range []string{"ask", "auth", "fail", "reject", "reply", "chunks", "gate", "stuck", "panic", "refuse", "mirror"} {
		agents = append(agents, server.Agent{Name: name, Card: form(name, name)})
	}
	agents = append(agents, server.Agent{Name: "menu", Card: form("Menu", "echo", "ask")})
	agents = append(agents, server.Agent{Name: "rented", Card: form("Rented", "echo"), Tenant: "billing"})
	agents = append(agents, server.Agent{Name: "picky", Card: picky()})
	still := form("Still", "echo", "ask")
	still.Capabilities.Streaming = nil
	agents = append(agents, server.Agent{Name: "still", Card: still, DefaultSkill: "echo"})
	strict := form("Strict", "echo")
	strict.Capabilities.Extensions = []a2a.AgentExtension{
		{URI: "urn:example:must:v1", Required: true}, {URI: "urn:example:may:v1"},
	}
	agents = append(agents, server.Agent{Name: "strict", Card: strict})
	return append(agents, thrifty()...)
}

func picky() a2a.AgentCard {
	c := form("Picky", "echo")
	c.Skills[0].InputModes = []string{"image/*", "Text/Markdown; charset=utf-8"}
	c.Skills[0].OutputModes = []string{"application/pdf"}
	return c
}

// byName finds agents by skill, whatever agent they belong to.
type byName map[string]agent.Agent

func (b byName) Agent(_, skill string) (agent.Agent, bool) {
	a, ok := b[skill]
	return a, ok
}

func behaviours(g *gate) byName {
	return byName{
		"echo":   agent.Func(echo),
		"ask":    agent.Func(ask),
		"auth":   agent.Func(auth),
		"chunks": agent.Func(chunks),
		"gate":   g,
		"reply":  reply{},
		"refuse": refuse{},
		"fail": agent.Func(func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
			return agent.Failed("it broke"), nil
		}),
		"reject": agent.Func(func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
			return agent.Rejected("not this one"), nil
		}),
		"stuck": agent.Func(func(ctx context.Context, _ agent.Turn, _ agent.Output) (agent.Outcome, error) {
			<-ctx.Done()
			return agent.Outcome{}, ctx.Err()
		}),
		"panic":  panics{},
		"budget": agent.Func(budget),
		"mirror": agent.Func(mirror),
		"recall": agent.Func(recall),
	}
}

// echo returns the parts it was sent as an artifact.
func echo(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	artifact := a2a.Artifact{Name: "echo", Parts: turn.Message.Parts}
	return agent.Completed(), out.Artifact(ctx, artifact, agent.Chunk{Last: true})
}

// ask asks until it is told "done".
func ask(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	if turn.Message.Text() == "done" {
		return echo(ctx, turn, out)
	}
	return agent.AskInput("What next?"), nil
}

// auth waits for an authorization and, told so, completes.
func auth(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	if turn.Number > 1 {
		return echo(ctx, turn, out)
	}
	return agent.Outcome{State: a2a.TaskStateAuthRequired, Message: a2a.NewMessage(a2a.RoleAgent, a2a.TextPart("Approval is needed."))}, nil
}

// chunks puts out as many pieces as the message says.
func chunks(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	var n int
	fmt.Sscanf(turn.Message.Text(), "%d", &n)
	for i := range n {
		piece := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(fmt.Sprintf("%d ", i))}}
		if err := out.Artifact(ctx, piece, agent.Chunk{Append: i > 0, Last: i == n-1}); err != nil {
			return agent.Outcome{}, err
		}
	}
	return agent.Completed(), nil
}

// reply answers without a task; told "task", it makes one.
type reply struct{}

func (reply) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	return echo(ctx, turn, out)
}

func (reply) Respond(_ context.Context, turn agent.Turn) (*a2a.Message, error) {
	if turn.Message.Text() == "task" {
		return nil, nil
	}
	return a2a.NewMessage(a2a.RoleAgent, a2a.TextPart("pong")), nil
}

// refuse answers with an error of the protocol, panics do worse.
type refuse struct{ reply }

func (refuse) Respond(context.Context, agent.Turn) (*a2a.Message, error) {
	return nil, a2a.Errorf(a2a.CodeExtensionSupportRequired, "this agent refuses")
}

type panics struct{ reply }

func (panics) Respond(_ context.Context, turn agent.Turn) (*a2a.Message, error) {
	if turn.Message.Text() == "error" {
		return nil, errors.New("the cause stays here")
	}
	panic("content: " + turn.Message.Text())
}

// gate is an agent in a test's hand: it says when it was entered and goes on
// when told to. What it is told it puts out; "end" completes it.
type gate struct {
	entered chan struct{}
	tell    chan string
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}, 100), tell: make(chan string)}
}

func (g *gate) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	g.entered <- struct{}{}
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return agent.Outcome{}, ctx.Err()
		case text := <-g.tell:
			if text == "end" {
				return agent.Completed(), nil
			}
			if text == "ask" {
				return agent.AskInput("What next?"), nil
			}
			piece := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(text)}}
			if err := out.Artifact(ctx, piece, agent.Chunk{Append: n > 0}); err != nil {
				return agent.Outcome{}, err
			}
		}
	}
}

// request is what tests send when nothing else is said.
func request(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("X-Caller", "client-a")
	return r
}

// post sends a body and returns the answer.
func (w *world) post(path, body string) *httptest.ResponseRecorder {
	return w.do(request("POST", path, body))
}

func (w *world) do(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	return rec
}

// rpc is the body of a request.
func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// say is the parameters of a message.
func say(id, text string, more ...string) string {
	return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":[{"text":"` + text + `"}]` + strings.Join(more, "") + `}}`
}

// tester is a test, or one run of a property.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// taskOf reads the task of an answer or an event, bare or wrapped.
func taskOf(t tester, body []byte) a2a.Task {
	t.Helper()
	resp, err := jsonrpc.ParseResponse(body)
	if err != nil || !resp.HasResult {
		t.Fatalf("no result in %s: %v", body, err)
	}
	result := resp.Result
	if wrapped, ok := a2a.Struct(result).Get("task"); ok {
		result = wrapped
	}
	got, violations, err := a2a.Decode[a2a.Task](result)
	if err != nil || len(violations) > 0 {
		t.Fatalf("no task in %s: %v %v", body, err, violations)
	}
	return got
}

// codeOf reads the code of an answer that is an error; zero if it is none.
func codeOf(t *testing.T, body []byte) a2a.Code {
	t.Helper()
	resp, err := jsonrpc.ParseResponse(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if resp.Error == nil {
		return 0
	}
	e, err := a2a.DecodeError(resp.Error)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return e.Code
}

// total is how many tasks a caller has with an agent.
func (w *world) total(t *testing.T, path, caller string) string {
	t.Helper()
	r := request("POST", path, rpc("ListTasks", `{"includeArtifacts":true}`))
	r.Header.Set("X-Caller", caller)
	body := w.do(r).Body.String()
	_, total, ok := strings.Cut(body, `"totalSize":`)
	if !ok {
		t.Fatalf("no total in %s", body)
	}
	return strings.TrimRight(total, "}")
}
