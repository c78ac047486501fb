package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// together applies changes in one group and returns their errors.
func together(t *testing.T, store *sqlite.Store, changes ...func() error) []error {
	t.Helper()
	release := store.Hold(t.Context())
	errs := make([]error, len(changes))
	var callers sync.WaitGroup
	for i, change := range changes {
		callers.Go(func() { errs[i] = change() })
		for store.Waiting() <= i {
			runtime.Gosched()
		}
	}
	release()
	callers.Wait()
	return errs
}

func TestFullDisk(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	create := func(created task.NewTask) func() error {
		return func() error {
			_, err := store.Create(ctx, created, work.Effects{})
			return err
		}
	}
	kept := newTask(local, "before")
	if err := create(kept)(); err != nil {
		t.Fatal(err)
	}
	if err := store.LimitPages(ctx, 12); err != nil {
		t.Fatal(err)
	}
	large := newTask(local, strings.Repeat("too large ", 100_000))
	small := newTask(local, "small")
	again := kept
	again.Message.Hash[0]++
	errs := together(t, store, create(small), create(large), create(again))
	if errs[0] != nil {
		t.Errorf("a small change beside one that does not fit: error = %v", errs[0])
	}
	if !errors.Is(errs[1], sqlite.ErrDiskFull) || !strings.Contains(errs[1].Error(), "disk is full: nothing of this change was stored") {
		t.Errorf("a change that does not fit: error = %v, want ErrDiskFull in words", errs[1])
	}
	if !errors.Is(errs[2], task.ErrMessageChanged) {
		t.Errorf("a refused change beside one that does not fit: error = %v, want its own", errs[2])
	}
	// Nothing of the failed change is left, in memory or on the disk.
	if _, err := store.Task(ctx, local, large.Record.ID); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("Task() error = %v, want ErrNotFound", err)
	}
	page, err := store.List(ctx, local, task.Query{Limit: 10})
	if err != nil || page.Total != 2 || len(page.Records) != 2 {
		t.Errorf("List() = %d of %d, %v, want 2", len(page.Records), page.Total, err)
	}

	if err := store.LimitPages(ctx, -1); err != nil {
		t.Fatal(err)
	}
	if err := create(large)(); err != nil {
		t.Errorf("Create() with space again: error = %v", err)
	}
	if page, err := store.List(ctx, local, task.Query{Limit: 10}); err != nil || page.Total != 3 {
		t.Errorf("List() = %d, %v, want 3", page.Total, err)
	}
}

func TestFailedChangeGivesBackWhatItTook(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	owner := task.Owner{Agent: "new", Caller: "new"} // unknown until the change that fails
	held, err := store.Create(ctx, newTask(local, "held"), work.Effects{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.LimitPages(ctx, 2); err != nil {
		t.Fatal(err)
	}
	large := newTask(owner, strings.Repeat("too large ", 100_000))
	large.Admission.PerCaller = 1
	if _, err := store.Create(ctx, large, work.Effects{}); !errors.Is(err, sqlite.ErrDiskFull) {
		t.Fatalf("Create() error = %v, want ErrDiskFull", err)
	}
	batch := completed(held.Record)
	batch.Record.Artifacts = []byte(`["` + strings.Repeat("too large ", 100_000) + `"]`)
	if err := store.Append(ctx, held.Work.Fence, batch, work.Effects{}); !errors.Is(err, sqlite.ErrDiskFull) {
		t.Fatalf("Append() error = %v, want ErrDiskFull", err)
	}
	if err := store.LimitPages(ctx, -1); err != nil {
		t.Fatal(err)
	}
	accepted, err := store.Create(ctx, large, work.Effects{})
	if err != nil || accepted.Joined || accepted.Work == nil {
		t.Errorf("Create() = %+v, %v, want a new task, claimed", accepted.Work, err)
	}
	if err := store.Append(ctx, held.Work.Fence, batch, work.Effects{}); err != nil {
		t.Errorf("Append() error = %v: the fence was lost", err)
	}
}

func TestMaxBytes(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off, MaxBytes: 400_000})
	text := strings.Repeat("x", 50_000)
	var err error
	for range 10 {
		if _, err = store.Create(t.Context(), newTask(local, text), work.Effects{}); err != nil {
			break
		}
	}
	if !errors.Is(err, sqlite.ErrDiskFull) {
		t.Errorf("Create() error = %v, want ErrDiskFull", err)
	}
}

