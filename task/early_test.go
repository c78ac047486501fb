package task_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// hooked is a store whose Create does something else.
type hooked struct {
	task.Store
	create func(ctx context.Context, created task.NewTask) (task.Accepted, error)
}

func (h hooked) Create(ctx context.Context, created task.NewTask, _ work.Effects) (task.Accepted, error) {
	if created.Admission.Early == nil { // the claimer is looking for work with all its slots
		return task.Accepted{}, task.ErrBusy
	}
	return h.create(ctx, created)
}

// sendEarly sends a message once there is room to run it at once.
func sendEarly(t *testing.T, r *rig) (task.Record, error) {
	t.Helper()
	for {
		reply, err := r.Send(t.Context(), clientA, task.Request{Message: userMessage("m", "hello"), Skill: "s"})
		switch {
		case errors.Is(err, task.ErrBusy):
			runtime.Gosched()
		case err != nil:
			return task.Record{}, err
		default:
			rec, err := r.Wait(t.Context(), *reply.Task)
			return rec, err
		}
	}
}

func completes(t *testing.T, r *rig) {
	t.Helper()
	rec, err := sendEarly(t, r)
	if err != nil {
		t.Fatal(err)
	}
	if got := wire(t, rec); got.Status.State != a2a.TaskStateCompleted || got.Artifacts[0].Text() != "hello" {
		t.Errorf("task is %s", got.Status.State)
	}
}

// noting is echo that says when it was entered.
type noting struct {
	echo
	entered chan<- a2a.TaskID
	history bool
}

func (n noting) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	n.entered <- turn.TaskID
	if n.history {
		history, err := turn.Memory.History(ctx)
		if err != nil || len(history) != 1 {
			return agent.Outcome{}, fmt.Errorf("history of %d, %w", len(history), err)
		}
	}
	return n.echo.Run(ctx, turn, out)
}

// TestARepeatableTurnBeginsEarly enters an agent while the store still holds the
// task back, and lets its output wait for the task.
func TestARepeatableTurnBeginsEarly(t *testing.T) {
	entered := make(chan a2a.TaskID, 1)
	r := start(t, agents{"s": noting{entered: entered, history: true}}, setup{wrap: func(store task.Store) task.Store {
		return hooked{store, func(ctx context.Context, created task.NewTask) (task.Accepted, error) {
			tell := created.Admission.Early
			created.Admission.Early = func(accepted task.Accepted) {
				tell(accepted)
				<-entered // nothing is durable before this returns
			}
			return store.Create(ctx, created, work.Effects{})
		}}
	}})
	completes(t, r)
}

// TestATurnThatCannotBeRepeatedIsEnteredOnceItIsDurable has the store fail after
// it told of such a turn: the agent must not be entered.
func TestATurnThatCannotBeRepeatedIsEnteredOnceItIsDurable(t *testing.T) {
	entered := make(chan a2a.TaskID, 1)
	once := agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
		entered <- turn.TaskID
		return agent.Completed(), nil
	})
	refused := errors.New("no room")
	r := start(t, agents{"s": once}, setup{wrap: func(store task.Store) task.Store {
		return hooked{store, func(_ context.Context, created task.NewTask) (task.Accepted, error) {
			created.Admission.Early(task.Accepted{Record: created.Record, Work: &work.Item{Fence: work.Fence{
				Key: work.Key{Kind: work.KindRun, ID: string(created.Record.ID)}, Epoch: -1,
			}}})
			return task.Accepted{}, refused
		}}
	}})
	if _, err := sendEarly(t, r); !errors.Is(err, refused) {
		t.Errorf("Send() = %v", err)
	}
	r.stop() // waits for whatever was begun
	if len(entered) > 0 {
		t.Error("the agent was entered")
	}
}

