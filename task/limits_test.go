package task_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/task"
)

func TestACallerHasItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan struct{})}
		running := map[string]int{}
		most := map[string]int{}
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
			who := turn.Message.Text()
			running[who]++ // one goroutine at a time: each waits at the gate
			most[who] = max(most[who], running[who])
			defer func() { running[who]-- }()
			return g.Run(ctx, turn, out)
		})}, setup{Config: task.Config{Workers: 5, PerCaller: 2, Queue: 3}})
		var all []task.Record
		for i := range 5 {
			all = append(all, r.send(t, clientA, userMessage(fmt.Sprint("m-", i), "a")))
			synctest.Wait()
		}
		if _, err := r.Send(t.Context(), clientA, task.Request{Message: userMessage("m-6", "a"), Skill: "s"}); !errors.Is(err, task.ErrBusy) {
			t.Errorf("a sixth message: %v, want ErrBusy", err)
		}
		all = append(all, r.send(t, clientB, userMessage("m-1", "b")))
		synctest.Wait()
		if running["a"] != 2 || running["b"] != 1 {
			t.Errorf("running %v, want two of a and one of b", running)
		}
		for range all {
			g.open <- struct{}{}
			synctest.Wait()
		}
		for _, rec := range all {
			if got := r.read(t, rec.Owner, rec.ID); got.Status.State != a2a.TaskStateCompleted {
				t.Errorf("%s of %s is %s", rec.ID, rec.Owner.Caller, got.Status.State)
			}
		}
		if most["a"] != 2 {
			t.Errorf("at most %d runs of a at once, want 2", most["a"])
		}
		page, _, err := r.List(t.Context(), clientA, task.ListRequest{Size: 100})
		if err != nil || page.Total != 5 {
			t.Errorf("%d tasks (%v): the refused message left one behind", page.Total, err)
		}
		// A refused message is not remembered: it may be sent again.
		r.send(t, clientA, userMessage("m-6", "a"))
		g.open <- struct{}{}
		synctest.Wait()
	})
}

// TestAnAnswerIsNotWaitedForForever ends what nobody answers, over a restart
// too, and leaves alone what was answered in time.
func TestAnAnswerIsNotWaitedForForever(t *testing.T) {
	for _, state := range []a2a.TaskState{a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired} {
		t.Run(short(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asks := agents{"s": agent.Func(func(_ context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
					if turn.Number > 1 {
						return agent.Completed(), nil
					}
					return agent.Outcome{State: state}, nil
				})}
				dir := t.TempDir()
				r := start(t, asks, setup{dir: dir, Config: task.Config{InputWait: 24 * time.Minute}})
				began := time.Now()
				silent := r.send(t, clientA, userMessage("m-1", "x"))
				answered := r.settle(t, clientA, userMessage("m-2", "x"))
				<-time.After(12 * time.Minute)
				r.stop()
				r = start(t, asks, setup{dir: dir, Config: task.Config{InputWait: 24 * time.Minute}})
				<-time.After(11 * time.Minute)
				next := userMessage("m-3", "here it is")
				next.TaskID = answered.ID
				if got := r.settle(t, clientA, next); got.Status.State != a2a.TaskStateCompleted {
					t.Errorf("answered in time: %s", got.Status.State)
				}
				if got := r.read(t, clientA, silent.ID); got.Status.State != state {
					t.Errorf("after 23 minutes: %s", got.Status.State)
				}
				for seen := range follow(t, r.Follow(silent)) {
					_ = seen // until the task has ended
				}
				got := r.read(t, clientA, silent.ID)
				if after := time.Since(began).Round(time.Minute); got.Status.State != a2a.TaskStateFailed || after != 24*time.Minute {
					t.Errorf("ended %s after %v, want failed after 24 minutes", got.Status.State, after)
				}
				if text := got.Status.Message.Text(); text != "No answer came within 24m0s." && text != "No answer came within 24m5s." {
					t.Errorf("reason %q", text)
				}
			})
		})
	}
}
