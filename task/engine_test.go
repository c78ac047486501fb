package task_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/task"
)

// REQ-SEND-14: the work goes on after the answer.
func TestAShortTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": echo{}}, setup{})
		rec := r.send(t, clientA, userMessage("m-1", "hello"))
		if rec.State != a2a.TaskStateSubmitted {
			t.Errorf("the answer to a send is %s", rec.State)
		}
		got := follow(t, r.Follow(rec))
		if diff := cmp.Diff([]string{"task SUBMITTED", "WORKING", "result-1-1 hello last", "COMPLETED"}, got); diff != "" {
			t.Errorf("feed (-want +got):\n%s", diff)
		}
		done := r.read(t, clientA, rec.ID)
		if done.Status.State != a2a.TaskStateCompleted || len(done.Artifacts) != 1 || done.Artifacts[0].Text() != "hello" {
			t.Errorf("task %+v", done)
		}
	})
}

// TestHowATurnEnds walks every outcome an agent can return. (REQ-MOD-01,
// REQ-MOD-02, REQ-MOD-04, PVP-28)
func TestHowATurnEnds(t *testing.T) {
	said := a2a.NewMessage(a2a.RoleAgent, a2a.TextPart("because"))
	for _, test := range []struct {
		name    string
		outcome agent.Outcome
		err     error
		panics  bool
		state   a2a.TaskState
		message string // begins with
	}{
		{name: "nothing said", state: a2a.TaskStateCompleted},
		{name: "completed", outcome: agent.Completed(), state: a2a.TaskStateCompleted},
		{name: "failed", outcome: agent.Failed("because"), state: a2a.TaskStateFailed, message: "because"},
		{name: "rejected", outcome: agent.Rejected("because"), state: a2a.TaskStateRejected, message: "because"},
		{name: "canceled by itself", outcome: agent.Outcome{State: a2a.TaskStateCanceled, Message: said}, state: a2a.TaskStateCanceled, message: "because"},
		{name: "input", outcome: agent.AskInput("which?"), state: a2a.TaskStateInputRequired, message: "which?"},
		// REQ-ITA-01, REQ-ITA-02
		{name: "authorization", outcome: agent.Outcome{State: a2a.TaskStateAuthRequired, Message: said}, state: a2a.TaskStateAuthRequired, message: "because"},
		{name: "error", err: errors.New("secret detail"), state: a2a.TaskStateFailed, message: "The agent failed. Reference"},
		{name: "panic", panics: true, state: a2a.TaskStateFailed, message: "The agent failed. Reference"},
		{name: "submitted", outcome: agent.Outcome{State: a2a.TaskStateSubmitted}, state: a2a.TaskStateFailed, message: "The agent failed"},
		{name: "working without a wait", outcome: agent.Outcome{State: a2a.TaskStateWorking}, state: a2a.TaskStateFailed, message: "The agent failed"},
		{name: "unknown state", outcome: agent.Outcome{State: "TASK_STATE_PAUSED"}, state: a2a.TaskStateFailed, message: "The agent failed"},
		{name: "message without parts", outcome: agent.Outcome{State: a2a.TaskStateFailed, Message: &a2a.Message{}}, state: a2a.TaskStateFailed, message: "The agent failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, agents{"s": agent.Func(func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
					if test.panics {
						panic("secret detail")
					}
					return test.outcome, test.err
				})}, setup{})
				got := r.settle(t, clientA, userMessage("m-1", "x"))
				text := ""
				if got.Status.Message != nil {
					text = got.Status.Message.Text()
					m := got.Status.Message
					if m.Role != a2a.RoleAgent || m.MessageID == "" || m.TaskID != got.ID || m.ContextID != got.ContextID {
						t.Errorf("the message lacks what every message of ours has: %+v", m)
					}
				}
				if got.Status.State != test.state || !strings.HasPrefix(text, test.message) || strings.Contains(text, "secret") {
					t.Errorf("ended %s %q, want %s %q", got.Status.State, text, test.state, test.message)
				}
			})
		})
	}
}

