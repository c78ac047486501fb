package task_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

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
