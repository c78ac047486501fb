package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// budget is limits of so many tasks a day and nothing else.
func budget(tasks int64) quota.Limits {
	return quota.Limits{
		Requests: quota.None, Concurrent: quota.None,
		Day: quota.Amount{Tasks: tasks, Tokens: quota.None, Cost: quota.None},
	}
}

// hold is the effect that holds an amount for a task.
func (f *fixture) hold(r task.Record, amount quota.Amount, limits quota.Limits) work.Effects {
	return work.Effects{Hold: &quota.Hold{ID: string(r.ID), Caller: r.Owner.Caller, At: f.clock.Now(), Amount: amount, Limits: limits}}
}

func settle(r task.Record, used quota.Amount) work.Effects {
	return work.Effects{Settle: []quota.Use{{ID: string(r.ID), Amount: used}}}
}

// admitted is a task under way for which an amount is held.
func (f *fixture) admitted(owner task.Owner, amount quota.Amount, limits quota.Limits) (task.Record, work.Fence) {
	f.Helper()
	created := f.fresh(owner, generous)
	accepted, err := f.store.Create(f.ctx(), created, f.hold(created.Record, amount, limits))
	if err != nil {
		f.Fatalf("Create() error = %v", err)
	}
	return accepted.Record, accepted.Work.Fence
}

// ends ends a task that is under way.
func (f *fixture) ends(r task.Record, fence work.Fence, state a2a.TaskState, effects work.Effects) {
	f.Helper()
	if err := f.store.Append(f.ctx(), fence, f.status(r, state, task.End), effects); err != nil {
		f.Fatalf("Append() error = %v", err)
	}
}

// refusedBy makes sure that a task is not admitted, and returns why.
func (f *fixture) refusedBy(owner task.Owner, amount quota.Amount, limits quota.Limits) *quota.ExceededError {
	f.Helper()
	created := f.fresh(owner, generous)
	_, err := f.store.Create(f.ctx(), created, f.hold(created.Record, amount, limits))
	exceeded, ok := errors.AsType[*quota.ExceededError](err)
	if !ok || !errors.Is(err, quota.ErrExceeded) {
		f.Fatalf("Create() error = %v, want an ExceededError", err)
	}
	if _, err := f.store.Task(f.ctx(), owner, created.Record.ID); !errors.Is(err, task.ErrNotFound) {
		f.Errorf("Task() of what was refused: error = %v, want ErrNotFound", err)
	}
	return exceeded
}

