package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
)

// model is an endpoint of which every answer has used 1000 tokens of a question
// and 500 of an answer. Told "wait" it does not answer.
type model struct {
	*httptest.Server
	asked chan struct{}
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{asked: make(chan struct{}, 64)}
	done := make(chan struct{})
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if err := r.Write(body); err != nil {
			t.Error(err)
		}
		m.asked <- struct{}{}
		if strings.Contains(body.String(), "wait") {
			select {
			case <-r.Context().Done():
			case <-done:
			}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":500,"total_tokens":1500}}`+"\n\n"+
			"data: [DONE]\n\n")
	}))
	t.Cleanup(func() {
		close(done)
		m.Close()
	})
	return m
}

// documents are an agent that answers with the model, by configuration.
func (m *model) documents(configuration string) string {
	return fmt.Sprintf(`{kind: Provider, name: model, spec: {type: openai, zone: restricted, baseURL: %q, exceptions: [%q]}}
---
{kind: Configuration, name: model, spec: {provider: model, model: m, %s}}
---
{kind: Agent, name: model, spec: {card: {description: D.}, skills: [{id: think, configuration: model, description: D.}]}}`,
		m.URL+"/v1", strings.TrimPrefix(m.URL, "http://"), configuration)
}

// TestCostOfADay counts what answers cost by the prices of their configuration,
// and sets aside before that what one may cost.
func TestCostOfADay(t *testing.T) {
	m := newModel(t)
	// An answer costs 1000 × 2 and 500 × 8 millionths, which is 0.006.
	h := build(t, m.documents("limits: {cost: 0.01}, prices: {input: 2, output: 8}"),
		remoteClient("partner", "", "model/think", "  limits: {costPerDay: 0.026}\n"),
		remoteClient("poor", "", "model/think", "  limits: {costPerDay: 0.009}\n"))
	p := bearer(h.key("partner").Key)
	for i, fits := range []bool{true, true, true, false} { // 0.018 is used before the last, and 0.01 must be left
		got := h.call(p, "/agents/model", a2a.MethodSendMessage, said("hello"))
		if fits && got.task().Status.State != a2a.TaskStateCompleted || !fits && !refusedByQuota(got, "cost per day") {
			t.Errorf("message %d: %d %s, want it to fit: %v", i, got.status, got.body, fits)
		}
	}
	if got := h.call(bearer(h.key("poor").Key), "/agents/model", a2a.MethodSendMessage, said("hello")); !refusedByQuota(got, "cost per day") {
		t.Errorf("to who may not pay for one: %d %s", got.status, got.body)
	}
	// Without prices nothing costs anything.
	h.apply(m.documents("limits: {cost: 0.01}"))
	if got := h.call(p, "/agents/model", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("without prices: %d %s", got.status, got.body)
	}
}

// TestTokensOfAConfiguration sets aside what a configuration lets a turn use, also
// where its caller declares no budget, and keeps it where a turn is canceled:
// nobody knows what it has used.
func TestTokensOfAConfiguration(t *testing.T) {
	m := newModel(t)
	h := build(t, m.documents("limits: {tokens: 4000}"), remoteClient("partner", "", "model/think", "  limits: {tokensPerDay: 10000}\n"))
	p := bearer(h.key("partner").Key)
	send := func(text string) *reply {
		t.Helper()
		return h.call(p, "/agents/model", a2a.MethodSendMessage, atOnce(said(text)))
	}
	first, second := send("wait"), send("wait")
	if first.status != 200 || second.status != 200 {
		t.Fatalf("%s %s", first.body, second.body)
	}
	if got := send("hello"); !refusedByQuota(got, "tokens per day") {
		t.Errorf("while 8000 of 10000 are held: %d %s", got.status, got.body)
	}
	for _, sent := range []*reply{first, second} {
		<-m.asked
		if got := h.call(p, "/agents/model", a2a.MethodCancelTask, fmt.Sprintf(`{"id":%q}`, sent.task().ID)); got.task().Status.State != a2a.TaskStateCanceled {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if got := send("hello"); !refusedByQuota(got, "tokens per day") {
		t.Errorf("after they were canceled: %d %s", got.status, got.body)
	}
	if got := h.call(p, "/agents/model", a2a.MethodSendMessage, said("hello", budget(2000))); got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("with a budget that fits: %d %s", got.status, got.body)
	}
}

// TestZones refuses a skill whose prompt is not for its caller.
func TestZones(t *testing.T) {
	m := newModel(t)
	h := build(t, m.documents("systemPrompt: Be brief."),
		remoteClient("outside", "", "model/think, desk/open", "  zone: public\n"),
		remoteClient("inside", "", "model/think", "  zone: internal\n"))
	outside, inside := bearer(h.key("outside").Key), bearer(h.key("inside").Key)
	got := h.call(outside, "/agents/model", a2a.MethodSendMessage, said("hello"))
	if got.status != 403 || got.Error.Message != "this client may use no skill of this agent" || len(m.asked) > 0 {
		t.Errorf("to who may not receive it: %d %s", got.status, got.body)
	}
	if last := h.evidence(a2a.MethodSendMessage, "refused", 1)[0]; last.Reason != "zone_exceeded" || last.Who != "outside" || last.Agent != "model" {
		t.Errorf("the audit has %+v", last)
	}
	report := managed[admin.Report](h, "POST", "/admin/clients/outside/check", "", "")
	if want := "model/think: its configuration has a system prompt that is internal, and the client may receive up to public: raise spec.zone"; report.OK || !strings.HasPrefix(report.First, want) {
		t.Errorf("the check says %q, want %q", report.First, want)
	}
	if got := h.call(outside, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("a skill without a prompt: %d %s", got.status, got.body)
	}
	if got := h.call(inside, "/agents/model", a2a.MethodSendMessage, said("hello")); got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("to who may: %d %s", got.status, got.body)
	}
	if report := managed[admin.Report](h, "POST", "/admin/clients/inside/check", "", ""); !report.OK {
		t.Errorf("the check says %+v", report)
	}
	// What changes counts at once.
	h.apply(m.documents("systemPrompt: Be brief., dataClass: confidential"))
	if got := h.call(inside, "/agents/model", a2a.MethodSendMessage, said("hello")); got.status != 403 {
		t.Errorf("after the class was raised: %d %s", got.status, got.body)
	}
}
