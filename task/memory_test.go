package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/task"
)

// rememberer tells what it may read of the past.
var rememberer = agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	earlier, err := turn.Memory.Earlier(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	references, err := turn.Memory.References(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	var said []string
	for _, task := range earlier {
		said = append(said, task.History[0].Text())
	}
	for _, task := range references {
		said = append(said, "ref "+task.History[0].Text())
	}
	return agent.Completed(), out.Artifact(ctx, text("["+strings.Join(said, ", ")+"]"), agent.Chunk{Last: true})
})

// TestWhatATurnSeesOfThePast is REQ-CTX-03, REQ-CTX-07, REQ-CTX-14, REQ-CTX-15 and
// REQ-SCOPE-09.
func TestWhatATurnSeesOfThePast(t *testing.T) {
	r := start(t, agents{"s": rememberer}, setup{Config: task.Config{EarlierTasks: 3}})
	in := func(id string, contextID a2a.ContextID, references ...a2a.TaskID) *a2a.Message {
		m := userMessage(id, id)
		m.ContextID, m.ReferenceTaskIDs = contextID, references
		return m
	}
	said := func(got a2a.Task) string { return got.Artifacts[0].Text() }

	first := r.settle(t, clientA, in("one", "c-1"))
	if first.ContextID != "c-1" || said(first) != "[]" {
		t.Errorf("a context that a caller brings: %s %s", first.ContextID, said(first))
	}
	r.settle(t, clientA, in("two", "c-1"))
	other := r.settle(t, clientA, in("other", "c-2"))
	foreign := r.settle(t, clientB, in("foreign", "c-1"))
	if said(foreign) != "[]" {
		t.Errorf("another caller's context was read: %s", said(foreign))
	}
	got := r.settle(t, clientA, in("three", "c-1", other.ID, foreign.ID, "nope"))
	if diff := cmp.Diff("[one, two, ref other]", said(got)); diff != "" {
		t.Errorf("the third turn saw (-want +got):\n%s", diff)
	}
	for i := range 2 {
		r.settle(t, clientA, in(fmt.Sprint("more", i), "c-1"))
	}
	if got := said(r.settle(t, clientA, in("last", "c-1"))); got != "[three, more0, more1]" {
		t.Errorf("the newest three are %s", got)
	}
}

// direct answers without a task, except when told otherwise.
type direct struct{ echo }

func (direct) Respond(ctx context.Context, turn agent.Turn) (*a2a.Message, error) {
	history, err := turn.Memory.History(ctx)
	if err != nil || len(history) != 1 {
		return nil, errors.New("the history of a message without a task is the message")
	}
	switch turn.Message.Text() {
	case "task":
		return nil, nil
	case "refuse":
		return nil, a2a.Errorf(a2a.CodeUnsupportedOperation, "not this")
	}
	return &a2a.Message{Role: a2a.RoleUser, TaskID: "made up", Parts: []a2a.Part{a2a.TextPart("pong")}}, nil
}

// TestAMessageInsteadOfATask is REQ-SEND-12, REQ-MOD-02, REQ-MOD-03, REQ-MOD-04
// and PVP-28.
func TestAMessageInsteadOfATask(t *testing.T) {
	r := start(t, agents{"s": direct{}}, setup{})
	ask := func(message *a2a.Message) (task.Reply, error) {
		return r.Send(t.Context(), clientA, task.Request{Message: message, Skill: "s"})
	}
	reply, err := ask(userMessage("m-1", "ping"))
	if err != nil || reply.Task != nil || reply.Message.Text() != "pong" {
		t.Fatalf("Send() = %+v, %v", reply, err)
	}
	if m := reply.Message; m.Role != a2a.RoleAgent || m.TaskID != "" || m.ContextID == "" || m.MessageID == "" {
		t.Errorf("the message lacks what every message of ours has: %+v", m)
	}
	var refused *a2a.Error
	if _, err := ask(userMessage("m-2", "refuse")); !errors.As(err, &refused) || refused.Code != a2a.CodeUnsupportedOperation {
		t.Errorf("an agent's own refusal arrives as %v", err)
	}
	if page, _, _ := r.List(t.Context(), clientA, task.ListRequest{Size: 1}); page.Total != 0 {
		t.Errorf("%d tasks were made", page.Total)
	}
	first, err := ask(userMessage("m-3", "task"))
	if err != nil || first.Task == nil {
		t.Fatalf("Send() = %+v, %v", first, err)
	}
	again, err := ask(userMessage("m-3", "task"))
	if err != nil || again.Task == nil || again.Task.ID != first.Task.ID {
		t.Errorf("a repeat made %+v, %v", again, err)
	}
}

// curious answers without a task where it can, and asks once there is one.
type curious struct{ direct }

func (curious) Run(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
	return agent.AskInput("which?"), nil
}

// TestATaskIsAnsweredWithATask is REQ-LIFE-09: what is said to a task is never
// answered beside it.
func TestATaskIsAnsweredWithATask(t *testing.T) {
	r := start(t, agents{"s": curious{}}, setup{})
	asked := r.settle(t, clientA, userMessage("m-1", "task"))
	next := userMessage("m-2", "ping") // which alone is answered with a message
	next.TaskID = asked.ID
	if got := r.settle(t, clientA, next); got.ID != asked.ID || len(got.History) != 3 {
		t.Errorf("the answer is task %s with %d messages, want %s with 3", got.ID, len(got.History), asked.ID)
	}
}