func TestPanicOfOneChange(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	errs := together(t, store,
		func() error { _, err := store.CardSince(ctx, "a", "1", since); return err },
		func() error { return store.Panic(ctx) },
		func() error { _, err := store.CardSince(ctx, "b", "1", since); return err },
	)
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("errors = %v, want only that of the change that panicked", errs)
	}
	later := since.Add(time.Hour)
	for agent, want := range map[string]time.Time{"a": since, "b": since, "panicked": later} {
		if got, err := store.CardSince(ctx, agent, "1", later); err != nil || !got.Equal(want) {
			t.Errorf("CardSince(%s) = %v, %v, want %v", agent, got, err, want)
		}
	}
}

// TestOneGroup makes changes depend on each other before any is committed.
func TestOneGroup(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	owner := task.Owner{Agent: "new", Caller: "new"}
	created := newTask(owner, "first")
	created.Admission.Claim = false
	repeat := newTask(owner, "again")
	repeat.Message = created.Message
	beside := newTask(owner, "beside")
	beside.Record.ContextID = created.Record.ContextID
	var joined task.Accepted
	var canceled task.Record
	errs := together(t, store,
		func() error { _, err := store.Create(ctx, created, work.Effects{}); return err },
		func() (err error) { joined, err = store.Create(ctx, repeat, work.Effects{}); return err },
		func() error { _, err := store.Create(ctx, beside, work.Effects{}); return err },
		func() (err error) {
			canceled, err = store.Cancel(ctx, owner, created.Record.ID, time.Now(), work.Effects{})
			return err
		},
		func() error {
			_, err := store.Cancel(ctx, owner, created.Record.ID, time.Now(), work.Effects{})
			if !errors.Is(err, task.ErrEnded) {
				return fmt.Errorf("second cancel: %v", err)
			}
			return nil
		},
	)
	for i, err := range errs {
		if err != nil {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if !joined.Joined || joined.Record.ID != created.Record.ID {
		t.Errorf("joined = %v %s, want the first", joined.Joined, joined.Record.ID)
	}
	if canceled.State != a2a.TaskStateCanceled || canceled.Last != 2 {
		t.Errorf("canceled = %s, event %d", canceled.State, canceled.Last)
	}
	page, err := store.List(ctx, owner, task.Query{Limit: 10, ContextID: created.Record.ContextID})
	if err != nil || page.Total != 2 || len(page.Records) != 2 {
		t.Errorf("List() = %d of %d, %v, want 2", len(page.Records), page.Total, err)
	}
	if events, err := store.Events(ctx, owner, created.Record.ID, 0); err != nil || len(events) != 2 {
		t.Errorf("Events() = %d, %v, want 2", len(events), err)
	}
}

func TestClosedStore(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	release := store.Hold(t.Context())
	waiting := make(chan error, 1)
	go func() {
		_, err := store.Create(t.Context(), newTask(local, "waits"), work.Effects{})
		waiting <- err
	}()
	for store.Waiting() == 0 {
		runtime.Gosched()
	}
	closed := make(chan error, 1)
	go func() { closed <- store.Close() }()
	release()
	if err := <-closed; err != nil {
		t.Errorf("Close() error = %v", err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("a change that waited when the store closed: error = %v", err)
	}
	ctx := t.Context()
	_, create := store.Create(ctx, newTask(local, "late"), work.Effects{})
	_, read := store.List(ctx, local, task.Query{Limit: 1})
	for _, err := range []error{create, read} {
		if !errors.Is(err, sqlite.ErrClosed) {
			t.Errorf("error = %v, want ErrClosed", err)
		}
	}
	if err := store.Close(); err != nil {
		t.Errorf("second Close() error = %v", err)
	}
}

func TestContextEndsWhileWaiting(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	release := store.Hold(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	created := newTask(local, "given up")
	waiting := make(chan error, 1)
	go func() {
		_, err := store.Create(ctx, created, work.Effects{})
		waiting <- err
	}()
	for store.Waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("Create() error = %v, want context.Canceled", err)
	}
	release()
	if _, err := store.Create(t.Context(), newTask(local, "next"), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Task(t.Context(), local, created.Record.ID); !errors.Is(err, task.ErrNotFound) {
		t.Errorf("Task() error = %v, want ErrNotFound: nobody waited for it any more", err)
	}
}

func TestCardSince(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	start := time.Date(2026, 1, 2, 3, 4, 5, 999_000, time.UTC)
	for i, c := range []struct {
		agent, digest string
		want          int // hours after the start
	}{
		{"a", "x", 0}, {"a", "x", 0}, {"b", "x", 2}, {"a", "y", 3}, {"a", "y", 3}, {"a", "x", 5}, {"b", "x", 2},
	} {
		if i == 4 {
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			store = open(t, dir, sqlite.Config{Sync: sqlite.Off})
		}
		got, err := store.CardSince(t.Context(), c.agent, c.digest, start.Add(time.Duration(i)*time.Hour))
		want := start.Add(time.Duration(c.want) * time.Hour).Truncate(time.Millisecond)
		if err != nil || !got.Equal(want) {
			t.Errorf("%d: CardSince(%s, %s) = %v, %v, want %v", i, c.agent, c.digest, got, err, want)
		}
	}
}

func TestListsUseTheirIndexes(t *testing.T) {
	plans, err := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off}).Plans(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for index, plan := range plans {
		want := "USING COVERING INDEX " + index
		if strings.Count(plan, want) != 8 || !strings.Contains(plan, "(status_ms,id)<") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("plan of %s:\n%s", index, plan)
		}
	}
	if len(plans) != 2 {
		t.Errorf("%d plans, want 2", len(plans))
	}
}

// TestEarlyRunOfAnUndoneGroup has a group fail after a run in it was told of:
// the first fence is void, the run is told of under another, and what was done
// under the first is refused.
func TestEarlyRunOfAnUndoneGroup(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	if _, err := store.Create(ctx, newTask(local, "before"), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	if err := store.LimitPages(ctx, 12); err != nil {
		t.Fatal(err)
	}
	early := newTask(local, "early")
	early.Admission = task.Admission{Claim: true, Lease: time.Minute, PerCaller: 10, Queue: 10}
	var told []task.Accepted
	early.Admission.Early = func(accepted task.Accepted) { told = append(told, accepted) }
	var accepted task.Accepted
	errs := together(t, store,
		func() (err error) { accepted, err = store.Create(ctx, early, work.Effects{}); return err },
		func() error {
			_, err := store.Create(ctx, newTask(local, strings.Repeat("too large ", 100_000)), work.Effects{})
			return err
		},
	)
	if errs[0] != nil || !errors.Is(errs[1], sqlite.ErrDiskFull) {
		t.Fatalf("errors = %v, want only that of the large one", errs)
	}
	if len(told) != 2 || told[1].Work.Fence != accepted.Work.Fence || told[0].Work.Fence == accepted.Work.Fence {
		t.Fatalf("told of %+v, want a void fence and then %+v", told, accepted.Work.Fence)
	}
	if err := store.Append(ctx, told[0].Work.Fence, completed(early.Record), work.Effects{}); !errors.Is(err, task.ErrFenced) {
		t.Errorf("Append() under the void fence: error = %v, want ErrFenced", err)
	}
	if err := store.Append(ctx, accepted.Work.Fence, completed(early.Record), work.Effects{}); err != nil {
		t.Errorf("Append() error = %v", err)
	}
}

// TestTaskIsNeverBehindAList asks for a task at the moment at which the database
// has a change of it and memory has not.
func TestTaskIsNeverBehindAList(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	accepted, err := store.Create(ctx, newTask(local, "hello"), work.Effects{})
	if err != nil {
		t.Fatal(err)
	}
	listed, read := int64(0), int64(0)
	err = store.OnCommit(ctx, func() {
		page, err := store.List(ctx, local, task.Query{Limit: 1})
		if err != nil || len(page.Records) != 1 {
			t.Errorf("List() = %d records, %v", len(page.Records), err)
			return
		}
		record, err := store.Task(ctx, local, accepted.Record.ID)
		if err != nil {
			t.Errorf("Task() error = %v", err)
		}
		listed, read = page.Records[0].Last, record.Last
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Append(ctx, accepted.Work.Fence, completed(accepted.Record), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	if err := store.OnCommit(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if listed != 3 || read != listed {
		t.Errorf("the list has event %d, the task then event %d", listed, read)
	}
}
