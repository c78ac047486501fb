package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// TestNothingIsStoredBeyondTheSizeOfATask fills a task in every way an agent
// has.
func TestNothingIsStoredBeyondTheSizeOfATask(t *testing.T) {
	const limit = 100_000
	long := strings.Repeat("x", limit)
	metadata := a2a.Struct(`{"x":"` + long + `"}`)
	for name, run := range map[string]agent.Func{
		"a question": func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
			return agent.AskInput(long), nil
		},
		"metadata of the outcome": func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
			return agent.Outcome{Metadata: metadata}, nil
		},
		"a progress message": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			return agent.Completed(), out.Status(ctx, a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(long)))
		},
		"text that grows when it is encoded": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			return agent.Completed(), out.Artifact(ctx, text(strings.Repeat("\x01", limit/3)), agent.Chunk{Last: true})
		},
		"bytes that grow when they are encoded": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			return agent.Completed(), out.Artifact(ctx, a2a.Artifact{Parts: []a2a.Part{a2a.RawPart(make([]byte, limit*9/10), "", "")}}, agent.Chunk{Last: true})
		},
		"an artifact's name": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			a := text("x")
			a.Name = long
			return agent.Completed(), out.Artifact(ctx, a, agent.Chunk{Last: true})
		},
		"an artifact's metadata": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			a := text("x")
			a.Metadata = metadata
			return agent.Completed(), out.Artifact(ctx, a, agent.Chunk{Last: true})
		},
		"many small messages": func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			var err error
			for i := 0; err == nil; i++ {
				err = out.Status(ctx, a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(fmt.Sprint(i))))
			}
			return agent.Completed(), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, agents{"s": run}, setup{Config: task.Config{MaxBytes: limit}})
				rec, err := r.Wait(t.Context(), r.send(t, clientA, userMessage("m-1", "x")))
				if err != nil {
					t.Fatal(err)
				}
				got := wire(t, rec)
				if got.Status.State != a2a.TaskStateFailed {
					t.Errorf("ended %s, want failed", got.Status.State)
				}
				if rec.Size() > limit+1000 { // the words of the failure
					t.Errorf("stored with %d bytes, the limit is %d", rec.Size(), limit)
				}
			})
		})
	}
}

// TestReplacedContentDoesNotCount puts out more than a task holds, one after
// the other in one place.
func TestReplacedContentDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			for range 10 {
				a := text(strings.Repeat("x", 50_000))
				a.ArtifactID = "same"
				if err := out.Artifact(ctx, a, agent.Chunk{Last: true}); err != nil {
					return agent.Outcome{}, err
				}
			}
			return agent.Completed(), nil
		})}, setup{Config: task.Config{MaxBytes: 100_000}})
		if got := r.settle(t, clientA, userMessage("m-1", "x")); got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 1 {
			t.Errorf("ended %s with %d artifacts", got.Status.State, len(got.Artifacts))
		}
	})
}

// TestWhatCouldNotBeSentIsNotStored offers broken content at every entrance.
// (REQ-MOD-06, REQ-PJ-09, REQ-PJ-15, REQ-PJ-18)
func TestWhatCouldNotBeSentIsNotStored(t *testing.T) {
	broken := map[string][]a2a.Part{
		"no parts":              nil,
		"a part with nothing":   {{}},
		"broken data":           {{Content: a2a.PartData(`{"a":garbage}`)}},
		"data over two lines":   {{Content: a2a.PartData("{\n\"a\":1}")}},
		"data that is empty":    {{Content: a2a.PartData{}}},
		"data that is deep":     {{Content: a2a.PartData(strings.Repeat("[", 65) + strings.Repeat("]", 65))}},
		"metadata of a part":    {{Content: a2a.PartText("x"), Metadata: a2a.Struct(`{"a":}`)}},
		"metadata is no object": {{Content: a2a.PartText("x"), Metadata: a2a.Struct(`[1]`)}},
	}
	for name, parts := range broken {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				message := &a2a.Message{MessageID: "m", Role: a2a.RoleAgent, Parts: parts}
				var errs []error
				r := start(t, agents{
					"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
						errs = append(errs, out.Status(ctx, message), out.Artifact(ctx, a2a.Artifact{Parts: parts}, agent.Chunk{}))
						return agent.Outcome{State: a2a.TaskStateCompleted, Message: message}, nil
					}),
					"direct": replies{message},
				}, setup{})
				got := r.settle(t, clientA, userMessage("m-1", "x")) // checks that it is valid on the wire
				if got.Status.State != a2a.TaskStateFailed || len(got.Artifacts) > 0 || len(got.History) != 1 {
					t.Errorf("stored: %s, %d artifacts, %d messages", got.Status.State, len(got.Artifacts), len(got.History))
				}
				for _, err := range errs {
					if err == nil {
						t.Error("it was taken")
					}
				}
				if reply, err := r.Send(t.Context(), clientA, task.Request{Message: userMessage("m-2", "x"), Skill: "direct"}); err == nil {
					t.Errorf("a reply without a task was taken: %+v", reply.Message)
				}
			})
		})
	}
}

// replies answers everything with one message, and without a task.
type replies struct{ message *a2a.Message }

func (r replies) Respond(context.Context, agent.Turn) (*a2a.Message, error) { return r.message, nil }

func (r replies) Run(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
	return agent.Outcome{}, errors.New("not asked for")
}

// counting counts the bytes that a store is given to write.
type counting struct {
	task.Store
	bytes, batches *atomic.Int64
}

func (c counting) Append(ctx context.Context, fence work.Fence, batch task.Batch, effects work.Effects) error {
	c.bytes.Add(int64(batch.Record.Size()))
	c.batches.Add(1)
	return c.Store.Append(ctx, fence, batch, effects)
}