func TestMetadataOfAnOutcomeIsMergedIntoTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := []string{`{"a":1,"b":2}`, `{"b":3,"truncated":true}`}
		r := start(t, agents{"s": agent.Func(func(_ context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
			outcome := agent.AskInput("more?")
			outcome.Metadata = a2a.Struct(turns[turn.Number-1])
			return outcome, nil
		})}, setup{})
		first := r.settle(t, clientA, userMessage("m-1", "x"))
		next := userMessage("m-2", "y")
		next.TaskID = first.ID
		var got map[string]any
		if err := r.settle(t, clientA, next).Metadata.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"a": 1.0, "b": 3.0, "truncated": true}, got); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
	})
}

// TestArtifactsAreAssembled puts pieces out in every way and compares what the
// task holds. (REQ-STRM-16, REQ-MOD-05)
func TestArtifactsAreAssembled(t *testing.T) {
	named := func(id, name, s string) a2a.Artifact {
		return a2a.Artifact{ArtifactID: a2a.ArtifactID(id), Name: name, Parts: []a2a.Part{a2a.TextPart(s)}}
	}
	for _, test := range []struct {
		name string
		put  func(ctx context.Context, out agent.Output) error
		want []string // id name parts
	}{
		{"nameless chunks belong together", func(ctx context.Context, out agent.Output) error {
			return errors.Join(out.Artifact(ctx, text("a"), agent.Chunk{}), out.Artifact(ctx, text("b"), agent.Chunk{Append: true}),
				out.Artifact(ctx, text("c"), agent.Chunk{Append: true, Last: true}), out.Artifact(ctx, text("d"), agent.Chunk{Last: true}))
		}, []string{"result-1-1  a|b|c", "result-1-2  d"}},
		{"interleaved", func(ctx context.Context, out agent.Output) error {
			return errors.Join(out.Artifact(ctx, named("x", "X", "a"), agent.Chunk{}), out.Artifact(ctx, named("y", "Y", "b"), agent.Chunk{}),
				out.Artifact(ctx, named("x", "", "c"), agent.Chunk{Append: true}), out.Artifact(ctx, named("y", "Z", "d"), agent.Chunk{Append: true}))
		}, []string{"x X a|c", "y Z b|d"}},
		{"replaced", func(ctx context.Context, out agent.Output) error {
			return errors.Join(out.Artifact(ctx, named("x", "old", "a"), agent.Chunk{}), out.Artifact(ctx, named("x", "", "b"), agent.Chunk{}))
		}, []string{"x  b"}},
		{"appended to nothing", func(ctx context.Context, out agent.Output) error {
			return out.Artifact(ctx, named("x", "X", "a"), agent.Chunk{Append: true})
		}, []string{"x X a"}},
		{"a name that looks like the form", func(ctx context.Context, out agent.Output) error {
			return errors.Join(out.Artifact(ctx, named("x", `"parts":[]`, `]}"`), agent.Chunk{}), out.Artifact(ctx, named("x", "", "b"), agent.Chunk{Append: true}))
		}, []string{`x "parts":[] ]}"|b`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
					return agent.Outcome{}, test.put(ctx, out)
				})}, setup{})
				var got []string
				for _, a := range r.settle(t, clientA, userMessage("m-1", "x")).Artifacts {
					var parts []string
					for _, p := range a.Parts {
						parts = append(parts, string(p.Content.(a2a.PartText)))
					}
					got = append(got, fmt.Sprintf("%s %s %s", a.ArtifactID, a.Name, strings.Join(parts, "|")))
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("artifacts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestOutputIsRefusedInWordsWhenItCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			errs = append(errs, out.Artifact(ctx, a2a.Artifact{}, agent.Chunk{}),
				out.Artifact(ctx, a2a.Artifact{Parts: []a2a.Part{{}}}, agent.Chunk{}))
			return agent.Completed(), nil
		})}, setup{})
		if got := r.settle(t, clientA, userMessage("m-1", "x")); len(got.Artifacts) != 0 {
			t.Errorf("an artifact without content was stored: %+v", got.Artifacts)
		}
		for _, err := range errs {
			if err == nil {
				t.Error("an artifact without content was taken")
			}
		}
	})
}

