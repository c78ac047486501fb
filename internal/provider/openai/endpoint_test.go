package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/openai"
)

const (
	key    = "sk-KEY-7c1f"
	secret = "SAID-7c1f" // what the user says
	answer = "HEARD-7c1f"
)

// sent is a request as an endpoint reads it.
type sent struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Stream              bool      `json:"stream"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
	Temperature         *float64  `json:"temperature"`
	TopP                *float64  `json:"top_p"`
	StreamOptions       options   `json:"stream_options"`
}

type options struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// endpoint answers calls with its handlers, one after the other and the last
// one for ever, and keeps what it was sent.
type endpoint struct {
	*httptest.Server
	mu    sync.Mutex
	calls []sent
}

func newEndpoint(t *testing.T, handlers ...http.HandlerFunc) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%s %s with Authorization %q", r.Method, r.URL.Path, r.Header.Get("Authorization"))
		}
		var s sent
		if err := json.UnmarshalRead(r.Body, &s); err != nil {
			t.Errorf("read the request: %v", err)
		}
		e.mu.Lock()
		e.calls = append(e.calls, s)
		handler := handlers[min(len(e.calls), len(handlers))-1]
		e.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) config() openai.Config {
	return openai.Config{BaseURL: e.URL + "/v1", Key: key, Model: "m-1", HTTPClient: e.Client()}
}

// delta is an event of an answer's stream.
func delta(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"id":"c-1","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quoted)
}

func finish(reason string) string {
	return fmt.Sprintf(`{"id":"c-1","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

const done = "[DONE]"

// events is a stream as text.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// streams answers with a stream of events.
func streams(data ...string) http.HandlerFunc { return says(200, "text/event-stream", events(data...)) }

func says(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// recorder keeps what an agent puts out.
type recorder struct {
	hook   func(text string) error
	chunks []agent.Chunk
	names  []string
	texts  []string
}

func (r *recorder) Status(context.Context, *a2a.Message) error {
	return errors.New("no status is expected")
}
func (r *recorder) Flush(context.Context) error { return nil }
func (r *recorder) Artifact(_ context.Context, a a2a.Artifact, c agent.Chunk) error {
	r.chunks, r.names, r.texts = append(r.chunks, c), append(r.names, a.Name), append(r.texts, a.Text())
	if r.hook != nil {
		return r.hook(a.Text())
	}
	return nil
}

// text is the answer joined, after a check of the rules every artifact obeys.
func (r *recorder) text(t *testing.T) string {
	t.Helper()
	for i, chunk := range r.chunks {
		want := agent.Chunk{Append: i > 0, Last: i == len(r.chunks)-1}
		if chunk != want || (r.names[i] == "answer") != (i == 0) {
			t.Errorf("chunk %d of %d is %+v with name %q, want %+v", i+1, len(r.chunks), chunk, r.names[i], want)
		}
	}
	return strings.Join(r.texts, "")
}

// memory is what was said before.
type memory struct {
	history []a2a.Message
	earlier []a2a.Task
	err     error
}

func (m memory) History(context.Context) ([]a2a.Message, error) { return m.history, m.err }
func (m memory) Earlier(context.Context) ([]a2a.Task, error)    { return m.earlier, nil }
func (m memory) References(context.Context) ([]a2a.Task, error) { return nil, nil }

func say(parts ...a2a.Part) agent.Turn {
	said := a2a.NewMessage(a2a.RoleUser, parts...)
	return agent.Turn{TaskID: "t-1", Message: said, Memory: memory{history: []a2a.Message{*said}}}
}

// result is what a caller and an operator see of a turn.
type result struct {
	state    a2a.TaskState
	reason   string
	metadata string
	text     string
	log      string
	err      error
}

// run enters an agent with one message and checks that nothing leaks.
func run(t *testing.T, cfg openai.Config) result {
	t.Helper()
	var log bytes.Buffer
	cfg.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out recorder
	outcome, err := a.Run(t.Context(), say(a2a.TextPart(secret)), &out)
	r := result{state: outcome.State, metadata: outcome.Metadata.String(), text: out.text(t), log: log.String(), err: err}
	if outcome.Message != nil {
		r.reason = outcome.Message.Text()
	}
	seen := r.reason + r.log + fmt.Sprint(err)
	for _, word := range []string{key, secret, answer} {
		if strings.Contains(seen, word) {
			t.Errorf("%s has leaked:\n%s", word, seen)
		}
	}
	return r
}