// counted makes sure of what is counted of a caller's day.
func (f *fixture) counted(caller string, at time.Time, want quota.Counters) {
	f.Helper()
	got, err := f.store.Counted(f.ctx(), caller, quota.DayOf(at))
	if err != nil {
		f.Fatalf("Counted() error = %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("counters of %s (-want +got):\n%s", caller, diff)
	}
}

// race lets so many ask at once and returns how many are admitted.
func (f *fixture) race(contenders int, owner task.Owner, limits quota.Limits) int {
	f.Helper()
	var admitted atomic.Int64
	var callers sync.WaitGroup
	start := make(chan struct{})
	for range contenders {
		created := f.fresh(owner, generous)
		effects := f.hold(created.Record, quota.Amount{Tasks: 1}, limits)
		callers.Go(func() {
			<-start
			switch _, err := f.store.Create(f.ctx(), created, effects); {
			case err == nil:
				admitted.Add(1)
			case !errors.Is(err, quota.ErrExceeded):
				f.Errorf("Create() error = %v, want ErrExceeded", err)
			}
		})
	}
	close(start)
	callers.Wait()
	return int(admitted.Load())
}

var one = quota.Amount{Tasks: 1}

var quotaTests = map[string]func(*fixture){
	"64 at once and a budget of 10 admit 10, and after a restart none": func(f *fixture) {
		if admitted := f.race(64, alice, budget(10)); admitted != 10 {
			f.Errorf("%d admitted, want 10", admitted)
		}
		if total := f.total(alice, task.Query{}); total != 10 {
			f.Errorf("%d tasks were stored, want 10", total)
		}
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 10, Held: quota.Amount{Tasks: 10}})
		f.reopen()
		if admitted := f.race(64, alice, budget(10)); admitted != 0 {
			f.Errorf("%d admitted after a restart, want none", admitted)
		}
		if admitted := f.race(64, alice, budget(13)); admitted != 3 {
			f.Errorf("%d admitted to what is left, want 3", admitted)
		}
	},

	"64 at once on a restarted store admit 10": func(f *fixture) {
		f.reopen()
		if admitted := f.race(64, alice, budget(10)); admitted != 10 {
			f.Errorf("%d admitted, want 10", admitted)
		}
	},

	"what was held and used outlives a crash": func(f *fixture) {
		ended, fence := f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 50, Cost: 7}, budget(10))
		f.ends(ended, fence, a2a.TaskStateCompleted, settle(ended, quota.Amount{Tasks: 1, Tokens: 30, Cost: 4}))
		running, _ := f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 20, Cost: 2}, budget(10))
		want := quota.Counters{
			Open: 1, Held: quota.Amount{Tasks: 1, Tokens: 20, Cost: 2},
			Used: quota.Amount{Tasks: 1, Tokens: 30, Cost: 4},
		}
		f.counted(alice.Caller, f.clock.Now(), want)
		f.crash()
		f.counted(alice.Caller, f.clock.Now(), want)
		f.refusedBy(alice, one, budget(2))

		f.expire()
		item := f.claimOne(running.ID)
		f.ends(running, item.Fence, a2a.TaskStateFailed, work.Effects{Settle: []quota.Use{quota.Return(string(running.ID))}})
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Used: want.Used})
		f.crash()
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Used: want.Used})
	},

	"an end settles, and what was not used is free again": func(f *fixture) {
		limits := quota.Limits{Day: quota.Amount{Tokens: 100}}
		record, fence := f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 80}, limits)
		f.refusedBy(alice, quota.Amount{Tasks: 1, Tokens: 30}, limits)
		f.ends(record, fence, a2a.TaskStateCompleted, settle(record, quota.Amount{Tasks: 1, Tokens: 60}))
		f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 40}, limits)
		f.refusedBy(alice, quota.Amount{Tasks: 1, Tokens: 1}, limits)
	},

	"a failure returns everything": func(f *fixture) {
		record, fence := f.admitted(alice, one, budget(1))
		f.refusedBy(alice, one, budget(1))
		f.ends(record, fence, a2a.TaskStateFailed, work.Effects{Settle: []quota.Use{quota.Return(string(record.ID))}})
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{})
		f.admitted(alice, one, budget(1))
	},

	"a cancellation settles": func(f *fixture) {
		record, _ := f.admitted(alice, one, budget(1))
		if _, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), settle(record, one)); err != nil {
			f.Fatal(err)
		}
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Used: one})
	},

	"who used more than was held waits for the next day": func(f *fixture) {
		limits := quota.Limits{Day: quota.Amount{Tokens: 100}}
		record, fence := f.admitted(alice, quota.Amount{Tokens: 10}, limits)
		f.ends(record, fence, a2a.TaskStateCompleted, settle(record, quota.Amount{Tokens: 101}))
		exceeded := f.refusedBy(alice, quota.Amount{}, limits)
		midnight := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
		if !exceeded.Again.Equal(midnight) {
			f.Errorf("again at %v, want %v", exceeded.Again, midnight)
		}
		f.clock.advance(midnight.Sub(f.clock.Now()) - time.Nanosecond)
		f.refusedBy(alice, quota.Amount{}, limits)
		f.clock.advance(time.Nanosecond)
		f.admitted(alice, quota.Amount{Tokens: 100}, limits)
	},

	"a turn over midnight counts for the day it began": func(f *fixture) {
		yesterday := f.clock.Now()
		record, fence := f.admitted(alice, one, budget(1))
		f.clock.advance(24 * time.Hour)
		today := f.clock.Now()
		other, _ := f.admitted(alice, one, budget(1))
		f.refusedBy(alice, one, budget(1))
		f.counted(alice.Caller, yesterday, quota.Counters{Open: 2, Held: one})
		f.counted(alice.Caller, today, quota.Counters{Open: 2, Held: one})
		f.reopen()
		f.expire()
		for _, item := range f.claim(10, 10) {
			if item.ID == string(record.ID) {
				fence = item.Fence
			}
		}
		f.ends(record, fence, a2a.TaskStateCompleted, settle(record, one))
		f.counted(alice.Caller, yesterday, quota.Counters{Open: 1, Used: one})
		f.counted(alice.Caller, today, quota.Counters{Open: 1, Held: one})
		if _, err := f.store.Cancel(f.ctx(), alice, other.ID, today, work.Effects{Settle: []quota.Use{quota.Return(string(other.ID))}}); err != nil {
			f.Fatal(err)
		}
		f.counted(alice.Caller, today, quota.Counters{})
	},

	"a turn of yesterday ends while one of today begins": func(f *fixture) {
		yesterday := f.clock.Now()
		owners := make([]task.Owner, 32)
		ended := make([]task.Record, len(owners))
		for i := range owners {
			owners[i] = task.Owner{Agent: "default", Caller: numbered("caller", i)}
			ended[i], _ = f.admitted(owners[i], one, budget(1))
		}
		f.clock.advance(24 * time.Hour)
		var changes sync.WaitGroup
		for i, owner := range owners {
			changes.Go(func() {
				if _, err := f.store.Cancel(f.ctx(), owner, ended[i].ID, f.clock.Now(), settle(ended[i], one)); err != nil {
					f.Errorf("Cancel() error = %v", err)
				}
			})
			begun := f.fresh(owner, generous)
			effects := f.hold(begun.Record, one, budget(1))
			changes.Go(func() {
				if _, err := f.store.Create(f.ctx(), begun, effects); err != nil {
					f.Errorf("Create() error = %v", err)
				}
			})
		}
		changes.Wait()
		f.reopen()
		for _, owner := range owners {
			f.counted(owner.Caller, yesterday, quota.Counters{Open: 1, Used: one})
			f.counted(owner.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: one})
		}
	},

	"a turn that begins where another ends counts for its own day": func(f *fixture) {
		yesterday := f.clock.Now()
		record, fence := f.admitted(alice, one, budget(1))
		f.clock.advance(24 * time.Hour)
		effects := f.hold(record, one, budget(1))
		effects.Settle = settle(record, one).Settle
		batch := f.chunks(record, "a")
		if err := f.store.Append(f.ctx(), fence, batch, effects); err != nil {
			f.Fatalf("Append() error = %v", err)
		}
		for range 2 {
			f.counted(alice.Caller, yesterday, quota.Counters{Open: 1, Used: one})
			f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: one})
			f.reopen()
		}
	},

	"so many at once, over all agents and days": func(f *fixture) {
		limits := quota.Limits{Concurrent: 2}
		first, fence := f.admitted(alice, one, limits)
		f.clock.advance(24 * time.Hour)
		f.admitted(other, one, limits)
		if exceeded := f.refusedBy(alice, one, limits); !exceeded.Again.IsZero() {
			f.Errorf("again at %v, want whenever one has ended", exceeded.Again)
		}
		f.ends(first, fence, a2a.TaskStateCompleted, settle(first, one))
		f.admitted(alice, one, limits)
	},

	"callers do not share": func(f *fixture) {
		f.admitted(alice, one, budget(1))
		f.admitted(bob, one, budget(1))
		f.refusedBy(other, one, budget(1)) // alice, with another agent
	},

	"a known message joins, however little is left": func(f *fixture) {
		created := f.fresh(alice, generous)
		if _, err := f.store.Create(f.ctx(), created, f.hold(created.Record, one, budget(1))); err != nil {
			f.Fatal(err)
		}
		again := f.fresh(alice, generous)
		again.Message = created.Message
		for _, limits := range []quota.Limits{budget(1), budget(5)} {
			joined, err := f.store.Create(f.ctx(), again, f.hold(again.Record, one, limits))
			if err != nil || !joined.Joined {
				f.Fatalf("Create() = joined %v, error %v", joined.Joined, err)
			}
		}
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: one})
	},

	"a change that is refused holds nothing": func(f *fixture) {
		created := f.fresh(alice, task.Admission{Lease: lease})
		_, err := f.store.Create(f.ctx(), created, f.hold(created.Record, one, budget(1)))
		f.fails("Create() without a place in the queue", err, task.ErrBusy)
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{})
		f.admitted(alice, one, budget(1))
	},

	"a change that broke holds nothing, nor do those beside it": func(f *fixture) {
		record, _ := f.admitted(alice, one, budget(10))
		clash := f.fresh(alice, generous)
		clash.Record.ID = record.ID // the store finds out when it writes
		effects := f.hold(f.fresh(alice, generous).Record, one, budget(10))
		if _, err := f.store.Create(f.ctx(), clash, effects); err == nil {
			f.Fatal("Create() with an id in use succeeded")
		}
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: one})
	},

	"a turn that continues a task is admitted too": func(f *fixture) {
		limits := quota.Limits{Day: quota.Amount{Tokens: 100}}
		record, fence := f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 50}, limits)
		batch := f.status(record, a2a.TaskStateInputRequired, task.End)
		if err := f.store.Append(f.ctx(), fence, batch, settle(record, quota.Amount{Tasks: 1, Tokens: 50})); err != nil {
			f.Fatal(err)
		}
		asking := batch.Record
		_, err := f.store.Continue(f.ctx(), f.answer(asking, generous), f.hold(asking, quota.Amount{Tokens: 51}, limits))
		f.fails("Continue()", err, quota.ErrExceeded)
		f.stored(asking)
		next := f.answer(asking, generous)
		if _, err := f.store.Continue(f.ctx(), next, f.hold(asking, quota.Amount{Tokens: 50}, limits)); err != nil {
			f.Fatal(err)
		}
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{
			Open: 1, Held: quota.Amount{Tokens: 50}, Used: quota.Amount{Tasks: 1, Tokens: 50},
		})
	},

	"a turn may hold more while it goes on": func(f *fixture) {
		limits := quota.Limits{Concurrent: 1, Day: quota.Amount{Tokens: 100}}
		record, fence := f.admitted(alice, quota.Amount{Tasks: 1, Tokens: 50}, limits)
		batch := f.chunks(record, "a")
		if err := f.store.Append(f.ctx(), fence, batch, f.hold(record, quota.Amount{Tokens: 50}, limits)); err != nil {
			f.Fatal(err)
		}
		record = batch.Record
		err := f.store.Append(f.ctx(), fence, f.chunks(record, "b"), f.hold(record, quota.Amount{Tokens: 1}, limits))
		f.fails("Append()", err, quota.ErrExceeded)
		f.stored(record)
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: quota.Amount{Tasks: 1, Tokens: 100}})
		f.reopen()
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Open: 1, Held: quota.Amount{Tasks: 1, Tokens: 100}})
	},

	"settling twice counts once, and what was never held not at all": func(f *fixture) {
		record, _ := f.admitted(alice, one, budget(10))
		f.affect(settle(record, one))
		f.affect(settle(record, one))
		f.affect(work.Effects{Settle: []quota.Use{{ID: "nobody's", Amount: one}}})
		f.counted(alice.Caller, f.clock.Now(), quota.Counters{Used: one})
	},

	"what nobody could settle or gives back too much is refused": func(f *fixture) {
		for _, effects := range []work.Effects{
			{Hold: &quota.Hold{Caller: "alice"}},
			{Hold: &quota.Hold{ID: "x"}},
			{Hold: &quota.Hold{ID: "x", Caller: "alice", Amount: quota.Amount{Tokens: -1}}},
			{Settle: []quota.Use{{ID: "x", Amount: quota.Amount{Cost: -1}}}},
		} {
			if _, err := f.store.Create(f.ctx(), f.fresh(alice, generous), effects); err == nil {
				f.Errorf("Create() with %+v succeeded", effects)
			}
		}
		record, fence := f.admitted(alice, one, budget(10))
		theirs := f.hold(record, one, budget(10))
		theirs.Hold.Caller = bob.Caller
		if err := f.store.Append(f.ctx(), fence, f.chunks(record, "a"), theirs); err == nil {
			f.Error("Append() holds for another caller under the same id")
		}
	},

	"most of the day is forgotten when it is over, and what was used is not": func(f *fixture) {
		yesterday := f.clock.Now()
		record, fence := f.admitted(alice, one, budget(10))
		f.ends(record, fence, a2a.TaskStateCompleted, settle(record, one))
		f.clock.advance(24 * time.Hour)
		f.admitted(alice, one, budget(10))
		f.counted(alice.Caller, yesterday, quota.Counters{Open: 1, Used: one})
		f.refusedBy(alice, one, budget(1))
	},
}
