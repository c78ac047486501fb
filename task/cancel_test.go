package task_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// REQ-CANC-01, REQ-CANC-07
func TestCancelEndsAtOnceAndReachesTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 1)
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			<-ctx.Done()
			told <- ctx.Err()
			return agent.Completed(), out.Artifact(context.Background(), text("late"), agent.Chunk{Last: true})
		})}, setup{})
		rec := r.send(t, clientA, userMessage("m-1", "x"))
		feed := r.Follow(rec)
		synctest.Wait()
		canceled, err := r.Cancel(t.Context(), clientA, rec.ID)
		if err != nil || canceled.State != a2a.TaskStateCanceled {
			t.Fatalf("Cancel() = %s, %v", canceled.State, err)
		}
		<-told
		synctest.Wait()
		if seen := follow(t, feed); seen[len(seen)-1] != "CANCELED" {
			t.Errorf("readers saw %v", seen)
		}
		if got := r.read(t, clientA, rec.ID); !cmp.Equal(got, wire(t, canceled)) {
			t.Errorf("a late event changed a canceled task: %s", cmp.Diff(wire(t, canceled), got))
		}
	})
}

// TestCancelOfATaskThatIsOver is REQ-CANC-02 and REQ-CANC-04.
func TestCancelOfATaskThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": echo{}}, setup{})
		got := r.settle(t, clientA, userMessage("m-1", "x"))
		var ended *task.EndedError
		if _, err := r.Cancel(t.Context(), clientA, got.ID); !errors.As(err, &ended) || ended.State != a2a.TaskStateCompleted {
			t.Errorf("Cancel() = %v, want an EndedError that says completed", err)
		}
		if _, err := r.Cancel(t.Context(), clientB, got.ID); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("Cancel() by another caller = %v, want ErrNotFound", err)
		}
		if after := r.read(t, clientA, got.ID); !cmp.Equal(got, after) {
			t.Errorf("the task changed: %s", cmp.Diff(got, after))
		}
	})
}

func TestCancelOfAnInterruptedAndOfAQueuedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan struct{})}
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
			if turn.Message.Text() == "ask" {
				return agent.AskInput("?"), nil
			}
			return g.Run(ctx, turn, out)
		})}, setup{Config: task.Config{PerCaller: 1}})
		asked := r.settle(t, clientA, userMessage("m-1", "ask"))
		running := r.send(t, clientA, userMessage("m-2", "run"))
		queued := r.send(t, clientA, userMessage("m-3", "run"))
		synctest.Wait()
		for _, id := range []a2a.TaskID{asked.ID, queued.ID} {
			if rec, err := r.Cancel(t.Context(), clientA, id); err != nil || rec.State != a2a.TaskStateCanceled {
				t.Errorf("Cancel() = %s, %v", rec.State, err)
			}
		}
		close(g.open)
		synctest.Wait()
		if got := r.read(t, clientA, running.ID); got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the other task is %s", got.Status.State)
		}
		if got := r.read(t, clientA, queued.ID); got.Status.State != a2a.TaskStateCanceled || len(got.Artifacts) > 0 {
			t.Errorf("the canceled queued task ran: %+v", got)
		}
	})
}

// TestOneTerminalStateWins is F09 on one node, and REQ-LIFE-01: whatever arrives together, one
// end wins and never changes. (REQ-CANC-04)
func TestOneTerminalStateWins(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	outcomes := []agent.Outcome{agent.Completed(), agent.Failed("x"), agent.AskInput("?"), agent.Rejected("x")}
	r := start(t, agents{"s": agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
		for range rand.IntN(3) {
			if err := out.Artifact(ctx, text("x"), agent.Chunk{Append: true}); err != nil {
				return agent.Outcome{}, err
			}
		}
		if rand.IntN(2) == 0 {
			if err := out.Flush(ctx); err != nil {
				return agent.Outcome{}, err
			}
		}
		return outcomes[rand.IntN(len(outcomes))], nil
	})}, setup{})
	for i := range rounds {
		rec := r.send(t, clientA, userMessage(fmt.Sprint("m-", i), "x"))
		feed := r.Follow(rec)
		cancels := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := r.Cancel(context.Background(), clientA, rec.ID)
				cancels <- err
			}()
		}
		won := 0
		for range 2 {
			if err := <-cancels; err == nil {
				won++
			} else if !errors.Is(err, task.ErrEnded) {
				t.Fatalf("Cancel() = %v", err)
			}
		}
		if won > 1 {
			t.Fatal("two cancellations of one task succeeded")
		}
		seen := follow(t, feed) // ends: both cancellations are over
		ends := 0
		for _, line := range seen {
			switch line {
			case "COMPLETED", "CANCELED", "FAILED x", "REJECTED x":
				ends++
			}
		}
		end := r.read(t, clientA, rec.ID)
		if ends != 1 || (end.Status.State == a2a.TaskStateCanceled) != (won == 1) {
			t.Fatalf("%d cancellations won, readers saw %v, the task is %s", won, seen, end.Status.State)
		}
	}
}

func TestTheClaimIsFreeAfterACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan struct{})}
		r := start(t, agents{"s": g}, setup{Config: task.Config{Workers: 1}})
		first := r.send(t, clientA, userMessage("m-1", "x"))
		second := r.send(t, clientB, userMessage("m-1", "x"))
		synctest.Wait()
		if _, err := r.Cancel(t.Context(), clientA, first.ID); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		close(g.open)
		if got, err := r.Wait(t.Context(), second); err != nil || got.State != a2a.TaskStateCompleted || time.Since(began) > time.Second {
			t.Errorf("the waiting task is %s (%v) after %v", got.State, err, time.Since(began))
		}
	})
}

// TestACancelOfAnotherNodeReachesTheAgent voids the fence without telling the
// engine, as another node would.
func TestACancelOfAnotherNodeReachesTheAgent(t *testing.T) {
	for name, talks := range map[string]bool{"an agent that puts something out": true, "a silent one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := make(chan time.Time, 1)
				r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
					<-time.After(time.Second)
					if talks {
						if err := out.Artifact(ctx, text("x"), agent.Chunk{}); err != nil {
							return agent.Outcome{}, err
						}
					}
					<-ctx.Done()
					told <- time.Now()
					return agent.Outcome{}, ctx.Err()
				})}, setup{})
				rec := r.send(t, clientA, userMessage("m-1", "x"))
				<-time.After(500 * time.Millisecond)
				if _, err := r.store.Cancel(t.Context(), clientA, rec.ID, time.Now(), work.Effects{}); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				limit := 5 * time.Second // the heartbeat
				if talks {
					limit = time.Second
				}
				if took := (<-told).Sub(began); took > limit {
					t.Errorf("the agent was told after %v, want at most %v", took, limit)
				}
			})
		})
	}
}
