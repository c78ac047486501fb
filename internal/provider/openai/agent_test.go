package openai_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/provider/openai"
)

func TestAnswers(t *testing.T) {
	tests := map[string]struct {
		cfg      openai.Config
		body     string
		state    a2a.TaskState
		text     string
		reason   string
		metadata string
	}{
		"whole": {
			body:  events(`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, delta(answer), delta(" é\u2028"), finish("stop"), `{"choices":[],"usage":{"total_tokens":3}}`, done),
			state: a2a.TaskStateCompleted, text: answer + " é\u2028",
		},
		"no mark of the end": {body: events(delta("a"), finish("stop")), state: a2a.TaskStateCompleted, text: "a"},
		"no finish reason":   {body: events(delta("a"), done), state: a2a.TaskStateCompleted, text: "a"},
		"comments, CRLF, no space": {
			body:  ": ping\r\n\r\n" + strings.ReplaceAll(strings.ReplaceAll(events(delta("a"), finish("stop"), done), "data: ", "data:"), "\n", "\r\n"),
			state: a2a.TaskStateCompleted, text: "a",
		},
		"only the first choice": {
			body:  events(`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, done),
			state: a2a.TaskStateCompleted, text: "a",
		},
		"cut by the endpoint": {
			body:  events(delta("half"), finish("length"), done),
			state: a2a.TaskStateCompleted, text: "half", metadata: `{"truncated":true}`,
		},
		"cut by us": {
			cfg: openai.Config{MaxAnswer: 4}, body: events(delta("abc"), delta("é"), delta("f"), finish("stop"), done),
			state: a2a.TaskStateCompleted, text: "abc", metadata: `{"truncated":true}`,
		},
		"as long as we take": {
			cfg: openai.Config{MaxAnswer: 3}, body: events(delta("abc"), finish("stop"), done),
			state: a2a.TaskStateCompleted, text: "abc",
		},
		"empty": {
			body:  events(finish("stop"), done),
			state: a2a.TaskStateFailed, reason: "the model gave no answer; reference ",
		},
		"filtered": {
			body:  events(delta("half"), finish("content_filter"), done),
			state: a2a.TaskStateRejected, text: "half", reason: "the content filter of the model endpoint ended the answer",
		},
		"refused": {
			body:  events(`{"choices":[{"index":0,"delta":{"refusal":"I can "}}]}`, `{"choices":[{"index":0,"delta":{"refusal":"not."},"finish_reason":"stop"}]}`, done),
			state: a2a.TaskStateRejected, reason: "the model refused: I can not.",
		},
		"broken off": {
			body:  events(delta("half")),
			state: a2a.TaskStateFailed, text: "half", reason: "the model's answer broke off; reference ",
		},
		"an error in the middle": {
			body:  events(delta("half"), `{"error":{"message":"`+secret+key+`","type":"server_error"}}`),
			state: a2a.TaskStateFailed, text: "half", reason: "the model's answer broke off; reference ",
		},
		"no JSON in the middle": {
			body:  events(delta("half"), `{"choices":"`+answer),
			state: a2a.TaskStateFailed, text: "half", reason: "the model's answer broke off; reference ",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, says(200, "text/event-stream", test.body))
			cfg := e.config()
			cfg.MaxAnswer = test.cfg.MaxAnswer
			got := run(t, cfg)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if got.state != test.state || got.text != test.text || got.metadata != test.metadata {
				t.Errorf("%s with text %q and metadata %q, want %s, %q, %q", got.state, got.text, got.metadata, test.state, test.text, test.metadata)
			}
			checkReason(t, got, test.reason)
			if n := len(e.calls); n != 1 {
				t.Errorf("%d calls were made, want 1", n)
			}
		})
	}
}

// checkReason compares what the caller is told. Where that ends with a
// reference, the log must have it.
func checkReason(t *testing.T, got result, want string) {
	t.Helper()
	if !strings.HasSuffix(want, "reference ") {
		if got.reason != want {
			t.Errorf("reason is %q, want %q", got.reason, want)
		}
		return
	}
	reference, ok := strings.CutPrefix(got.reason, want)
	if !ok || reference == "" || !strings.Contains(got.log, reference) {
		t.Errorf("reason is %q, want %q and a reference that is in the log:\n%s", got.reason, want, got.log)
	}
}

func TestAnAnswerIsPutOutAsItComes(t *testing.T) {
	seen := make(chan struct{})
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		streams(delta("one "))(w, r)
		w.(http.Flusher).Flush()
		<-seen // the rest comes only when the first chunk was put out
		io.WriteString(w, events(delta("two"), finish("stop"), done))
	})
	a, err := openai.New(e.config())
	if err != nil {
		t.Fatal(err)
	}
	out := recorder{}
	out.hook = func(string) error {
		if len(out.texts) == 1 {
			close(seen)
		}
		return nil
	}
	if _, err := a.Run(t.Context(), say(a2a.TextPart("x")), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.text(t); got != "one two" || out.texts[0] != "one " {
		t.Errorf("put out %q", out.texts)
	}
}

