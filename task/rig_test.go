package task_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

var (
	clientA = task.Owner{Caller: "client-a"}
	clientB = task.Owner{Caller: "client-b"}
)

// agents publishes one agent under every skill id it is listed with.
type agents map[string]agent.Agent

func (a agents) Agent(_, skill string) (agent.Agent, bool) {
	found, ok := a[skill]
	return found, ok
}

// rig is an engine on a store in a directory, running until stop.
type rig struct {
	*task.Engine
	store *sqlite.Store
	stop  func()
}

type setup struct {
	task.Config
	work work.Config
	dir  string
	wrap func(task.Store) task.Store // nil: the store as it is
}

// start runs an engine. Inside a synctest bubble its time is virtual.
func start(t *testing.T, published agents, with setup) *rig {
	t.Helper()
	if with.dir == "" {
		with.dir = t.TempDir()
	}
	store, err := sqlite.Open(t.Context(), with.dir, sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	claimer := work.NewClaimer(store, with.work)
	with.Claimer = claimer
	var used task.Store = store
	if with.wrap != nil {
		used = with.wrap(store)
	}
	engine, err := task.NewEngine(t.Context(), used, published, with.Config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- claimer.Run(ctx) }()
	for { // until it runs, so that messages are not queued
		slot, ok := claimer.Reserve(work.KindRun)
		if ok {
			slot.Free()
			break
		}
		select {
		case err := <-done:
			t.Fatalf("the claimer ended: %v", err)
		default:
		}
	}
	r := &rig{Engine: engine, store: store}
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

func (r *rig) send(t *testing.T, owner task.Owner, message *a2a.Message) task.Record {
	t.Helper()
	reply, err := r.Send(t.Context(), owner, task.Request{Message: message, Skill: "s"})
	if err != nil {
		t.Fatalf("Send(%s) = %v", message.MessageID, err)
	}
	if reply.Task == nil {
		t.Fatalf("Send(%s) answered with a message", message.MessageID)
	}
	return *reply.Task
}

// settle sends a message and waits for what becomes of it.
func (r *rig) settle(t *testing.T, owner task.Owner, message *a2a.Message) a2a.Task {
	t.Helper()
	rec, err := r.Wait(t.Context(), r.send(t, owner, message))
	if err != nil {
		t.Fatal(err)
	}
	return wire(t, rec)
}

func (r *rig) read(t *testing.T, owner task.Owner, id a2a.TaskID) a2a.Task {
	t.Helper()
	rec, err := r.Task(t.Context(), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return wire(t, rec)
}

// follow reads a feed to its end and says in words what it showed.
func follow(t *testing.T, feed *task.Feed) []string {
	t.Helper()
	defer feed.Close()
	seen := []string{fmt.Sprintf("task %s", short(feed.Task.State))}
	next := feed.Task.Last + 1
	for {
		events, err := feed.Read(t.Context())
		if errors.Is(err, io.EOF) {
			return seen
		}
		if err != nil {
			t.Errorf("Read() = %v", err)
			return seen
		}
		for _, event := range events {
			if event.Number != next {
				t.Errorf("event %d, want %d", event.Number, next)
			}
			next++
			if event.Body != nil {
				seen = append(seen, describe(t, event.Body))
			}
		}
		if len(events) == 0 {
			select {
			case <-feed.Wake():
			case <-t.Context().Done():
				return seen
			}
		}
	}
}

func describe(t *testing.T, body []byte) string {
	t.Helper()
	response, violations, err := a2a.Decode[a2a.StreamResponse](body)
	if err != nil || len(violations) > 0 {
		t.Errorf("event is not valid: %v %v", err, violations)
	}
	switch p := response.Payload.(type) {
	case *a2a.TaskStatusUpdateEvent:
		text := short(p.Status.State)
		if p.Status.Message != nil {
			text += " " + p.Status.Message.Text()
		}
		return text
	case *a2a.TaskArtifactUpdateEvent:
		text := string(p.Artifact.ArtifactID) + " " + p.Artifact.Text()
		if p.Append {
			text += " +"
		}
		if p.LastChunk {
			text += " last"
		}
		return text
	}
	t.Errorf("unexpected event %T", response.Payload)
	return ""
}

func short(state a2a.TaskState) string { return strings.TrimPrefix(string(state), "TASK_STATE_") }

func text(s string) a2a.Artifact { return a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(s)}} }

// echo answers at once and may be repeated.
type echo struct{}

func (echo) Repeatable() bool { return true }

func (echo) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	return agent.Completed(), out.Artifact(ctx, text(turn.Message.Text()), agent.Chunk{Last: true})
}

// gate works until it is let through, then completes. It may not be repeated.
type gate struct{ open chan struct{} }

func (g gate) Run(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
	select {
	case <-g.open:
		return agent.Completed(), out.Artifact(ctx, text("done"), agent.Chunk{Last: true})
	case <-ctx.Done():
		return agent.Outcome{}, ctx.Err()
	}
}
