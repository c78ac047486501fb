package storetest

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

var continueTests = map[string]func(*fixture){
	"appends the message and makes the run work again": func(f *fixture) {
		asked := f.asking(alice)
		f.clock.advance(time.Minute)
		next := f.answer(asked, generous)
		next.Input.Turn = task.Turn{AcceptedOutputModes: []string{"text/csv"}}
		want, events, err := asked.Continued(next.Input)
		if err != nil {
			f.Fatal(err)
		}
		accepted, err := f.store.Continue(f.ctx(), next, none)
		if err != nil || accepted.Joined {
			f.Fatalf("Continue() = joined %v, error %v", accepted.Joined, err)
		}
		f.same(want, accepted.Record)
		f.stored(want)
		if diff := cmp.Diff(events, f.events(want, asked.Last)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
		if accepted.Work == nil || accepted.Work.Attempt != 1 {
			f.Fatalf("Work = %+v, want a first attempt", accepted.Work)
		}
		f.append(accepted.Work.Fence, f.status(want, a2a.TaskStateCompleted, task.End))
		if n := f.total(alice, task.Query{State: a2a.TaskStateCompleted}); n != 1 {
			f.Errorf("completed = %d, want 1", n)
		}
	},

	"queues the run and signals it": func(f *fixture) {
		asked := f.asking(alice)
		signaled(f.store.Ready())
		accepted, err := f.store.Continue(f.ctx(), f.answer(asked, queued), none)
		if err != nil || accepted.Work != nil {
			f.Fatalf("Continue() = work %v, error %v, want queued", accepted.Work, err)
		}
		if !signaled(f.store.Ready()) {
			f.Error("Ready() was not signaled")
		}
		f.claimOne(asked.ID)
	},

	"the same message joins": func(f *fixture) {
		asked := f.asking(alice)
		next := f.answer(asked, generous)
		first, err := f.store.Continue(f.ctx(), next, none)
		if err != nil {
			f.Fatal(err)
		}
		end := f.append(first.Work.Fence, f.status(first.Record, a2a.TaskStateCompleted, task.End))
		again, err := f.store.Continue(f.ctx(), next, none)
		if err != nil || !again.Joined || again.Work != nil {
			f.Fatalf("Continue() = %+v, error %v, want joined", again, err)
		}
		f.same(end, again.Record)
		if record, found, err := f.store.Joined(f.ctx(), next.Message); !found || err != nil || record.ID != asked.ID {
			f.Errorf("Joined() = %s, %v, %v", record.ID, found, err)
		}
	},

	"a message with other content is refused": func(f *fixture) {
		asked := f.asking(alice)
		next := f.answer(asked, generous)
		if _, err := f.store.Continue(f.ctx(), next, none); err != nil {
			f.Fatal(err)
		}
		next.Message.Hash[0]++
		_, err := f.store.Continue(f.ctx(), next, none)
		f.fails("Continue()", err, task.ErrMessageChanged)
	},

	"the rule's refusals are returned": func(f *fixture) {
		ended := f.ended(alice, a2a.TaskStateFailed)
		_, err := f.store.Continue(f.ctx(), f.answer(ended, generous), none)
		f.fails("Continue() of an ended task", err, task.ErrEnded)
		if e, ok := errors.AsType[*task.EndedError](err); !ok || e.State != a2a.TaskStateFailed {
			f.Errorf("error = %v, want one that names the state", err)
		}

		running, _ := f.working(alice)
		_, err = f.store.Continue(f.ctx(), f.answer(running, generous), none)
		f.fails("Continue() of a working task", err, task.ErrWorking)

		asked := f.asking(alice)
		elsewhere := f.answer(asked, generous)
		elsewhere.Input.ContextID = "elsewhere"
		_, err = f.store.Continue(f.ctx(), elsewhere, none)
		f.fails("Continue() in another context", err, task.ErrContextMismatch)

		large := f.answer(asked, generous)
		large.Input.MaxBytes = 10
		_, err = f.store.Continue(f.ctx(), large, none)
		f.fails("Continue() beyond the size", err, task.ErrTooLarge)

		for _, r := range []task.Record{ended, running, asked} {
			f.stored(r)
		}
	},

	"another owner's task does not exist": func(f *fixture) {
		asked := f.asking(alice)
		for _, owner := range []task.Owner{bob, other} {
			next := f.answer(asked, generous)
			next.Message.Owner = owner
			_, err := f.store.Continue(f.ctx(), next, none)
			f.fails("Continue()", err, task.ErrNotFound)
		}
		next := f.answer(asked, generous)
		next.TaskID = "unknown"
		_, err := f.store.Continue(f.ctx(), next, none)
		f.fails("Continue() of an unknown task", err, task.ErrNotFound)
		f.stored(asked)
	},

	"a busy caller's task stays as it was": func(f *fixture) {
		asked := f.asking(alice)
		f.create(f.fresh(other, queued))
		next := f.answer(asked, task.Admission{Claim: true, Lease: lease, PerCaller: 0, Queue: 1})
		_, err := f.store.Continue(f.ctx(), next, none)
		f.fails("Continue()", err, task.ErrBusy)
		f.stored(asked)
		if events := f.events(asked, asked.Last); len(events) != 0 {
			f.Errorf("events = %v, want none", events)
		}
		next.Admission = generous
		if accepted, err := f.store.Continue(f.ctx(), next, none); err != nil || accepted.Joined {
			f.Errorf("Continue() later = joined %v, error %v: a refused message was remembered", accepted.Joined, err)
		}
	},
}
