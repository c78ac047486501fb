package partner_test

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// startPeer serves an agent written with the SDK. What it is asked goes through
// reader, and what it answers through change, which may be nil.
func startPeer(t *testing.T, reader *strict, change func(text []byte) []byte) string {
	t.Helper()
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "local", nil },
	})
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	card := &sdk.AgentCard{
		Name: "Peer", Description: "An agent of the SDK.", Version: "1.0.0",
		SupportedInterfaces: []*sdk.AgentInterface{sdk.NewAgentInterface(web.URL+"/invoke", sdk.TransportProtocolJSONRPC)},
		Capabilities:        sdk.AgentCapabilities{Streaming: true},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []sdk.AgentSkill{{ID: "echo", Name: "Echo", Description: "Says it again.", Tags: []string{"text"}}},
	}
	handler := a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor{make(chan struct{})}, a2asrv.WithTaskStore(store)))
	if change != nil {
		// A later peer offers its own version first.
		later := sdk.NewAgentInterface(web.URL+"/invoke-1.1", sdk.TransportProtocolJSONRPC)
		later.ProtocolVersion = "1.1"
		card.SupportedInterfaces = append([]*sdk.AgentInterface{later}, card.SupportedInterfaces...)
		plain := handler
		handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			plain.ServeHTTP(&changing{ResponseWriter: w, change: change}, r)
		})
	}
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle("/invoke", reader.requests(handler))
	return web.URL
}

// changing passes on what the SDK writes: one answer, or one event, or one
// field of an event, at a time.
type changing struct {
	http.ResponseWriter
	change func([]byte) []byte
}

func (c *changing) Write(text []byte) (int, error) {
	prefix, body := "", bytes.TrimSpace(text)
	if rest, ok := bytes.CutPrefix(body, []byte("data: ")); ok {
		prefix, body = "data: ", rest
	}
	if !bytes.HasPrefix(body, []byte("{")) {
		return c.ResponseWriter.Write(text)
	}
	out := append([]byte(prefix), c.change(body)...)
	if prefix != "" {
		out = append(out, "\n\n"...)
	}
	if _, err := c.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (c *changing) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// executor plays the first text of a message. A task that says gated goes on
// once another says open.
type executor struct{ gate chan struct{} }

func (e executor) Execute(ctx context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		say := func(event sdk.Event) bool { return yield(event, nil) }
		status := func(state sdk.TaskState) bool {
			return say(sdk.NewStatusUpdateEvent(turn, state, nil))
		}
		text := turn.Message.Parts[0].Text()
		if text == "message" {
			say(sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart("no task")))
			return
		}
		if turn.StoredTask == nil && !say(sdk.NewSubmittedTask(turn, turn.Message)) {
			return
		}
		if !status(sdk.TaskStateWorking) {
			return
		}
		switch {
		case text == "ask":
			status(sdk.TaskStateInputRequired)
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
			first := sdk.NewArtifactEvent(turn, sdk.NewTextPart("piece-1 "))
			if !say(first) || !say(sdk.NewArtifactUpdateEvent(turn, first.Artifact.ID, sdk.NewTextPart("piece-2 "))) ||
				!say(sdk.NewArtifactUpdateEvent(turn, first.Artifact.ID, sdk.NewTextPart("piece-3"))) {
				return
			}
		case strings.HasPrefix(text, "parts"):
			if !say(sdk.NewArtifactEvent(turn, turn.Message.Parts[1:]...)) {
				return
			}
		default:
			if !say(sdk.NewArtifactEvent(turn, sdk.NewTextPart(text))) {
				return
			}
		}
		status(sdk.TaskStateCompleted)
	}
}

func (executor) Cancel(_ context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		yield(sdk.NewStatusUpdateEvent(turn, sdk.TaskStateCanceled, nil), nil)
	}
}
