package task_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/task"
)

// counted counts how often a task's turn was entered.
type counted struct {
	echo
	entered *atomic.Int32
}

func (c counted) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	c.entered.Add(1)
	if turn.Message.Text() == "ask" {
		return agent.AskInput("?"), nil
	}
	return c.echo.Run(ctx, turn, out)
}

// TestSafeRetry is F14 in the engine, and REQ-SEND-15: the same message joins its task, changed
// content is refused, callers and agents are independent, over a restart too.
func TestSafeRetry(t *testing.T) {
	dir := t.TempDir()
	var entered atomic.Int32
	published := agents{"s": counted{entered: &entered}}
	r := start(t, published, setup{dir: dir})

	const together = 16
	ids := make(chan a2a.TaskID, together)
	var all sync.WaitGroup
	for range together {
		all.Go(func() { ids <- r.send(t, clientA, userMessage("m-1", "same")).ID })
	}
	all.Wait()
	first := <-ids
	for range together - 1 {
		if id := <-ids; id != first {
			t.Fatalf("one message made the tasks %s and %s", first, id)
		}
	}
	if _, err := r.Wait(t.Context(), r.send(t, clientA, userMessage("m-1", "same"))); err != nil {
		t.Fatal(err)
	}
	if got := entered.Load(); got != 1 {
		t.Errorf("the agent was entered %d times for one message", got)
	}

	check := func(t *testing.T, r *rig) {
		t.Helper()
		if got := r.settle(t, clientA, userMessage("m-1", "same")); got.ID != first || got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("a repeat names %s %s, want %s completed", got.ID, got.Status.State, first)
		}
		metadata := userMessage("m-1", "same")
		metadata.Metadata = a2a.Struct(`{"a":1}`)
		for _, changed := range []*a2a.Message{userMessage("m-1", "other"), metadata} {
			if _, err := r.Send(t.Context(), clientA, task.Request{Message: changed, Skill: "s"}); !errors.Is(err, task.ErrMessageChanged) {
				t.Errorf("changed content under one id: %v, want ErrMessageChanged", err)
			}
		}
		if got := entered.Load(); got != 1 {
			t.Errorf("the agent was entered %d times", got)
		}
	}
	check(t, r)
	r.stop()
	r = start(t, published, setup{dir: dir})
	check(t, r)

	if got := r.settle(t, clientB, userMessage("m-1", "other")); got.ID == first {
		t.Error("another caller's message joined")
	}
	other := task.Owner{Agent: "other", Caller: "client-a"}
	if got := r.settle(t, other, userMessage("m-1", "other")); got.ID == first {
		t.Error("another agent's message joined")
	}
}

func TestTheContentOfAMessageIsComparedNotItsSpelling(t *testing.T) {
	r := start(t, agents{"s": echo{}}, setup{})
	with := func(metadata string) *a2a.Message {
		m := userMessage("m-1", "x")
		m.Metadata = a2a.Struct(metadata)
		return m
	}
	first := r.settle(t, clientA, with(`{"a":1,"b":[1.0]}`))
	if got := r.settle(t, clientA, with(`{"b":[1],"a":1e0}`)); got.ID != first.ID {
		t.Error("the same content in another spelling made another task")
	}
}

// TestARepeatedAnswerJoins holds the same for a message that continues a task.
func TestARepeatedAnswerJoins(t *testing.T) {
	var entered atomic.Int32
	r := start(t, agents{"s": counted{entered: &entered}}, setup{})
	asked := r.settle(t, clientA, userMessage("m-1", "ask"))
	answer := userMessage("m-2", "answer")
	answer.TaskID = asked.ID
	done := r.settle(t, clientA, answer)
	again := r.settle(t, clientA, answer)
	if done.Status.State != a2a.TaskStateCompleted || again.ID != done.ID || len(again.History) != len(done.History) || entered.Load() != 2 {
		t.Errorf("%s, then %s with %d messages; entered %d times", done.Status.State, again.Status.State, len(again.History), entered.Load())
	}
	changed := userMessage("m-2", "another answer")
	changed.TaskID = asked.ID
	if _, err := r.Send(t.Context(), clientA, task.Request{Message: changed}); !errors.Is(err, task.ErrMessageChanged) {
		t.Errorf("changed answer: %v, want ErrMessageChanged", err)
	}
}

func TestRepeatsMakeTasksOfTheirOwnWhereTheyAreAllowed(t *testing.T) {
	r := start(t, agents{"s": echo{}}, setup{Config: task.Config{Repeats: true}})
	first, second := r.settle(t, clientA, userMessage("m-1", "x")), r.settle(t, clientA, userMessage("m-1", "y"))
	if first.ID == second.ID {
		t.Error("two messages with one id joined")
	}
}

// TestMessagesThatAreRefused leaves nothing behind. (REQ-LIFE-06, REQ-SEND-08,
// REQ-SEND-10, REQ-CTX-12, REQ-ERR-08)
func TestMessagesThatAreRefused(t *testing.T) {
	r := start(t, agents{"s": counted{entered: new(atomic.Int32)}}, setup{})
	asked := r.settle(t, clientA, userMessage("m-1", "ask"))
	done := r.settle(t, clientA, userMessage("m-2", "x"))
	to := func(id a2a.TaskID, contextID a2a.ContextID) *a2a.Message {
		m := userMessage("m-3", "x")
		m.TaskID, m.ContextID = id, contextID
		return m
	}
	for _, test := range []struct {
		name    string
		owner   task.Owner
		message *a2a.Message
		skill   string
		want    error
	}{
		{"unknown task", clientA, to("nope", ""), "s", task.ErrNotFound},
		{"another caller's task", clientB, to(asked.ID, ""), "s", task.ErrNotFound},
		{"another agent's task", task.Owner{Agent: "other", Caller: "client-a"}, to(asked.ID, ""), "s", task.ErrNotFound},
		{"another context (F04)", clientA, to(asked.ID, "c-2"), "s", task.ErrContextMismatch},
		{"ended task (F05)", clientA, to(done.ID, ""), "s", task.ErrEnded},
		{"no such skill", clientA, userMessage("m-3", "x"), "nope", task.ErrNoSkill},
	} {
		if _, err := r.Send(t.Context(), test.owner, task.Request{Message: test.message, Skill: test.skill}); !errors.Is(err, test.want) {
			t.Errorf("%s: error = %v, want %v", test.name, err, test.want)
		}
	}
	page, _, err := r.List(t.Context(), clientA, task.ListRequest{Size: 10})
	if err != nil || page.Total != 2 {
		t.Errorf("%d tasks after refused messages (%v), want 2", page.Total, err)
	}
	if got := r.read(t, clientA, asked.ID); len(got.History) != 1 {
		t.Errorf("a refused message entered the history: %+v", got.History)
	}
}
