package sqlite_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

var admission = task.Admission{Claim: true, Lease: time.Minute, PerCaller: 1 << 20, Queue: 1 << 20}

func newTask(owner task.Owner, text string) task.NewTask {
	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(text))
	record, event := task.NewRecord(task.Record{
		Owner: owner, ID: a2a.TaskID(a2a.NewID()), ContextID: a2a.ContextID(a2a.NewID()), Skill: "echo",
	}, message, time.Now())
	return task.NewTask{
		Record: record, Event: event, Admission: admission,
		Message: task.MessageKey{Owner: owner, ID: message.MessageID, Hash: [32]byte{1}},
	}
}

// completed is the batch that ends a task with one artifact.
func completed(r task.Record) task.Batch {
	status := a2a.TaskStatus{State: a2a.TaskStateCompleted, Timestamp: time.Now()}
	artifact := a2a.Artifact{ArtifactID: a2a.ArtifactID(a2a.NewID()), Parts: []a2a.Part{a2a.TextPart("the answer to the question")}}
	put := a2a.StreamResponse{Payload: &a2a.TaskArtifactUpdateEvent{TaskID: r.ID, ContextID: r.ContextID, Artifact: artifact}}
	end := a2a.StreamResponse{Payload: &a2a.TaskStatusUpdateEvent{TaskID: r.ID, ContextID: r.ContextID, Status: status}}
	r.Artifacts = append(artifact.AppendJSON([]byte{'['}), ']')
	r.Status = status.AppendJSON(nil)
	r.State, r.StatusAt, r.Last, r.Settled = status.State, status.Timestamp, r.Last+2, r.Last+2
	return task.Batch{
		Record: r, Then: task.End,
		Events: []task.Event{
			{Number: r.Last - 1, Body: put.AppendJSON(nil)},
			{Number: r.Last, State: status.State, Body: end.AppendJSON(nil)},
		},
	}
}

// BenchmarkCreateAppend is a task from its message to its end: two changes,
// each durable before the next one begins.
func BenchmarkCreateAppend(b *testing.B) {
	for _, parallel := range []int{1, 32, 128} {
		b.Run(fmt.Sprintf("callers=%d", parallel), func(b *testing.B) {
			store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			ctx := b.Context()
			var left atomic.Int64
			left.Store(int64(b.N))
			var callers sync.WaitGroup
			b.ResetTimer()
			for i := range parallel {
				owner := task.Owner{Agent: "default", Caller: fmt.Sprint("caller-", i/8)}
				callers.Go(func() {
					for left.Add(-1) >= 0 {
						if err := createAppend(ctx, store, owner); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

func createAppend(ctx context.Context, store task.Store, owner task.Owner) error {
	accepted, err := store.Create(ctx, newTask(owner, "what is the question to the answer?"), work.Effects{})
	if err != nil {
		return err
	}
	return store.Append(ctx, accepted.Work.Fence, completed(accepted.Record), work.Effects{})
}

// BenchmarkTask reads a task from memory.
func BenchmarkTask(b *testing.B) {
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	owner := task.Owner{Agent: "default", Caller: "local"}
	accepted, err := store.Create(b.Context(), newTask(owner, "hello"), work.Effects{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	for b.Loop() {
		if _, err := store.Task(ctx, owner, accepted.Record.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList reads a page of 50 and its total from a small and a large
// store. Their times must be alike: it fails when their ratio is above 2.
func BenchmarkList(b *testing.B) {
	const small, large = 10_000, 1_000_000
	owners := map[int]task.Owner{}
	store, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	for _, n := range []int{small, large} {
		owners[n] = task.Owner{Agent: "default", Caller: fmt.Sprint("with-", n)}
		if err := store.Fill(b.Context(), owners[n].Agent, owners[n].Caller, int64(n)); err != nil {
			b.Fatal(err)
		}
	}
	middle := &task.Cursor{StatusAt: time.UnixMilli(1700000000000 + small/2)}
	for _, c := range []struct {
		name  string
		query task.Query
	}{
		{"all", task.Query{Limit: 50}},
		{"state", task.Query{Limit: 50, State: a2a.TaskStateCompleted}},
		{"context", task.Query{Limit: 50, ContextID: "context-7"}},
		{"context and state", task.Query{Limit: 50, ContextID: "context-7", State: a2a.TaskStateSubmitted}},
		{"later page", task.Query{Limit: 50, After: middle}},
	} {
		b.Run(c.name, func(b *testing.B) {
			took := map[int]time.Duration{}
			for b.Loop() {
				for n, owner := range owners {
					start := time.Now()
					page, err := store.List(b.Context(), owner, c.query)
					took[n] += time.Since(start)
					if err != nil || page.Total == 0 {
						b.Fatalf("List() = %d tasks, %v", page.Total, err)
					}
				}
			}
			b.ReportMetric(float64(took[small].Microseconds())/float64(b.N), "us/10k")
			b.ReportMetric(float64(took[large].Microseconds())/float64(b.N), "us/1M")
			ratio := float64(took[large]) / float64(took[small])
			b.ReportMetric(ratio, "ratio")
			if ratio > 2 {
				b.Errorf("a page of a million tasks takes %.1f times that of ten thousand, want at most 2", ratio)
			}
		})
	}
}
