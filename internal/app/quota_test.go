package app_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/app"
)

// limited is a client with limits, that may use everything there is for callers.
func limited(limits string) string {
	return remoteClient("partner", "", "desk/open, gate/gate", "  limits: {"+limits+"}\n")
}

// budget declares how many tokens a turn may use.
func budget(tokens int) string {
	return fmt.Sprintf(`"https://fgentic.fmind.ai/a2a/extensions/token-budget/v1":{"maxTokens":%d}`, tokens)
}

// refusedByQuota reports whether an answer is that to a caller that has no more
// of something until the day is over.
func refusedByQuota(got *reply, what string) bool {
	after, err := strconv.Atoi(got.header.Get("Retry-After"))
	return got.status == http.StatusTooManyRequests && err == nil && after > 0 && after <= 24*60*60 &&
		got.Error.Code == a2a.CodeInternal && strings.Contains(got.Error.Message, what) && string(got.ID) == "7" && len(got.Result) == 0
}

// crowd sends many messages at once, and returns how many were admitted.
func (h *house) crowd(p proof, n int) (admitted int) {
	h.Helper()
	web := h.web(p)
	answers := make(chan *reply, n)
	var senders sync.WaitGroup
	for range n {
		req := h.request(h.Context(), p, "/", a2a.MethodSendMessage, said("hello"))
		senders.Go(func() {
			got, err := exchange(web, req)
			if err != nil {
				got = &reply{body: err.Error()}
			}
			answers <- got
		})
	}
	senders.Wait()
	close(answers)
	for got := range answers {
		switch {
		case got.status == 200 && got.task().Status.State == a2a.TaskStateCompleted:
			admitted++
		case !refusedByQuota(got, "tasks per day"):
			h.Errorf("%d %v %s", got.status, got.header, got.body)
		}
	}
	return admitted
}

// TestTasksOfADay admits as many as there may be, whoever comes at once and
// whatever happens to the server: REQ-GEN-10 for the day.
func TestTasksOfADay(t *testing.T) {
	h := build(t, limited("tasksPerDay: 10"))
	p := bearer(h.key("partner").Key)
	first := said("the first")
	begun := h.call(p, "/", a2a.MethodSendMessage, first)
	if got := h.crowd(p, 64); got != 9 {
		t.Errorf("%d of 64 at once were admitted beside the first, want 9", got)
	}
	joins := func(h *house) {
		t.Helper()
		got := h.call(p, "/", a2a.MethodSendMessage, first)
		if got.status != 200 || got.task().ID != begun.task().ID {
			t.Errorf("the first message again: %d %s, want task %s", got.status, got.body, begun.task().ID)
		}
	}
	joins(h)

	after := move(t, h.crash(), app.Options{})
	if diff := cmp.Diff(map[string]int64{"partner quota_exceeded": 55}, h.refusals(a2a.MethodSendMessage)); diff != "" {
		t.Errorf("the audit has (-want +got):\n%s", diff)
	}
	if got := after.crowd(p, 64); got != 0 {
		t.Errorf("after a crash %d more were admitted", got)
	}
	joins(after)
	after.apply(limited("tasksPerDay: 15"))
	if got := after.crowd(p, 64); got != 5 {
		t.Errorf("with 5 more allowed %d were admitted", got)
	}
}

// TestFailedTasksAreGivenBack counts what was of use.
func TestFailedTasksAreGivenBack(t *testing.T) {
	h := build(t, limited("tasksPerDay: 2"))
	p := bearer(h.key("partner").Key)
	for range 4 {
		if got := h.call(p, "/agents/gate", a2a.MethodSendMessage, said("fail")); got.task().Status.State != a2a.TaskStateFailed {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := h.crowd(p, 8); got != 2 {
		t.Errorf("%d were admitted, want 2", got)
	}
}

// TestTokensOfADay sets aside what a message may use, and counts what it has used
// where that is known.
func TestTokensOfADay(t *testing.T) {
	h := build(t, limited("tokensPerDay: 1000"))
	p := bearer(h.key("partner").Key)
	send := func(path, text string, tokens int) *reply {
		t.Helper()
		return h.call(p, path, a2a.MethodSendMessage, said(text, budget(tokens)))
	}
	for _, step := range []struct {
		path, text string
		tokens     int
		fits       bool
	}{
		{"/agents/gate", "tokens", 1001, false},
		{"/agents/gate", "tokens", 1000, true}, // and uses 100
		{"/agents/gate", "fail", 900, true},    // and uses none
		{"/", "hello", 901, false},
		{"/", "hello", 500, true}, // and does not say how many it uses
		{"/", "hello", 401, false},
		{"/", "hello", 400, true},
		{"/", "hello", 1, false},
	} {
		got := send(step.path, step.text, step.tokens)
		if step.fits && got.status != 200 || !step.fits && !refusedByQuota(got, "tokens per day") {
			t.Errorf("%d for %s: %d %s, want it to fit: %v", step.tokens, step.text, got.status, got.body, step.fits)
		}
	}
	if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("without a budget: %d %s", got.status, got.body)
	}
}

// TestTasksAtOnce holds over a restart, after which what was under way goes on.
func TestTasksAtOnce(t *testing.T) {
	h := build(t, limited("concurrentTasks: 1, queuedTasks: 1"))
	p := bearer(h.key("partner").Key)
	send := func(h *house, text string) *reply {
		h.Helper()
		return h.call(p, "/agents/gate", a2a.MethodSendMessage, atOnce(said(text)))
	}
	full := func(h *house) {
		t.Helper()
		got := send(h, "three")
		if after, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != 429 || err != nil || after < 1 || got.Error.Code != a2a.CodeInternal {
			t.Errorf("the third: %d %v %s", got.status, got.header, got.body)
		}
	}
	one, two := send(h, "one"), send(h, "two")
	if one.status != 200 || two.status != 200 {
		t.Fatalf("%s %s", one.body, two.body)
	}
	if text := h.gate.wait(t); text != "one" {
		t.Errorf("%q has begun", text)
	}
	full(h)

	after := move(t, h.crash(), app.Options{})
	text := after.gate.wait(t)
	full(after)
	after.gate.release(text)
	if next := after.gate.wait(t); next == text {
		t.Errorf("%q has begun again", text)
	}
	await(t, func() bool { return send(after, "three").status == 200 })
	full(after)
}