// TestManyReadersSeeOneSequence is REQ-STRM-07, REQ-STRM-08, REQ-STRM-09,
// REQ-STRM-10 and REQ-SUBS-02:
// readers that come at any time see the same events, none lost, none doubled.
func TestManyReadersSeeOneSequence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chunks = 1000
		begin := make(chan struct{})
		var half sync.WaitGroup
		half.Add(1)
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			<-begin
			for i := range chunks {
				if i == chunks/2 {
					half.Done()
				}
				if err := out.Artifact(ctx, text(fmt.Sprintf("%d,", i)), agent.Chunk{Append: i > 0, Last: i == chunks-1}); err != nil {
					return agent.Outcome{}, err
				}
			}
			return agent.Completed(), nil
		})}, setup{})
		rec := r.send(t, clientA, userMessage("m-1", "x"))
		var readers sync.WaitGroup
		var mu sync.Mutex
		var early [][]string
		for range 5 {
			feed := r.Follow(rec)
			readers.Go(func() {
				seen := follow(t, feed)
				mu.Lock()
				early = append(early, seen)
				mu.Unlock()
			})
		}
		close(begin)
		half.Wait()
		late, err := r.Subscribe(t.Context(), clientA, rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		lateTask := wire(t, late.Task)
		lateSeen := follow(t, late)
		readers.Wait()
		for _, seen := range early {
			if diff := cmp.Diff(early[0], seen); diff != "" {
				t.Fatalf("two readers differ:\n%s", diff)
			}
		}
		if len(early[0]) != 1+1+chunks+1 {
			t.Errorf("%d things seen, want the task, working, %d chunks and the end", len(early[0]), chunks)
		}
		whole := r.read(t, clientA, rec.ID).Artifacts[0].Text()
		joined := ""
		if len(lateTask.Artifacts) > 0 {
			joined = lateTask.Artifacts[0].Text()
		}
		for _, line := range lateSeen[1:] {
			if strings.HasPrefix(line, "result") {
				joined += strings.Fields(line)[1]
			}
		}
		if joined != whole {
			t.Errorf("snapshot and what followed make %d bytes, the task has %d", len(joined), len(whole))
		}
	})
}

// TestAConversation is REQ-LIFE-08, REQ-CTX-11, REQ-MOD-10 and DEC-19.
func TestAConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
			if err := out.Status(ctx, a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(fmt.Sprint("thinking ", turn.Number)))); err != nil {
				return agent.Outcome{}, err
			}
			if turn.Number < 3 {
				return agent.AskInput(fmt.Sprint("question ", turn.Number)), nil
			}
			history, err := turn.Memory.History(ctx)
			if err != nil {
				return agent.Outcome{}, err
			}
			return agent.Completed(), out.Artifact(ctx, text(fmt.Sprintf("%d messages, before it %s, and %s", len(history), history[len(history)-2].Text(), history[len(history)-1].Text())), agent.Chunk{Last: true})
		})}, setup{})
		got := r.settle(t, clientA, userMessage("m-1", "begin"))
		for i := 2; i <= 3; i++ {
			if got.Status.State != a2a.TaskStateInputRequired {
				t.Fatalf("turn %d: %s", i, got.Status.State)
			}
			next := userMessage(fmt.Sprint("m-", i), fmt.Sprint("answer ", i))
			next.TaskID = got.ID
			got = r.settle(t, clientA, next)
		}
		var history []string
		for _, m := range got.History {
			history = append(history, m.Text())
		}
		want := []string{"begin", "thinking 1", "question 1", "answer 2", "thinking 2", "question 2", "answer 3", "thinking 3"}
		if diff := cmp.Diff(want, history); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		if got := got.Artifacts[0].Text(); got != "7 messages, before it question 2, and answer 3" {
			t.Errorf("the agent saw %q", got)
		}
	})
}

func TestWaitReturnsTheTaskAsItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gate{make(chan struct{})}
		r := start(t, agents{"s": g}, setup{})
		rec := r.send(t, clientA, userMessage("m-1", "x"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		now, err := r.Wait(ctx, rec)
		if err != nil || now.State != a2a.TaskStateWorking || time.Since(began) != time.Minute {
			t.Errorf("Wait() = %s, %v after %v", now.State, err, time.Since(began))
		}
		close(g.open)
		if now, err = r.Wait(t.Context(), rec); err != nil || now.State != a2a.TaskStateCompleted {
			t.Errorf("Wait() = %s, %v", now.State, err)
		}
	})
}

// TestACallerThatGoesAwayChangesNothing is F11: the life of a task does not
// depend on who waits for it.
func TestACallerThatGoesAwayChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			select {
			case <-time.After(90 * time.Second):
			case <-ctx.Done():
				return agent.Outcome{}, ctx.Err()
			}
			return agent.Completed(), out.Artifact(ctx, text("late"), agent.Chunk{Last: true})
		})}, setup{})
		ctx, hangUp := context.WithCancel(t.Context())
		reply, err := r.Send(ctx, clientA, task.Request{Message: userMessage("m-1", "x"), Skill: "s"})
		if err != nil {
			t.Fatal(err)
		}
		hangUp()
		<-time.After(2 * time.Minute)
		if got := r.read(t, clientA, reply.Task.ID); got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 1 {
			t.Errorf("after two minutes the task is %+v", got)
		}
	})
}

// REQ-LIFE-01: what comes after the end changes nothing.
func TestATurnEndsAtItsDeadline(t *testing.T) {
	for name, obeys := range map[string]bool{"an agent that listens": true, "a stubborn one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				let := make(chan struct{})
				r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
					if obeys {
						<-ctx.Done()
					} else {
						<-let
					}
					return agent.Completed(), out.Artifact(context.Background(), text("too late"), agent.Chunk{})
				})}, setup{Config: task.Config{RunTimeout: time.Minute}})
				began := time.Now()
				got := r.settle(t, clientA, userMessage("m-1", "x"))
				if got.Status.State != a2a.TaskStateFailed || time.Since(began) != time.Minute {
					t.Errorf("%s after %v, want failed after a minute", got.Status.State, time.Since(began))
				}
				close(let)
				synctest.Wait()
				if after := r.read(t, clientA, got.ID); !cmp.Equal(after, got) {
					t.Errorf("late output changed the task: %s", cmp.Diff(got, after))
				}
			})
		})
	}
}

// REQ-GEN-01
func TestATaskHasASize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, agents{"s": agent.Func(func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
			for {
				if err := out.Artifact(ctx, text(strings.Repeat("x", 10_000)), agent.Chunk{Append: true}); err != nil {
					if !errors.Is(err, task.ErrTooLarge) {
						t.Errorf("error = %v, want ErrTooLarge", err)
					}
					return agent.Completed(), nil // an agent that does not look at errors
				}
			}
		})}, setup{Config: task.Config{MaxBytes: 100_000}})
		got := r.settle(t, clientA, userMessage("m-1", "x"))
		if got.Status.State != a2a.TaskStateFailed || !strings.Contains(got.Status.Message.Text(), "100000 bytes") {
			t.Errorf("ended %s %q", got.Status.State, got.Status.Message.Text())
		}
		if _, err := r.Send(t.Context(), clientA, task.Request{Skill: "s", Message: userMessage("m-2", strings.Repeat("x", 100_001))}); !errors.Is(err, task.ErrTooLarge) {
			t.Errorf("Send() of more than a task may hold = %v, want ErrTooLarge", err)
		}
	})
}
