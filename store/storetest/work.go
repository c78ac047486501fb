package storetest

import (
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var workTests = map[string]func(*fixture){
	"claims are oldest first and limited": func(f *fixture) {
		var want []string
		for range 5 {
			want = append(want, string(f.create(f.fresh(alice, queued)).Record.ID))
		}
		if diff := cmp.Diff(want[:2], ids(f.claim(2, 10))); diff != "" {
			f.Errorf("first claim (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[2:], ids(f.claim(10, 10))); diff != "" {
			f.Errorf("second claim (-want +got):\n%s", diff)
		}
		f.claimNone()
	},

	"a claim without room takes nothing": func(f *fixture) {
		f.create(f.fresh(alice, queued))
		if items := f.claim(0, 10); len(items) != 0 {
			f.Errorf("Claim(limit 0) = %v", items)
		}
		if items := f.claim(10, 0); len(items) != 0 {
			f.Errorf("Claim(per group 0) = %v", items)
		}
	},

	"other kinds stay where they are": func(f *fixture) {
		f.create(f.fresh(alice, queued))
		items, err := f.store.Claim(f.ctx(), work.Query{Kind: "delegation", Limit: 5, PerGroup: 5, Lease: lease})
		if err != nil || len(items) != 0 {
			f.Errorf("Claim() = %v, %v, want nothing", items, err)
		}
	},

	"a group holds so many, and others pass by": func(f *fixture) {
		held, _ := f.working(alice) // counts, though it was not claimed here
		var first, second []string
		for range 3 {
			first = append(first, string(f.create(f.fresh(other, queued)).Record.ID))
		}
		for range 2 {
			second = append(second, string(f.create(f.fresh(bob, queued)).Record.ID))
		}
		got := ids(f.claim(10, 2))
		if diff := cmp.Diff([]string{first[0], second[0], second[1]}, got); diff != "" {
			f.Errorf("claimed (-want +got):\n%s", diff)
		}
		if items := f.claim(10, 2); len(items) != 0 {
			f.Errorf("Claim() = %v, want nothing: both are at their limit", items)
		}
		signaled(f.store.Ready())
		if _, err := f.store.Cancel(f.ctx(), alice, held.ID, f.clock.Now(), none); err != nil {
			f.Fatal(err)
		}
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled when a group got room")
		}
		if diff := cmp.Diff(first[1:2], ids(f.claim(10, 2))); diff != "" {
			f.Errorf("claimed after room (-want +got):\n%s", diff)
		}
	},

	"many claimers share without overlap": func(f *fixture) {
		const n = 40
		for i := range n {
			owner := task.Owner{Agent: "a", Caller: numbered("c", i%5)}
			f.create(f.fresh(owner, queued))
		}
		var mu sync.Mutex
		seen := map[string]int{}
		var claimers sync.WaitGroup
		for range 4 {
			claimers.Go(func() {
				for {
					items, err := f.store.Claim(f.ctx(), work.Query{Kind: work.KindRun, Limit: 3, PerGroup: n, Lease: lease})
					if err != nil {
						f.Errorf("Claim() error = %v", err)
						return
					}
					if len(items) == 0 {
						return
					}
					mu.Lock()
					for _, item := range items {
						seen[item.ID]++
					}
					mu.Unlock()
				}
			})
		}
		claimers.Wait()
		if len(seen) != n {
			f.Errorf("%d runs claimed, want %d", len(seen), n)
		}
		for id, times := range seen {
			if times != 1 {
				f.Errorf("run %s claimed %d times", id, times)
			}
		}
	},

	"a claimed run can be read and written": func(f *fixture) {
		created := f.create(f.fresh(alice, queued))
		item := f.claimOne(created.Record.ID)
		record, err := f.store.Held(f.ctx(), item.Fence)
		if err != nil {
			f.Fatalf("Held() error = %v", err)
		}
		f.same(created.Record, record)
		f.append(item.Fence, f.status(record, a2a.TaskStateCompleted, task.End))
		f.expire()
		f.claimNone()
	},

	"a lease that ran out can be taken, with a newer epoch": func(f *fixture) {
		record, fence := f.working(alice)
		last := fence.Epoch
		for attempt := 2; attempt <= 4; attempt++ {
			f.clock.advance(lease - time.Second)
			f.claimNone()
			f.clock.advance(2 * time.Second)
			item := f.claimOne(record.ID)
			if item.Attempt != attempt || item.Epoch <= last {
				f.Errorf("claimed attempt %d with epoch %d after %d, want attempt %d and a newer epoch", item.Attempt, item.Epoch, last, attempt)
			}
			last = item.Epoch
		}
		f.fenced(record, fence)
	},

	"a run whose lease ran out counts once in its group": func(f *fixture) {
		record, _ := f.working(alice)
		waiting := f.create(f.fresh(alice, queued)).Record
		f.expire()
		if diff := cmp.Diff([]string{string(record.ID)}, ids(f.claim(10, 1))); diff != "" {
			f.Errorf("claimed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{string(waiting.ID)}, ids(f.claim(10, 2))); diff != "" {
			f.Errorf("claimed (-want +got):\n%s", diff)
		}
	},

	"Renew prolongs a lease": func(f *fixture) {
		record, fence := f.working(alice)
		for range 3 {
			f.clock.advance(lease - time.Second)
			lost, err := f.store.Renew(f.ctx(), lease, []work.Fence{fence})
			if err != nil || len(lost) != 0 {
				f.Fatalf("Renew() = %v, %v", lost, err)
			}
		}
		f.claimNone()
		f.append(fence, f.chunks(record, "still mine"))
	},

	"Renew keeps a hold whose lease ran out, as long as nobody claimed it": func(f *fixture) {
		record, fence := f.working(alice)
		f.clock.advance(time.Hour) // the machine slept
		lost, err := f.store.Renew(f.ctx(), lease, []work.Fence{fence})
		if err != nil || len(lost) != 0 {
			f.Fatalf("Renew() = %v, %v, want it kept", lost, err)
		}
		f.claimNone()
		record = f.append(fence, f.chunks(record, "still mine"))
		f.expire()
		f.claimOne(record.ID)
		f.fenced(record, fence)
	},

	"Renew returns what was lost and keeps the rest": func(f *fixture) {
		_, kept := f.working(alice)
		ended, lost1 := f.working(alice)
		f.append(lost1, f.status(ended, a2a.TaskStateCompleted, task.End))
		stale := kept
		stale.Epoch--
		unknown := work.Fence{Key: runOf("unknown"), Epoch: 1}
		f.clock.advance(lease - time.Second)
		lost, err := f.store.Renew(f.ctx(), lease, []work.Fence{kept, lost1, unknown})
		if err != nil || !slices.Equal(lost, []work.Key{lost1.Key, unknown.Key}) {
			f.Errorf("Renew() = %v, %v, want the two that are void", lost, err)
		}
		if lost, err := f.store.Renew(f.ctx(), lease, []work.Fence{stale}); err != nil || len(lost) != 1 {
			f.Errorf("Renew() of an old epoch = %v, %v, want it lost", lost, err)
		}
		if lost, err := f.store.Renew(f.ctx(), lease, nil); err != nil || len(lost) != 0 {
			f.Errorf("Renew() of nothing = %v, %v", lost, err)
		}
		f.clock.advance(2 * time.Second)
		f.claimNone()
	},

	"a released run is claimable at once": func(f *fixture) {
		record, fence := f.working(alice)
		later := f.create(f.fresh(alice, queued)).Record
		signaled(f.store.Ready())
		void := fence
		void.Epoch++
		if err := f.store.Release(f.ctx(), []work.Fence{void, {Key: runOf("unknown")}}); err != nil {
			f.Fatalf("Release() of void fences: error = %v", err)
		}
		if _, err := f.store.Held(f.ctx(), fence); err != nil {
			f.Fatalf("Held() error = %v: a void fence released", err)
		}
		if err := f.store.Release(f.ctx(), []work.Fence{fence}); err != nil {
			f.Fatalf("Release() error = %v", err)
		}
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		items := f.claim(10, 10)
		if diff := cmp.Diff([]string{string(record.ID), string(later.ID)}, ids(items)); diff != "" {
			f.Fatalf("claimed (-want +got):\n%s", diff)
		}
		if items[0].Attempt != 2 || items[0].Epoch <= fence.Epoch {
			f.Errorf("claimed %+v after %+v, want the second attempt and a newer epoch", items[0], fence)
		}
	},

	"epochs rise over restarts": func(f *fixture) {
		record, fence := f.working(alice)
		last := fence.Epoch
		for range 3 {
			f.expire()
			f.reopen()
			item := f.claimOne(record.ID)
			if item.Epoch <= last {
				f.Errorf("epoch %d after %d", item.Epoch, last)
			}
			f.fenced(record, fence)
			fence, last = item.Fence, item.Epoch
		}
	},
}

var effectTests = map[string]func(*fixture){
	"Wake makes a suspended run claimable, as new work": func(f *fixture) {
		record, fence := f.working(alice)
		f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		signaled(f.store.Ready())
		f.affect(work.Effects{Wake: []work.Key{runOf(record.ID)}})
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		if item := f.claimOne(record.ID); item.Attempt != 1 || item.Epoch <= fence.Epoch {
			f.Errorf("claimed %+v after %+v, want a first attempt and a newer epoch", item, fence)
		}
	},

	"Wake of a held run is found when it suspends": func(f *fixture) {
		record, fence := f.working(alice)
		wake := work.Effects{Wake: []work.Key{runOf(record.ID)}}
		f.affect(wake)
		f.affect(wake) // more of the same
		f.claimNone()
		record = f.append(fence, f.chunks(record, "still held"))
		signaled(f.store.Ready())
		record = f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		item := f.claimOne(record.ID)
		if item.Attempt != 1 {
			f.Errorf("Attempt = %d, want 1", item.Attempt)
		}
		// It was woken once: the next time it waits.
		f.append(item.Fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		f.claimNone()
	},

	"Wake of a held run is not lost with its lease": func(f *fixture) {
		record, _ := f.working(alice)
		f.affect(work.Effects{Wake: []work.Key{runOf(record.ID)}})
		f.expire()
		item := f.claimOne(record.ID)
		f.append(item.Fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		f.claimOne(record.ID)
	},

	"Wake in the change that suspends": func(f *fixture) {
		record, fence := f.working(alice)
		batch := f.status(record, a2a.TaskStateWorking, task.Suspend)
		if err := f.store.Append(f.ctx(), fence, batch, work.Effects{Wake: []work.Key{fence.Key}}); err != nil {
			f.Fatal(err)
		}
		f.claimOne(record.ID)
	},

	"suspended work wakes by itself at its time, and not before": func(f *fixture) {
		record, fence := f.working(alice)
		batch := f.status(record, a2a.TaskStateInputRequired, task.Suspend)
		batch.Until = f.clock.Now().Add(time.Hour)
		f.append(fence, batch)
		f.clock.advance(time.Hour - time.Millisecond)
		f.claimNone()
		f.clock.advance(time.Millisecond)
		if item := f.claimOne(record.ID); item.Attempt != 1 {
			f.Errorf("Attempt = %d, want 1", item.Attempt)
		}
	},

	"a message takes the place of what was suspended": func(f *fixture) {
		record, fence := f.working(alice)
		batch := f.status(record, a2a.TaskStateInputRequired, task.Suspend)
		batch.Until = f.clock.Now().Add(time.Hour)
		record = f.append(fence, batch)
		accepted, err := f.store.Continue(f.ctx(), f.answer(record, generous), none)
		if err != nil {
			f.Fatal(err)
		}
		f.append(accepted.Work.Fence, f.status(accepted.Record, a2a.TaskStateCompleted, task.End))
		f.clock.advance(2 * time.Hour)
		f.claimNone()
	},

	"waking and suspending at the same time loses nothing": func(f *fixture) {
		for range 30 {
			record, fence := f.working(alice)
			waker, wakerFence := f.working(bob)
			var both sync.WaitGroup
			both.Go(func() {
				err := f.store.Append(f.ctx(), wakerFence, f.status(waker, a2a.TaskStateCompleted, task.End), work.Effects{Wake: []work.Key{fence.Key}})
				if err != nil {
					f.Errorf("Append() error = %v", err)
				}
			})
			both.Go(func() {
				if err := f.store.Append(f.ctx(), fence, f.status(record, a2a.TaskStateWorking, task.Suspend), none); err != nil {
					f.Errorf("Append() error = %v", err)
				}
			})
			both.Wait()
			record.Last++
			f.append(f.claimOne(record.ID).Fence, f.status(record, a2a.TaskStateCompleted, task.End))
		}
	},

	"Wake of what is queued, ended or unknown does nothing": func(f *fixture) {
		waiting := f.create(f.fresh(alice, queued)).Record
		ended := f.ended(alice, a2a.TaskStateCompleted)
		f.affect(work.Effects{Wake: []work.Key{runOf(waiting.ID), runOf(ended.ID), runOf("unknown"), {Kind: "delegation", ID: "d"}}})
		f.claimOne(waiting.ID)
	},

	"Cancel ends keys in any state": func(f *fixture) {
		held, heldFence := f.working(alice)
		waiting := f.create(f.fresh(alice, queued)).Record
		suspended, fence := f.working(alice)
		f.append(fence, f.status(suspended, a2a.TaskStateWorking, task.Suspend))
		keys := []work.Key{runOf(held.ID), runOf(waiting.ID), runOf(suspended.ID), runOf("unknown")}
		f.affect(work.Effects{Cancel: keys})
		f.affect(work.Effects{Wake: keys})
		f.fenced(held, heldFence)
		f.expire()
		f.claimNone()
		// They no longer count.
		limits := task.Admission{Claim: true, Lease: lease, PerCaller: 1, Queue: 1}
		if f.create(f.fresh(alice, limits)).Work == nil || f.create(f.fresh(alice, limits)).Work != nil {
			f.Error("canceled work still counts for its caller")
		}
	},
}

// affect commits effects with a change of no interest.
func (f *fixture) affect(effects work.Effects) {
	f.Helper()
	carrier := task.Owner{Agent: "default", Caller: "carrier"}
	accepted, err := f.store.Create(f.ctx(), f.fresh(carrier, generous), effects)
	if err != nil {
		f.Fatalf("Create() error = %v", err)
	}
	f.append(accepted.Work.Fence, f.status(accepted.Record, a2a.TaskStateCompleted, task.End))
}
