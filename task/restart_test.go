package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// halfway puts something out, then works until it may finish or is stopped.
type halfway struct {
	repeatable bool
	finish     chan struct{}
	attempts   *[]int
}

func (h halfway) Repeatable() bool { return h.repeatable }

func (h halfway) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	*h.attempts = append(*h.attempts, turn.Attempt)
	if err := out.Artifact(ctx, text("half"), agent.Chunk{}); err != nil {
		return agent.Outcome{}, err
	}
	select {
	case <-h.finish:
		return agent.Completed(), out.Artifact(ctx, text(" done"), agent.Chunk{Append: true, Last: true})
	case <-ctx.Done():
		return agent.Outcome{}, ctx.Err()
	}
}

// TestAfterAStop restarts in the middle of a turn: it is entered again if the
// agent says that it may be, and ends with a reason if not. What readers saw is
// still there.
func TestAfterAStop(t *testing.T) {
	for _, test := range []struct {
		repeatable bool
		state      a2a.TaskState
		text       string
		attempts   []int
	}{
		{true, a2a.TaskStateCompleted, "half done", []int{1, 2}},
		{false, a2a.TaskStateFailed, "half", []int{1}},
	} {
		t.Run(fmt.Sprint("repeatable ", test.repeatable), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts []int
				h := halfway{test.repeatable, make(chan struct{}), &attempts}
				dir := t.TempDir()
				r := start(t, agents{"s": h}, setup{dir: dir, work: work.Config{Drain: -1}})
				rec := r.send(t, clientA, userMessage("m-1", "x"))
				<-time.After(time.Second)
				seen := r.read(t, clientA, rec.ID)
				r.stop()

				close(h.finish)
				r = start(t, agents{"s": h}, setup{dir: dir})
				after, err := r.Wait(t.Context(), rec)
				if err != nil {
					t.Fatal(err)
				}
				got := wire(t, after)
				if got.Status.State != test.state || len(got.Artifacts) != 1 || got.Artifacts[0].Text() != test.text {
					t.Errorf("after the restart: %s %+v, want %s %q", got.Status.State, got.Artifacts, test.state, test.text)
				}
				if test.state == a2a.TaskStateFailed && !strings.Contains(got.Status.Message.Text(), "restart") {
					t.Errorf("reason %q does not tell of the restart", got.Status.Message.Text())
				}
				if len(seen.Artifacts) != 1 || seen.Artifacts[0].Text() != "half" {
					t.Errorf("before the stop: %+v", seen.Artifacts)
				}
				if diff := cmp.Diff(test.attempts, attempts); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAStopLetsRunsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		slow := agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			<-time.After(20 * time.Second)
			return agent.Completed(), out.Artifact(ctx, text("in time"), agent.Chunk{Last: true})
		})
		r := start(t, agents{"s": slow}, setup{dir: dir, Config: task.Config{PerCaller: 1}})
		running := r.send(t, clientA, userMessage("m-1", "x"))
		queued := r.send(t, clientA, userMessage("m-2", "x"))
		began := time.Now()
		stopped := make(chan struct{})
		go func() {
			r.stop()
			close(stopped)
		}()
		synctest.Wait()
		if _, err := r.Send(t.Context(), clientA, task.Request{Message: userMessage("m-3", "x"), Skill: "s"}); !errors.Is(err, task.ErrStopping) {
			t.Errorf("Send() while stopping = %v, want ErrStopping", err)
		}
		<-stopped
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("the stop took %v, want the 20 s that the run needed", took)
		}
		r = start(t, agents{"s": slow}, setup{dir: dir})
		if got := r.read(t, clientA, running.ID); got.Status.State != a2a.TaskStateCompleted {
			t.Errorf("the run under way is %s", got.Status.State)
		}
		if got, err := r.Wait(t.Context(), queued); err != nil || got.State != a2a.TaskStateCompleted {
			t.Errorf("the queued run is %s (%v): it was lost over the stop", got.State, err)
		}
	})
}

func TestATurnThatNeverGetsThroughIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts []int
		h := halfway{true, nil, &attempts}
		dir := t.TempDir()
		r := start(t, agents{"s": h}, setup{dir: dir, work: work.Config{Drain: -1}})
		rec := r.send(t, clientA, userMessage("m-1", "x"))
		for range 4 {
			<-time.After(time.Second)
			r.stop()
			r = start(t, agents{"s": h}, setup{dir: dir, work: work.Config{Drain: -1}})
		}
		got, err := r.Wait(t.Context(), rec)
		if err != nil || got.State != a2a.TaskStateFailed || len(attempts) != 3 {
			t.Errorf("%s (%v) after the attempts %v, want failed after three", got.State, err, attempts)
		}
	})
}

func TestASkillThatIsGoneAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan struct{})}
		dir := t.TempDir()
		r := start(t, agents{"s": g}, setup{dir: dir, work: work.Config{Drain: -1}})
		rec := r.send(t, clientA, userMessage("m-1", "x"))
		<-time.After(time.Second)
		r.stop()
		r = start(t, agents{}, setup{dir: dir})
		got, err := r.Wait(t.Context(), rec)
		if err != nil || got.State != a2a.TaskStateFailed || !strings.Contains(string(got.Status), "no longer served") {
			t.Errorf("%s %s (%v)", got.State, got.Status, err)
		}
	})
}

// TestASuspendedTurn holds no worker and goes on when it is woken.
func TestASuspendedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := work.Key{Kind: "test", ID: "other"}
		attempts := 0
		g := gate{make(chan struct{})}
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
			if turn.Message.Text() != "wait" {
				return g.Run(ctx, turn, out)
			}
			if attempts++; attempts == 1 {
				return agent.Outcome{State: a2a.TaskStateWorking, Wait: []work.Key{other}}, nil
			}
			return agent.Completed(), out.Artifact(ctx, text("woken"), agent.Chunk{Last: true})
		})}, setup{Config: task.Config{Workers: 1}})
		waiting := r.send(t, clientA, userMessage("m-1", "wait"))
		<-time.After(time.Minute)
		if got := r.read(t, clientA, waiting.ID); got.Status.State != a2a.TaskStateWorking || attempts != 1 {
			t.Fatalf("%s, entered %d times", got.Status.State, attempts)
		}
		// The only worker is free for another task, whose end wakes the first.
		running := r.send(t, clientB, userMessage("m-1", "run"))
		<-time.After(time.Second)
		if got := r.read(t, clientB, running.ID); got.Status.State != a2a.TaskStateWorking {
			t.Fatalf("the other task is %s: the suspended one holds the worker", got.Status.State)
		}
		wake := work.Effects{Wake: []work.Key{{Kind: work.KindRun, ID: string(waiting.ID)}}}
		if _, err := r.store.Cancel(t.Context(), clientB, running.ID, time.Now(), wake); err != nil {
			t.Fatal(err)
		}
		close(g.open)
		got, err := r.Wait(t.Context(), waiting)
		if err != nil || got.State != a2a.TaskStateCompleted {
			t.Errorf("after the wake: %s, %v", got.State, err)
		}
	})
}
