package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/openai"
)

func usage(prompt, answer, total int) string {
	return fmt.Sprintf(`{"id":"c-1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, prompt, answer, total)
}

// within enters an agent with one message and a budget.
func within(t *testing.T, cfg openai.Config, budget int64, earlier []a2a.Task, text string) (agent.Outcome, string) {
	t.Helper()
	var log bytes.Buffer
	cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	a, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	turn := say(a2a.TextPart(text))
	turn.MaxTokens = budget
	turn.Memory = memory{earlier: earlier, history: []a2a.Message{*turn.Message}}
	outcome, err := a.Run(t.Context(), turn, &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	return outcome, log.String()
}

// What a budget leaves limits the answer: a byte may be a token, 16 more go
// around each message and 128 around all.
func TestABudgetLimitsTheAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		budget, limit int
		max           int // of the configuration
		model, system string
		earlier       []a2a.Task
		messages      int
	}{
		"none":                         {messages: 1},
		"none, but a limit":            {max: 77, limit: 77, messages: 1},
		"just enough":                  {budget: 128 + 26 + 16, limit: 16, messages: 1},
		"what is left":                 {budget: 1000, limit: 1000 - 128 - 26, messages: 1},
		"with a system prompt":         {budget: 1000, limit: 1000 - 128 - 26 - 20, system: "Mind", messages: 2},
		"a lower limit counts":         {budget: 1000, max: 77, limit: 77, messages: 1},
		"a higher one does not":        {budget: 1000, max: 77777, limit: 1000 - 128 - 26, messages: 1},
		"more than models take":        {budget: 1<<53 - 1, limit: 4096, messages: 1},
		"more, with a limit":           {budget: 1<<53 - 1, max: 1 << 20, limit: 1 << 20, messages: 1},
		"for a model that reasons":     {budget: 1000, limit: 1000 - 128 - 26, model: "gpt-5", messages: 1},
		"earlier turns that fit":       {budget: 1000, limit: 1000 - 128 - 26 - 2*18, earlier: []a2a.Task{answered("q1", "a1")}, messages: 3},
		"earlier turns that just fit":  {budget: 128 + 26 + 16 + 72, limit: 16 + 36, earlier: []a2a.Task{answered("q1", "a1")}, messages: 3},
		"earlier turns too many":       {budget: 128 + 26 + 16 + 71, limit: 16 + 71, earlier: []a2a.Task{answered("q1", "a1")}, messages: 1},
		"earlier turns, the last ones": {budget: 1000, limit: 1000 - 128 - 26 - 36, earlier: []a2a.Task{answered("q0", strings.Repeat("x", 400)), answered("q1", "a1")}, messages: 3},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, streams(delta("a"), finish("stop"), usage(9, 1, 10), done))
			cfg := e.config()
			cfg.MaxTokens, cfg.System = tt.max, tt.system
			if tt.model != "" {
				cfg.Model = tt.model
			}
			outcome, log := within(t, cfg, int64(tt.budget), tt.earlier, "0123456789")
			if outcome.State != a2a.TaskStateCompleted || outcome.Tokens != 10 || strings.Contains(log, "WARN") {
				t.Fatalf("outcome %+v, log %s", outcome, log)
			}
			sent := e.calls[0]
			if got := max(sent.MaxTokens, sent.MaxCompletionTokens); got != tt.limit || (sent.MaxCompletionTokens > 0) != (tt.model != "") {
				t.Errorf("limits %d and %d, want %d", sent.MaxTokens, sent.MaxCompletionTokens, tt.limit)
			}
			if len(sent.Messages) != tt.messages {
				t.Errorf("messages %+v, want %d", sent.Messages, tt.messages)
			}
			if tt.budget == 0 {
				return
			}
			bound := 128 + tt.limit
			for _, m := range sent.Messages {
				bound += len(m.Content) + 16
			}
			if bound > tt.budget {
				t.Errorf("up to %d tokens, over the budget of %d", bound, tt.budget)
			}
		})
	}
}

func TestABudgetThatIsTooSmall(t *testing.T) {
	e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
	for _, budget := range []int64{1, 128 + 26 + 15} {
		outcome, _ := within(t, e.config(), budget, nil, "0123456789")
		want := fmt.Sprintf("the token budget of %d is too small: this message needs one of at least 170", budget)
		if outcome.State != a2a.TaskStateRejected || outcome.Message.Text() != want || outcome.Tokens != 0 {
			t.Errorf("outcome %s %q, want %q", outcome.State, outcome.Message.Text(), want)
		}
	}
	m, err := openai.NewModel(e.config())
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Complete(t.Context(), []openai.Message{{Role: openai.RoleUser, Text: secret}}, 100, func(string) error { return nil })
	if failure, ok := errors.AsType[*openai.Error](err); !ok || failure.Kind != openai.KindBudget {
		t.Errorf("Complete() error = %v", err)
	}
	if len(e.calls) > 0 {
		t.Errorf("%d calls were made", len(e.calls))
	}
}

func TestWhatACallUsed(t *testing.T) {
	for name, tt := range map[string]struct {
		events []string
		want   int64
		cost   int64 // at 0.1 for a token read and 2 for one written, rounded up
		state  a2a.TaskState
	}{
		"not told":           {[]string{delta("a"), finish("stop"), done}, 0, 0, a2a.TaskStateCompleted},
		"told at the end":    {[]string{delta("a"), finish("stop"), usage(9, 1, 10), done}, 10, 3, a2a.TaskStateCompleted},
		"told as it grows":   {[]string{usage(9, 0, 9), delta("a"), usage(9, 1, 10), finish("stop"), usage(9, 2, 11), done}, 11, 5, a2a.TaskStateCompleted},
		"without a total":    {[]string{delta("a"), finish("stop"), usage(9, 1, 0), done}, 10, 3, a2a.TaskStateCompleted},
		"with a wrong total": {[]string{delta("a"), finish("stop"), usage(9, 1, 5), done}, 10, 3, a2a.TaskStateCompleted},
		"nonsense":           {[]string{delta("a"), finish("stop"), usage(-9, 1, 5), done}, 0, 0, a2a.TaskStateCompleted},
		"more nonsense":      {[]string{delta("a"), finish("stop"), usage(1<<60, 1<<60, 0), done}, 0, 0, a2a.TaskStateCompleted},
		"thoughts":           {[]string{delta("a"), finish("stop"), usage(9, 1, 15), done}, 15, 13, a2a.TaskStateCompleted},
		"of no answer":       {[]string{finish("stop"), usage(9, 0, 9), done}, 9, 1, a2a.TaskStateFailed},
		"of a filtered one":  {[]string{delta("a"), finish("content_filter"), usage(9, 1, 10), done}, 10, 3, a2a.TaskStateRejected},
		"of a broken one":    {[]string{delta("a"), usage(9, 1, 10)}, 10, 3, a2a.TaskStateFailed},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, streams(tt.events...))
			cfg := e.config()
			cfg.Prices = openai.Prices{Input: 100_000, Output: 2_000_000}
			outcome, _ := within(t, cfg, 0, nil, "x")
			if outcome.Tokens != tt.want || outcome.Cost != tt.cost || outcome.State != tt.state {
				t.Errorf("%s with %d tokens for %d, want %s with %d for %d", outcome.State, outcome.Tokens, outcome.Cost, tt.state, tt.want, tt.cost)
			}
			if !e.calls[0].StreamOptions.IncludeUsage {
				t.Error("the endpoint was not asked")
			}
		})
	}
}

// An endpoint that does not keep to its limit is told of.
func TestMoreUsedThanAllowed(t *testing.T) {
	e := newEndpoint(t, streams(delta("a"), finish("stop"), usage(900, 200, 1100), done))
	outcome, log := within(t, e.config(), 1000, nil, "x")
	if outcome.State != a2a.TaskStateCompleted || outcome.Tokens != 1100 || !strings.Contains(log, "tokens=1100 budget=1000") {
		t.Errorf("%s with %d tokens, log %s", outcome.State, outcome.Tokens, log)
	}
}

// An endpoint that does not know how to say what a call used is asked again
// without, and not asked again after that.
func TestEndpointsThatCanNotCount(t *testing.T) {
	for _, refusal := range []string{
		`{"error":{"message":"Unknown parameter","param":"stream_options","code":null,"type":"invalid_request_error"}}`,
		`{"detail":[{"loc":["body","stream_options","include_usage"],"msg":"extra fields not permitted"}]}`,
	} {
		for _, status := range []int{400, 422} {
			e := newEndpoint(t, says(status, "application/json", refusal), streams(delta("a"), finish("stop"), done))
			a, err := openai.New(e.config())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				outcome, err := a.Run(t.Context(), say(a2a.TextPart("x")), &recorder{})
				if err != nil || outcome.State != a2a.TaskStateCompleted || outcome.Tokens != 0 {
					t.Errorf("outcome %+v, error %v", outcome, err)
				}
			}
			var asked []bool
			for _, call := range e.calls {
				asked = append(asked, call.StreamOptions.IncludeUsage)
			}
			if diff := cmp.Diff([]bool{true, false, false}, asked); diff != "" {
				t.Errorf("asked for usage (-want +got)\n%s", diff)
			}
		}
	}
	e := newEndpoint(t, says(400, "application/json", `{"error":{"message":"no stream_options here either"}}`))
	if outcome, _ := within(t, e.config(), 0, nil, "x"); outcome.State != a2a.TaskStateFailed || len(e.calls) != 2 {
		t.Errorf("an endpoint that always stumbles: %s after %d calls", outcome.State, len(e.calls))
	}
}
