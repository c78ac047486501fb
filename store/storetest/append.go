package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var appendTests = map[string]func(*fixture){
	"stores the task and its events": func(f *fixture) {
		record, fence := f.working(alice)
		var want []task.Event
		for _, texts := range [][]string{{"a"}, {"b", "c", "d"}, {"e"}} {
			batch := f.chunks(record, texts...)
			want = append(want, batch.Events...)
			record = f.append(fence, batch)
			f.stored(record)
		}
		f.clock.advance(time.Second)
		end := f.status(record, a2a.TaskStateCompleted, task.End)
		record = f.append(fence, end)
		f.stored(record)
		if diff := cmp.Diff(append(want, end.Events...), f.events(record, 1)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
	},

	"a batch without events changes the task": func(f *fixture) {
		record, fence := f.working(alice)
		batch := task.Batch{Record: record}
		batch.Record.Metadata = []byte(`{"more":[1,2]}`)
		f.stored(f.append(fence, batch))
	},

	"Hold keeps the fence": func(f *fixture) {
		record, fence := f.working(alice)
		f.append(fence, f.status(record, a2a.TaskStateWorking, task.Hold))
		if _, err := f.store.Held(f.ctx(), fence); err != nil {
			f.Errorf("Held() error = %v", err)
		}
		f.claimNone()
	},

	"End voids the fence and removes the work": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.status(record, a2a.TaskStateInputRequired, task.End))
		f.fenced(record, fence)
		f.expire()
		f.claimNone()
	},

	"Suspend voids the fence and waits": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		f.fenced(record, fence)
		f.expire()
		f.claimNone()
	},

	"a suspended run does not count as held or queued": func(f *fixture) {
		limits := task.Admission{Claim: true, Lease: lease, PerCaller: 1}
		first := f.create(f.fresh(alice, limits))
		f.append(first.Work.Fence, f.status(first.Record, a2a.TaskStateWorking, task.Suspend))
		if f.create(f.fresh(alice, limits)).Work == nil {
			f.Error("a suspended run held another one back")
		}
	},

	"a run that was claimed again is fenced off": func(f *fixture) {
		record, fence := f.working(alice)
		f.expire()
		item := f.claimOne(record.ID)
		f.fenced(record, fence)
		f.append(item.Fence, f.chunks(record, "by the second"))
	},

	"a lease that ran out alone voids nothing": func(f *fixture) {
		record, fence := f.working(alice)
		f.expire()
		f.append(fence, f.chunks(record, "late, but nobody else came"))
	},

	"a released run is fenced off": func(f *fixture) {
		record, fence := f.working(alice)
		if err := f.store.Release(f.ctx(), []work.Fence{fence}); err != nil {
			f.Fatal(err)
		}
		f.fenced(record, fence)
	},

	"a canceled run is fenced off": func(f *fixture) {
		record, fence := f.working(alice)
		canceled, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), none)
		if err != nil {
			f.Fatal(err)
		}
		f.fenced(canceled, fence)
	},

	"a fence of another epoch or task is void": func(f *fixture) {
		record, fence := f.working(alice)
		_, foreign := f.working(alice)
		f.fenced(record, work.Fence{Key: fence.Key, Epoch: fence.Epoch + 1000})
		f.fenced(record, work.Fence{Key: fence.Key})
		f.fenced(record, work.Fence{Key: work.Key{Kind: "delegation", ID: fence.ID}, Epoch: fence.Epoch})
		err := f.store.Append(f.ctx(), foreign, f.chunks(record, "x"), none)
		f.fails("Append() with another task's fence", err, task.ErrFenced)
		f.stored(record)
	},

	"events that leave a gap or repeat are refused": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.chunks(record, "a", "b"))
		for name, change := range map[string]func(*task.Batch){
			"gap":         func(b *task.Batch) { b.Events[0].Number++; b.Record.Last++ },
			"repeat":      func(b *task.Batch) { b.Events[0].Number--; b.Record.Last-- },
			"wrong last":  func(b *task.Batch) { b.Record.Last++ },
			"no events":   func(b *task.Batch) { b.Events = nil },
			"wrong state": func(b *task.Batch) { b.Record.State = "TASK_STATE_DREAMING" },
		} {
			batch := f.chunks(record, "c")
			change(&batch)
			if err := f.store.Append(f.ctx(), fence, batch, none); err == nil {
				f.Errorf("%s: Append() succeeded", name)
			}
		}
		f.stored(record)
		f.append(fence, f.chunks(record, "c"))
	},

	"the totals follow the states": func(f *fixture) {
		record, fence := f.working(alice)
		walk := []a2a.TaskState{a2a.TaskStateWorking, a2a.TaskStateWorking, a2a.TaskStateAuthRequired}
		for i, state := range walk {
			then := task.Hold
			if i == len(walk)-1 {
				then = task.End
			}
			record = f.append(fence, f.status(record, state, then))
			for _, of := range []a2a.TaskState{a2a.TaskStateSubmitted, a2a.TaskStateWorking, a2a.TaskStateAuthRequired} {
				want := int64(0)
				if of == state {
					want = 1
				}
				if got := f.total(alice, task.Query{State: of, ContextID: record.ContextID}); got != want {
					f.Errorf("in state %s: total of %s = %d, want %d", state, of, got, want)
				}
			}
		}
	},
	"effects come with the batch or not at all": func(f *fixture) {
		record, fence := f.working(alice)
		_, victim := f.working(bob)
		effects := work.Effects{Cancel: []work.Key{victim.Key}}
		err := f.store.Append(f.ctx(), work.Fence{Key: fence.Key}, f.chunks(record, "x"), effects)
		f.fails("Append()", err, task.ErrFenced)
		if _, err := f.store.Held(f.ctx(), victim); err != nil {
			f.Fatalf("Held() error = %v: a refused change had effects", err)
		}
		if err := f.store.Append(f.ctx(), fence, f.chunks(record, "x"), effects); err != nil {
			f.Fatal(err)
		}
		_, err = f.store.Held(f.ctx(), victim)
		f.fails("Held() of a canceled key", err, task.ErrFenced)
	},
}

