package app_test

import (
	"context"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/app"
)

// parrot answers at once, without a task.
type parrot struct{ agent.Func }

func (parrot) Respond(_ context.Context, turn agent.Turn) (*a2a.Message, error) {
	return a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(turn.Message.Text())), nil
}

// TestDirectRepliesCount counts an answer without a task like one with a task.
func TestDirectRepliesCount(t *testing.T) {
	cfg := settings(t)
	h := move(t, cfg, app.Options{Extra: []app.Published{{
		Agent: "parrot", Answer: parrot{},
		Skill: a2a.AgentSkill{ID: "say", Name: "say", Description: "Says it again.", Tags: []string{"test"}},
	}}})
	h.apply(furniture,
		"{kind: Agent, name: parrot, spec: {card: {description: D.}, skills: [{id: say, configuration: echo, description: D.}]}}",
		remoteClient("partner", "", "parrot/say", "  limits: {tasksPerDay: 1}\n"))
	p := bearer(h.key("partner").Key)
	first := h.call(p, "/agents/parrot", a2a.MethodSendMessage, said("hello"))
	var answer struct {
		Message struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"message"`
	}
	decode(t, string(first.Result), &answer)
	if first.status != 200 || len(answer.Message.Parts) != 1 || answer.Message.Parts[0].Text != "hello" {
		t.Errorf("the first: %d %s", first.status, first.body)
	}
	if got := h.call(p, "/agents/parrot", a2a.MethodSendMessage, said("hello")); !refusedByQuota(got, "tasks per day") {
		t.Errorf("the second: %d %s", got.status, got.body)
	}
	done, refused := h.evidence(a2a.MethodSendMessage, "done", 1), h.evidence(a2a.MethodSendMessage, "refused", 1)
	if len(done) != 1 || done[0].Who != "partner" || done[0].Agent != "parrot" || done[0].KeyID == "" || done[0].TaskID != "" {
		t.Errorf("the audit has %+v", done)
	}
	if len(refused) != 1 || refused[0].Reason != "quota_exceeded" || refused[0].Agent != "parrot" {
		t.Errorf("the audit has %+v", refused)
	}
	after := move(t, h.crash(), app.Options{}) // and it is not counted in vain, nor forgotten
	after.apply("{kind: RemoteClient, name: partner, spec: {enabled: true, skills: [desk/open], limits: {tasksPerDay: 2}}}")
	if got := after.crowd(p, 4); got != 1 {
		t.Errorf("with one more allowed %d were admitted", got)
	}
}