// TestALargeTaskIsWrittenAtAPace adds little pieces to a large task: what is
// written is bounded by time, not by the number of pieces.
func TestALargeTaskIsWrittenAtAPace(t *testing.T) {
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprint("flush ", flush), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bytes, batches atomic.Int64
				r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
					err := out.Artifact(ctx, text(strings.Repeat("x", 1<<20)), agent.Chunk{})
					for range 100 {
						<-time.After(10 * time.Millisecond)
						err = errors.Join(err, out.Artifact(ctx, text("."), agent.Chunk{Append: true}))
						if flush {
							err = errors.Join(err, out.Flush(ctx))
						}
					}
					return agent.Completed(), err
				})}, setup{wrap: func(s task.Store) task.Store { return counting{s, &bytes, &batches} }})
				began := time.Now()
				got := r.settle(t, clientA, userMessage("m-1", "x"))
				if got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts[0].Parts) != 101 {
					t.Fatalf("ended %s", got.Status.State)
				}
				seconds := time.Since(began).Seconds()
				if most := int64((seconds + 1) * (16 << 20)); bytes.Load() > most {
					t.Errorf("%d MiB in %d commits within %.1f s, want at most %d MiB", bytes.Load()>>20, batches.Load(), seconds, most>>20)
				}
				if batches.Load() < 10 {
					t.Errorf("only %d commits: readers wait too long", batches.Load())
				}
			})
		})
	}
}

// TestManyArtifactsCostTheSameEach would take minutes if each looked through
// all the others.
func TestManyArtifactsCostTheSameEach(t *testing.T) {
	const n = 20_000
	r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
		for i := range n {
			if err := out.Artifact(ctx, text(fmt.Sprint(i)), agent.Chunk{Last: true}); err != nil {
				return agent.Outcome{}, err
			}
		}
		return agent.Completed(), nil
	})}, setup{})
	got := r.settle(t, clientA, userMessage("m-1", "x"))
	if len(got.Artifacts) != n || got.Artifacts[n-1].Text() != fmt.Sprint(n-1) {
		t.Errorf("%s with %d artifacts", got.Status.State, len(got.Artifacts))
	}
}

// TestATurnSeesTheSameMessageAgain compares what the first entry of a turn saw
// with what a repeated one does.
func TestATurnSeesTheSameMessageAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saw []string
		again := repeatable(func(ctx context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
			saw = append(saw, string(turn.Message.AppendJSON(nil))+turn.Metadata.String()+fmt.Sprint(turn.AcceptedOutputModes))
			if len(saw) == 1 {
				<-ctx.Done()
			}
			return agent.Completed(), nil
		})
		dir := t.TempDir()
		r := start(t, agents{"s": again}, setup{dir: dir, work: work.Config{Drain: -1}})
		reply, err := r.Send(t.Context(), clientA, task.Request{
			Message: userMessage("m-1", "x"), Skill: "s",
			Metadata: a2a.Struct(`{"a":1}`), AcceptedOutputModes: []string{"text/plain"},
		})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		r.stop()
		r = start(t, agents{"s": again}, setup{dir: dir})
		if _, err := r.Wait(t.Context(), *reply.Task); err != nil {
			t.Fatal(err)
		}
		if len(saw) != 2 {
			t.Fatalf("entered %d times", len(saw))
		}
		if diff := cmp.Diff(saw[0], saw[1]); diff != "" {
			t.Errorf("the repeated turn saw something else (-first +again):\n%s", diff)
		}
		if !strings.HasSuffix(saw[0], `{"a":1}[text/plain]`) { // REQ-SEND-07, REQ-SEND-20
			t.Errorf("the agent was not told what the request asks for: %s", saw[0])
		}
	})
}

// repeatable is a function whose turns may be entered again.
type repeatable agent.Func

func (r repeatable) Repeatable() bool { return true }

func (r repeatable) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	return r(ctx, turn, out)
}

// failing is a store that takes no output for a while.
type failing struct {
	task.Store
	until time.Time
}

func (f failing) Append(ctx context.Context, fence work.Fence, batch task.Batch, effects work.Effects) error {
	if time.Now().Before(f.until) {
		return errors.New("disk is full")
	}
	return f.Store.Append(ctx, fence, batch, effects)
}

// TestAStoreThatIsFullForAWhileCostsNothing waits with the agent's output until
// it can be stored, and enters nothing twice.
func TestAStoreThatIsFullForAWhileCostsNothing(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprint("stopped meanwhile ", stopped), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts []int
				again := repeatable(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
					attempts = append(attempts, turn.Attempt)
					return agent.Completed(), out.Artifact(ctx, text("kept"), agent.Chunk{Last: true})
				})
				dir := t.TempDir()
				until := time.Now().Add(5 * time.Minute)
				r := start(t, agents{"s": again}, setup{dir: dir, work: work.Config{Drain: -1},
					wrap: func(s task.Store) task.Store { return failing{s, until} }})
				rec := r.send(t, clientA, userMessage("m-1", "x"))
				want := []int{1}
				if stopped {
					<-time.After(time.Minute)
					r.stop()
					r = start(t, agents{"s": again}, setup{dir: dir})
					want = []int{1, 2}
				}
				got, err := r.Wait(t.Context(), rec)
				if err != nil || got.State != a2a.TaskStateCompleted {
					t.Errorf("ended %s, %v", got.State, err)
				}
				if diff := cmp.Diff(want, attempts); diff != "" {
					t.Errorf("attempts (-want +got):\n%s", diff)
				}
			})
		})
	}
}
