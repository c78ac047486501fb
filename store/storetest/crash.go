package storetest

import (
	"bytes"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var crashTests = map[string]func(*fixture){
	"keeps tasks, events, messages and totals": func(f *fixture) {
		record, events := f.story()
		created := f.fresh(alice, generous)
		running := f.create(created)
		now := f.append(running.Work.Fence, f.chunks(created.Record, "a", "b"))
		key, err := f.store.TokenKey(f.ctx())
		if err != nil {
			f.Fatal(err)
		}

		f.crash()
		f.stored(record)
		f.stored(now)
		if diff := cmp.Diff(events, f.events(record, 0)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
		f.gapless(f.events(now, 0), now.Last)
		f.lists(alice, task.Query{Limit: 1, History: true, Artifacts: true}, []task.Record{record, now})
		f.lists(alice, task.Query{Limit: 1, ContextID: now.ContextID}, []task.Record{record, now})

		again := f.fresh(alice, generous)
		again.Message = created.Message
		joined, err := f.store.Create(f.ctx(), again, none)
		if err != nil || !joined.Joined {
			f.Fatalf("Create() = joined %v, error %v: the message was forgotten", joined.Joined, err)
		}
		f.same(now, joined.Record)
		if after, err := f.store.TokenKey(f.ctx()); err != nil || !bytes.Equal(key, after) {
			f.Errorf("TokenKey() changed, error %v", err)
		}
	},

	"held work is claimed again, by a newer epoch": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.chunks(record, "half"))
		f.crash()
		f.expire()
		item := f.claimOne(record.ID)
		if item.Attempt != 2 || item.Epoch <= fence.Epoch {
			f.Errorf("claimed %+v after %+v, want the second attempt and a newer epoch", item, fence)
		}
		f.fenced(record, fence)
		f.append(item.Fence, f.status(record, a2a.TaskStateCompleted, task.End))
	},

	"queued work keeps its order and its limits": func(f *fixture) {
		var want []string
		for range 3 {
			want = append(want, string(f.create(f.fresh(alice, queued)).Record.ID))
		}
		f.crash()
		_, err := f.store.Create(f.ctx(), f.fresh(alice, task.Admission{Lease: lease, Queue: 3}), none)
		f.fails("Create() with a full queue", err, task.ErrBusy)
		want = append(want, string(f.create(f.fresh(alice, queued)).Record.ID))
		if diff := cmp.Diff(want, ids(f.claim(10, 10))); diff != "" {
			f.Errorf("claimed (-want +got):\n%s", diff)
		}
	},

	"suspended work waits on, and a wake is remembered": func(f *fixture) {
		suspended, fence := f.working(alice)
		suspended = f.append(fence, f.status(suspended, a2a.TaskStateWorking, task.Suspend))
		woken, _ := f.working(bob)
		f.affect(work.Effects{Wake: []work.Key{runOf(woken.ID)}})
		f.crash()
		f.expire()
		item := f.claimOne(woken.ID)
		f.append(item.Fence, f.status(woken, a2a.TaskStateWorking, task.Suspend))
		f.claimOne(woken.ID)
		f.affect(work.Effects{Wake: []work.Key{runOf(suspended.ID)}})
		f.claimOne(suspended.ID)
	},

	"ended and canceled work stays away": func(f *fixture) {
		f.ended(alice, a2a.TaskStateCompleted)
		record, _ := f.working(alice)
		if _, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), none); err != nil {
			f.Fatal(err)
		}
		f.crash()
		f.expire()
		f.claimNone()
	},

	"what was acknowledged to many at once is there": func(f *fixture) {
		var mu sync.Mutex
		var all []task.Record
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 10 {
					accepted, err := f.store.Create(f.ctx(), f.fresh(alice, generous, "c"), none)
					if err != nil {
						f.Errorf("Create() error = %v", err)
						return
					}
					batch := f.status(accepted.Record, a2a.TaskStateCompleted, task.End)
					if err := f.store.Append(f.ctx(), accepted.Work.Fence, batch, none); err != nil {
						f.Errorf("Append() error = %v", err)
						return
					}
					mu.Lock()
					all = append(all, batch.Record)
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		f.crash()
		for _, record := range all {
			f.stored(record)
		}
		f.lists(alice, task.Query{Limit: 30}, all)
		f.lists(alice, task.Query{Limit: 100, State: a2a.TaskStateCompleted, ContextID: "c"}, all)
	},
}
