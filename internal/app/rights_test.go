package app_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
)

// TestRights is what a known caller may not do. REQ-SEC-09: it is HTTP 403,
// unless that would tell that something is there; REQ-SEC-10: the answer says
// what is missing; REQ-SEC-13: skills and operations are allowed one by one;
// REQ-SEC-14: nothing that answers is asked for what is not allowed.
func TestRights(t *testing.T) {
	h := build(t,
		remoteClient("reader", "", "desk/open", ""),
		remoteClient("sender", "", "gate/gate", "  operations: [SendMessage, GetTask]\n"),
	)
	reader, sender := bearer(h.key("reader").Key), bearer(h.key("sender").Key)
	sent := h.call(sender, "/agents/gate", a2a.MethodSendMessage, atOnce(said("of the sender")))
	h.gate.wait(t)
	ofSender := string(sent.task().ID)
	for name, test := range map[string]struct {
		by           proof
		path, method string
		params       string
		status       int
		code         a2a.Code
		words        string
		reason       string // in the audit
	}{
		"an operation": {
			sender, "/agents/gate", a2a.MethodCancelTask, fmt.Sprintf(`{"id":%q}`, ofSender),
			403, a2a.CodeInvalidRequest, "this client may not call CancelTask", "operation_not_allowed",
		},
		"an agent": {
			reader, "/agents/gate", a2a.MethodSendMessage, said("not allowed"),
			403, a2a.CodeInvalidRequest, "this client may use no skill of this agent", "skill_not_allowed",
		},
		"a stream of an agent": {
			reader, "/agents/gate", a2a.MethodSendStreamingMessage, said("not allowed"),
			403, a2a.CodeInvalidRequest, "this client may use no skill of this agent", "skill_not_allowed",
		},
		"the extended card of an agent": {
			sender, "/", a2a.MethodGetExtendedAgentCard, `{}`,
			403, a2a.CodeInvalidRequest, "this client may not call GetExtendedAgentCard", "operation_not_allowed",
		},
		"a task of somebody else's": {
			reader, "/agents/gate", a2a.MethodGetTask, fmt.Sprintf(`{"id":%q}`, ofSender),
			200, a2a.CodeTaskNotFound, "task " + ofSender + " is not known here", "",
		},
		"to cancel one": {
			reader, "/agents/gate", a2a.MethodCancelTask, fmt.Sprintf(`{"id":%q}`, ofSender),
			200, a2a.CodeTaskNotFound, "task " + ofSender + " is not known here", "",
		},
		"to continue one": {
			reader, "/agents/gate", a2a.MethodSendMessage, strings.Replace(said("more"), `"role"`, fmt.Sprintf(`"taskId":%q,"role"`, ofSender), 1),
			200, a2a.CodeTaskNotFound, "task " + ofSender + " is not known here", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.call(test.by, test.path, test.method, test.params)
			if got.status != test.status || got.Error.Code != test.code || got.Error.Message != test.words || got.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%d %s\nwant %d, %d %s", got.status, got.body, test.status, test.code, test.words)
			}
			if test.reason == "" {
				return
			}
			entries := h.evidence(test.method, "refused", 1)
			if last := entries[len(entries)-1]; last.Reason != test.reason || last.Who == "" || last.KeyID == "" {
				t.Errorf("the audit has %+v, want %s", last, test.reason)
			}
		})
	}
	if n := len(h.gate.entered); n != 0 {
		t.Errorf("the agent was asked %d times", n)
	}
	got := h.call(sender, "/agents/gate", a2a.MethodGetTask, fmt.Sprintf(`{"id":%q}`, ofSender))
	if state := got.task().Status.State; state == "" || state.Terminal() {
		t.Errorf("the task is %s", got.body)
	}
}

// TestASkillThatIsNotAllowedIsNotThere answers as for a skill that does not
// exist, and names those that are allowed.
func TestASkillThatIsNotAllowedIsNotThere(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""), remoteClient("nobody", "", "", ""))
	p := bearer(h.key("partner").Key)
	answer := func(skill string) string {
		got := h.call(p, "/", a2a.MethodSendMessage, said("hello", asking(skill)))
		return strings.ReplaceAll(got.body, skill, "SKILL")
	}
	hidden, missing := answer("vault-door"), answer("no-such-one")
	if hidden != missing || !strings.Contains(hidden, "is not one of: open") || strings.Contains(hidden, "back-office") {
		t.Errorf("a skill that is not allowed:\n%s\none that is not there:\n%s", hidden, missing)
	}
	got := h.call(bearer(h.key("nobody").Key), "/", a2a.MethodSendMessage, said("hello", asking("vault-door")))
	if got.status != 403 || strings.Contains(got.body, "vault-door") || strings.Contains(got.body, "open") {
		t.Errorf("to who may use none: %d %s", got.status, got.body)
	}
}

// TestRates is REQ-GEN-10: every operation counts, and whoever asks too often is
// told when to come back; REQ-GEN-11: each client has its own limits.
func TestRates(t *testing.T) {
	h := build(t,
		remoteClient("slow", "", "desk/open", "  limits: {requestsPerMinute: 3}\n"),
		remoteClient("fast", "", "desk/open", ""),
	)
	slow, fast := bearer(h.key("slow").Key), bearer(h.key("fast").Key)
	for range 3 {
		if got := h.call(slow, "/", a2a.MethodListTasks, `{}`); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, method := range a2a.Methods() {
		got := h.call(slow, "/", method, said("hello"))
		after, err := strconv.Atoi(got.header.Get("Retry-After"))
		if got.status != 429 || err != nil || after < 1 || after > 20 || got.Error.Code != a2a.CodeInternal {
			t.Errorf("%s: %d, Retry-After %q, %s", method, got.status, got.header.Get("Retry-After"), got.body)
		}
		if got := h.call(fast, "/", method, `{}`); got.status == 429 {
			t.Errorf("%s of somebody else: %s", method, got.body)
		}
	}
	if diff := cmp.Diff(map[string]int64{"slow requests_too_many": 11}, h.refusals("authenticate")); diff != "" {
		t.Errorf("the audit has (-want +got):\n%s", diff)
	}
}
