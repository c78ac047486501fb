package storetest

import (
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var createTests = map[string]func(*fixture){
	"stores the task, its first event and its run": func(f *fixture) {
		created := f.fresh(alice, generous)
		accepted := f.create(created)
		f.same(created.Record, accepted.Record)
		f.stored(created.Record)
		if diff := cmp.Diff([]task.Event{created.Event}, f.events(created.Record, 0)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
		if accepted.Work == nil || accepted.Work.Key != runOf(created.Record.ID) || accepted.Work.Attempt != 1 {
			f.Fatalf("Work = %+v, want the first attempt of the run", accepted.Work)
		}
		held, err := f.store.Held(f.ctx(), accepted.Work.Fence)
		if err != nil {
			f.Fatalf("Held() error = %v", err)
		}
		f.same(created.Record, held)
	},

	"a claimed run is nobody else's": func(f *fixture) {
		f.working(alice)
		f.claimNone()
	},

	"an unclaimed run is claimable and signaled": func(f *fixture) {
		signaled(f.store.Ready())
		accepted := f.create(f.fresh(alice, queued))
		if accepted.Work != nil {
			f.Errorf("Work = %+v, want none", accepted.Work)
		}
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		if item := f.claimOne(accepted.Record.ID); item.Attempt != 1 {
			f.Errorf("Attempt = %d, want 1", item.Attempt)
		}
	},

	"the same message joins": func(f *fixture) {
		first := f.fresh(alice, generous)
		accepted := f.create(first)
		now := f.append(accepted.Work.Fence, f.chunks(first.Record, "a"))

		again := f.fresh(alice, generous)
		again.Message = first.Message
		joined, err := f.store.Create(f.ctx(), again, none)
		if err != nil || !joined.Joined || joined.Work != nil {
			f.Fatalf("Create() = %+v, error %v, want joined and no work", joined, err)
		}
		f.same(now, joined.Record)
		if total := f.total(alice, task.Query{}); total != 1 {
			f.Errorf("total = %d, want 1", total)
		}
		_, err = f.store.Task(f.ctx(), alice, again.Record.ID)
		f.fails("Task() of what was not stored", err, task.ErrNotFound)
	},

	"the same message joins a task that has ended": func(f *fixture) {
		first := f.fresh(alice, generous)
		accepted := f.create(first)
		end := f.append(accepted.Work.Fence, f.status(first.Record, a2a.TaskStateCompleted, task.End))
		again := f.fresh(alice, generous)
		again.Message = first.Message
		joined, err := f.store.Create(f.ctx(), again, none)
		if err != nil || !joined.Joined {
			f.Fatalf("Create() = joined %v, error %v", joined.Joined, err)
		}
		f.same(end, joined.Record)
	},

	"a message with other content is refused": func(f *fixture) {
		first := f.fresh(alice, generous)
		f.create(first)
		changed := f.fresh(alice, generous)
		changed.Message = first.Message
		changed.Message.Hash[0]++
		_, err := f.store.Create(f.ctx(), changed, none)
		f.fails("Create()", err, task.ErrMessageChanged)
		if total := f.total(alice, task.Query{}); total != 1 {
			f.Errorf("total = %d, want 1", total)
		}
	},

	"a message without an id is not deduplicated": func(f *fixture) {
		for range 2 {
			created := f.fresh(alice, generous)
			created.Message.ID = ""
			f.create(created)
		}
	},

	"message ids belong to agent and caller": func(f *fixture) {
		first := f.fresh(alice, generous)
		f.create(first)
		for _, owner := range []task.Owner{bob, other} {
			created := f.fresh(owner, generous)
			created.Message.ID = first.Message.ID
			created.Message.Hash[0]++
			f.create(created)
		}
	},

	"of the same message sent many times at once one makes a task": func(f *fixture) {
		message := f.fresh(alice, generous).Message
		var mu sync.Mutex
		var made, joined []a2a.TaskID
		var senders sync.WaitGroup
		for range 16 {
			created := f.fresh(alice, generous)
			created.Message = message
			senders.Go(func() {
				accepted, err := f.store.Create(f.ctx(), created, none)
				if err != nil {
					f.Errorf("Create() error = %v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if accepted.Joined {
					joined = append(joined, accepted.Record.ID)
				} else {
					made = append(made, accepted.Record.ID)
				}
			})
		}
		senders.Wait()
		if len(made) != 1 || len(joined) != 15 {
			f.Fatalf("%d made a task and %d joined, want 1 and 15", len(made), len(joined))
		}
		for _, id := range joined {
			if id != made[0] {
				f.Errorf("joined %s, want %s", id, made[0])
			}
		}
	},

	"a caller holds and queues so many over all agents": func(f *fixture) {
		limits := task.Admission{Claim: true, Lease: lease, PerCaller: 2, Queue: 1}
		var held []task.Accepted
		var message task.MessageKey
		for _, owner := range []task.Owner{other, alice} {
			created := f.fresh(owner, limits)
			accepted := f.create(created)
			message = created.Message
			if accepted.Work == nil {
				f.Fatal("not claimed below the limit")
			}
			held = append(held, accepted)
		}
		waiting := f.create(f.fresh(alice, limits))
		if waiting.Work != nil {
			f.Fatal("claimed above the limit")
		}
		refused := f.fresh(other, limits)
		_, err := f.store.Create(f.ctx(), refused, none)
		f.fails("Create() with a full queue", err, task.ErrBusy)
		if total := f.total(other, task.Query{}); total != 1 {
			f.Errorf("total = %d, want 1: a refused task was stored", total)
		}
		if _, found, err := f.store.Joined(f.ctx(), refused.Message); found || err != nil {
			f.Errorf("Joined() = %v, %v: a refused message was remembered", found, err)
		}
		if f.create(f.fresh(bob, limits)).Work == nil {
			f.Error("another caller was held back")
		}
		// A known message joins all the same.
		repeat := f.fresh(alice, limits)
		repeat.Message = message
		joined, err := f.store.Create(f.ctx(), repeat, none)
		if err != nil || !joined.Joined {
			f.Errorf("Create() of a known message = joined %v, error %v", joined.Joined, err)
		}
		// Room in the queue appears when the one that waited is claimed.
		f.append(held[0].Work.Fence, f.status(held[0].Record, a2a.TaskStateCompleted, task.End))
		f.claimOne(waiting.Record.ID)
		if f.create(f.fresh(alice, limits)).Work != nil {
			f.Error("claimed above the limit")
		}
	},

	"a queue without room takes none": func(f *fixture) {
		_, err := f.store.Create(f.ctx(), f.fresh(alice, task.Admission{Lease: lease, PerCaller: 1}), none)
		f.fails("Create()", err, task.ErrBusy)
	},

	"a task of that id is not replaced": func(f *fixture) {
		record, _ := f.working(alice)
		clash := f.fresh(alice, generous)
		clash.Record.ID = record.ID
		if _, err := f.store.Create(f.ctx(), clash, none); err == nil {
			f.Error("Create() with an id in use succeeded")
		}
		f.stored(record)
		if _, found, err := f.store.Joined(f.ctx(), clash.Message); found || err != nil {
			f.Errorf("Joined() = %v, %v: a refused message was remembered", found, err)
		}
		f.working(alice) // and the store goes on
		if total := f.total(alice, task.Query{}); total != 2 {
			f.Errorf("total = %d, want 2", total)
		}
	},

	"Joined finds the task of a message": func(f *fixture) {
		created := f.fresh(alice, generous)
		if _, found, err := f.store.Joined(f.ctx(), created.Message); found || err != nil {
			f.Errorf("Joined() of an unknown message = %v, %v", found, err)
		}
		f.create(created)
		record, found, err := f.store.Joined(f.ctx(), created.Message)
		if err != nil || !found {
			f.Fatalf("Joined() = %v, %v, want found", found, err)
		}
		f.same(created.Record, record)
		changed := created.Message
		changed.Hash[5]++
		_, _, err = f.store.Joined(f.ctx(), changed)
		f.fails("Joined() with other content", err, task.ErrMessageChanged)
		for _, owner := range []task.Owner{bob, other} {
			foreign := created.Message
			foreign.Owner = owner
			if _, found, err := f.store.Joined(f.ctx(), foreign); found || err != nil {
				f.Errorf("Joined() of %v = %v, %v, want not found", owner, found, err)
			}
		}
		if _, found, err := f.store.Joined(f.ctx(), task.MessageKey{Owner: alice}); found || err != nil {
			f.Errorf("Joined() without an id = %v, %v, want not found", found, err)
		}
	},

	"effects come with the task or not at all": func(f *fixture) {
		victim, fence := f.working(bob)
		effects := work.Effects{Cancel: []work.Key{runOf(victim.ID)}}
		_, err := f.store.Create(f.ctx(), f.fresh(alice, task.Admission{}), effects)
		f.fails("Create()", err, task.ErrBusy)
		if _, err := f.store.Held(f.ctx(), fence); err != nil {
			f.Fatalf("Held() error = %v: a refused change had effects", err)
		}
		if _, err := f.store.Create(f.ctx(), f.fresh(alice, generous), effects); err != nil {
			f.Fatal(err)
		}
		_, err = f.store.Held(f.ctx(), fence)
		f.fails("Held() of a canceled key", err, task.ErrFenced)
	},
}