// TestAnEarlyTurnWhoseTaskWasNotStored changes nothing, and gives its slot back.
func TestAnEarlyTurnWhoseTaskWasNotStored(t *testing.T) {
	entered := make(chan a2a.TaskID, 10)
	refused := errors.New("no room")
	fails := true
	r := start(t, agents{"s": noting{entered: entered}}, setup{Config: task.Config{Workers: 1}, wrap: func(store task.Store) task.Store {
		return hooked{store, func(ctx context.Context, created task.NewTask) (task.Accepted, error) {
			if !fails {
				return store.Create(ctx, created, work.Effects{})
			}
			created.Admission.Early(task.Accepted{Record: created.Record, Work: &work.Item{Fence: work.Fence{
				Key: work.Key{Kind: work.KindRun, ID: string(created.Record.ID)}, Epoch: -1,
			}}})
			<-entered
			return task.Accepted{}, refused
		}}
	}})
	if _, err := sendEarly(t, r); !errors.Is(err, refused) {
		t.Errorf("Send() = %v", err)
	}
	if page, err := r.store.List(t.Context(), clientA, task.Query{Limit: 10}); err != nil || page.Total != 0 {
		t.Errorf("%d tasks are stored, %v", page.Total, err)
	}
	fails = false
	completes(t, r) // the message again
}

// TestATaskThatWasStoredAtTheSecondTry runs under the fence that holds.
func TestATaskThatWasStoredAtTheSecondTry(t *testing.T) {
	entered := make(chan a2a.TaskID, 10)
	r := start(t, agents{"s": noting{entered: entered}}, setup{wrap: func(store task.Store) task.Store {
		return hooked{store, func(ctx context.Context, created task.NewTask) (task.Accepted, error) {
			created.Admission.Early(task.Accepted{Record: created.Record, Work: &work.Item{Fence: work.Fence{
				Key: work.Key{Kind: work.KindRun, ID: string(created.Record.ID)}, Epoch: -1,
			}}})
			return store.Create(ctx, created, work.Effects{})
		}}
	}})
	completes(t, r)
	r.stop()
	if n := len(entered); n != 2 {
		t.Errorf("the agent was entered %d times, want once under each fence", n)
	}
}

// continued is a store whose Continue does something else.
type continued struct {
	task.Store
	with func(ctx context.Context, next task.Continuation) (task.Accepted, error)
}

func (c continued) Continue(ctx context.Context, next task.Continuation, _ work.Effects) (task.Accepted, error) {
	if next.Admission.Early == nil {
		return task.Accepted{}, task.ErrBusy
	}
	return c.with(ctx, next)
}

// TestAContinuationThatCannotBeRepeated tells of such a turn before it is
// durable: the agent is entered once it is, and not at all if it never is.
func TestAContinuationThatCannotBeRepeated(t *testing.T) {
	refused := errors.New("no room")
	for _, stored := range []bool{true, false} {
		t.Run(fmt.Sprintf("stored=%v", stored), func(t *testing.T) {
			entered := make(chan int, 10)
			asks := agent.Func(func(_ context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
				entered <- turn.Number
				if turn.Number == 1 {
					return agent.AskInput("?"), nil
				}
				return agent.Completed(), nil
			})
			r := start(t, agents{"s": asks}, setup{wrap: func(store task.Store) task.Store {
				return continued{store, func(ctx context.Context, next task.Continuation) (task.Accepted, error) {
					rec, err := store.Task(ctx, clientA, next.TaskID)
					if err != nil {
						return task.Accepted{}, err
					}
					record, _, err := rec.Continued(next.Input)
					if err != nil {
						return task.Accepted{}, err
					}
					next.Admission.Early(task.Accepted{Record: record, Work: &work.Item{Attempt: 1, Fence: work.Fence{
						Key: work.Key{Kind: work.KindRun, ID: string(record.ID)}, Epoch: -1,
					}}})
					if !stored {
						return task.Accepted{}, refused
					}
					return store.Continue(ctx, next, work.Effects{})
				}}
			}})
			asked := r.settle(t, clientA, userMessage("m", "hello"))
			<-entered
			answer := userMessage("m-2", "answer")
			answer.TaskID = asked.ID
			var reply task.Reply
			err := task.ErrBusy
			for errors.Is(err, task.ErrBusy) {
				runtime.Gosched()
				reply, err = r.Send(t.Context(), clientA, task.Request{Message: answer})
			}
			if !stored {
				if !errors.Is(err, refused) {
					t.Errorf("Send() = %v", err)
				}
				r.stop() // waits for whatever was begun
				if len(entered) > 0 {
					t.Error("the agent was entered")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rec, err := r.Wait(t.Context(), *reply.Task)
			if err != nil || rec.State != a2a.TaskStateCompleted || len(entered) != 1 {
				t.Errorf("task is %s, entered %d times, %v; want completed and once", rec.State, len(entered), err)
			}
		})
	}
}