func TestAnOutputThatFailsEndsTheCall(t *testing.T) {
	ended := errors.New("the task has ended")
	gone := make(chan struct{})
	e := newEndpoint(t, func(w http.ResponseWriter, r *http.Request) {
		streams(delta("one "))(w, r)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	})
	a, err := openai.New(e.config())
	if err != nil {
		t.Fatal(err)
	}
	out := recorder{hook: func(string) error { return ended }}
	if _, err := a.Run(t.Context(), say(a2a.TextPart("x")), &out); !errors.Is(err, ended) {
		t.Errorf("Run() error = %v, want %v", err, ended)
	}
	<-gone
}

func TestRequests(t *testing.T) {
	e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
	cfg := e.config()
	cfg.System = "Be brief."
	cfg.MaxTokens = 7
	cfg.Temperature, cfg.TopP = new(float32(0)), new(float32(0.5))
	run(t, cfg)
	run(t, e.config())
	reasoning := e.config()
	reasoning.Model, reasoning.MaxTokens = "o3-mini", 7
	run(t, reasoning)

	want := []sent{
		{Model: "m-1", Stream: true, StreamOptions: options{true}, MaxTokens: 7, Temperature: new(0.0), TopP: new(0.5), Messages: []message{{"system", "Be brief."}, {"user", secret}}},
		{Model: "m-1", Stream: true, StreamOptions: options{true}, Messages: []message{{"user", secret}}},
		{Model: "o3-mini", Stream: true, StreamOptions: options{true}, MaxCompletionTokens: 7, Messages: []message{{"user", secret}}},
	}
	// The smallest float32 stands for zero.
	nearly := cmp.Comparer(func(a, b float64) bool { return max(a-b, b-a) < 1e-40 })
	if diff := cmp.Diff(want, e.calls, nearly); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAnOpenAIAgentIsNotRepeatable(t *testing.T) {
	a, err := openai.New(openai.Config{BaseURL: "https://example.com/v1", Model: "m", HTTPClient: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	if a.Repeatable() {
		t.Error("Repeatable() = true, want false")
	}
}

func TestNewRefuses(t *testing.T) {
	good := func() openai.Config {
		return openai.Config{BaseURL: "https://example.com/v1", Model: "m", HTTPClient: http.DefaultClient}
	}
	tests := map[string]struct {
		change func(*openai.Config)
		want   string
	}{
		"no URL":        {func(c *openai.Config) { c.BaseURL = "" }, "openai: the base URL is not an http or https URL with a host"},
		"another URL":   {func(c *openai.Config) { c.BaseURL = "file:///etc" }, "openai: the base URL is not an http or https URL with a host"},
		"broken URL":    {func(c *openai.Config) { c.BaseURL = "https://" + key + ":x" }, "openai: the base URL is not a URL"},
		"credentials":   {func(c *openai.Config) { c.BaseURL = "https://u:" + key + "@example.com" }, "openai: the base URL has credentials; give the key as a secret instead"},
		"query":         {func(c *openai.Config) { c.BaseURL += "?key=" + key }, "openai: the base URL has a query or a fragment"},
		"system prompt": {func(c *openai.Config) { c.System = "\xff" }, "openai: the system prompt is not UTF-8"},
		"no model":      {func(c *openai.Config) { c.Model = "" }, "openai: the model has no name"},
		"no client":     {func(c *openai.Config) { c.HTTPClient = nil }, "openai: there is no HTTP client to call the endpoint with"},
		"temperature":   {func(c *openai.Config) { c.Temperature = new(float32(2.5)) }, "openai: the temperature is not from 0 to 2"},
		"top-p":         {func(c *openai.Config) { c.TopP = new(float32(0)) }, "openai: top-p is not above 0 and at most 1"},
		"limit":         {func(c *openai.Config) { c.MaxTokens = -1 }, "openai: a limit is negative"},
		"key":           {func(c *openai.Config) { c.Key = key + "\n" }, "openai: the key has characters that no HTTP header carries"},
		"fixed setting": {func(c *openai.Config) { c.Model = "o1"; c.Temperature = new(float32(0.5)) }, `openai: model "o1": this model has beta-limitations, temperature, top_p and n are fixed at 1, while presence_penalty and frequency_penalty are fixed at 0`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := good()
			test.change(&cfg)
			if _, err := openai.New(cfg); err == nil || err.Error() != test.want {
				t.Errorf("New() error = %v, want %s", err, test.want)
			}
		})
	}
}