// fenced makes sure that a fence is void, and that trying it changes nothing.
func (f *fixture) fenced(record task.Record, fence work.Fence) {
	f.Helper()
	f.fails("Append()", f.store.Append(f.ctx(), fence, f.chunks(record, "late"), none), task.ErrFenced)
	_, err := f.store.Held(f.ctx(), fence)
	f.fails("Held()", err, task.ErrFenced)
	lost, err := f.store.Renew(f.ctx(), lease, []work.Fence{fence})
	if err != nil || !slices.Contains(lost, fence.Key) {
		f.Errorf("Renew() = %v, %v, want the key as lost", lost, err)
	}
	f.stored(record)
}

var cancelTests = map[string]func(*fixture){
	"ends the task as the rule says": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.status(record, a2a.TaskStateWorking, task.Hold))
		f.clock.advance(time.Minute)
		want, events, err := record.Canceled(f.clock.Now())
		if err != nil {
			f.Fatal(err)
		}
		got, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), none)
		if err != nil {
			f.Fatalf("Cancel() error = %v", err)
		}
		f.same(want, got)
		f.stored(want)
		if diff := cmp.Diff(events, f.events(want, record.Last)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
		f.expire()
		f.claimNone()
		if n := f.total(alice, task.Query{State: a2a.TaskStateCanceled}); n != 1 {
			f.Errorf("canceled = %d, want 1", n)
		}
	},

	"removes work that was queued, suspended or waits for its caller": func(f *fixture) {
		queuedTask := f.create(f.fresh(alice, queued)).Record
		suspended, fence := f.working(alice)
		suspended = f.append(fence, f.status(suspended, a2a.TaskStateWorking, task.Suspend))
		for _, r := range []task.Record{queuedTask, suspended, f.asking(alice)} {
			if _, err := f.store.Cancel(f.ctx(), alice, r.ID, f.clock.Now(), work.Effects{Wake: []work.Key{runOf(r.ID)}}); err != nil {
				f.Fatalf("Cancel() error = %v", err)
			}
		}
		f.claimNone()
		full := task.Admission{Lease: lease, Queue: 1}
		f.create(f.fresh(alice, full)) // what was queued left its place
	},

	"makes room for another run of the caller": func(f *fixture) {
		limits := task.Admission{Claim: true, Lease: lease, PerCaller: 1, Queue: 1}
		held := f.create(f.fresh(alice, limits))
		waiting := f.create(f.fresh(alice, limits))
		signaled(f.store.Ready())
		if _, err := f.store.Cancel(f.ctx(), alice, held.Record.ID, f.clock.Now(), none); err != nil {
			f.Fatal(err)
		}
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		f.claimOne(waiting.Record.ID)
	},

	"an ended task stays as it ended": func(f *fixture) {
		for _, state := range []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateRejected, a2a.TaskStateCanceled} {
			record := f.ended(alice, state)
			_, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), none)
			f.fails("Cancel()", err, task.ErrEnded)
			f.stored(record)
		}
	},

	"another owner's task does not exist": func(f *fixture) {
		record, fence := f.working(alice)
		for _, owner := range []task.Owner{bob, other} {
			_, err := f.store.Cancel(f.ctx(), owner, record.ID, f.clock.Now(), none)
			f.fails("Cancel()", err, task.ErrNotFound)
		}
		_, err := f.store.Cancel(f.ctx(), alice, "unknown", f.clock.Now(), none)
		f.fails("Cancel() of an unknown task", err, task.ErrNotFound)
		f.append(fence, f.chunks(record, "still here"))
	},

	"effects come with the end or not at all": func(f *fixture) {
		parent, fence := f.working(bob)
		f.append(fence, f.status(parent, a2a.TaskStateWorking, task.Suspend))
		record, _ := f.working(alice)
		effects := work.Effects{Wake: []work.Key{runOf(parent.ID)}}
		_, err := f.store.Cancel(f.ctx(), bob, record.ID, f.clock.Now(), effects)
		f.fails("Cancel()", err, task.ErrNotFound)
		f.claimNone()
		if _, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), effects); err != nil {
			f.Fatal(err)
		}
		f.claimOne(parent.ID)
	},
}
