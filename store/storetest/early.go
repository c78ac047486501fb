package storetest

import (
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// A store may tell of a run before it is durable. What is done under its fence
// from then on comes after it.
var earlyTests = map[string]func(*fixture){
	"what a run does early is stored with it": func(f *fixture) {
		created := f.fresh(alice, generous)
		done := f.status(created.Record, a2a.TaskStateCompleted, task.End)
		var run sync.WaitGroup
		defer run.Wait()
		created.Admission.Early = func(accepted task.Accepted) {
			f.same(created.Record, accepted.Record)
			fence := accepted.Work.Fence
			run.Go(func() {
				if err := f.store.Append(f.ctx(), fence, done, none); err != nil {
					f.Errorf("Append() error = %v", err)
				}
			})
		}
		accepted := f.create(created)
		if accepted.Work == nil {
			f.Fatal("Create() did not claim the run")
		}
		run.Wait()
		f.stored(done.Record)
		want := []task.Event{created.Event, done.Events[0]}
		if diff := cmp.Diff(want, f.events(created.Record, 0)); diff != "" {
			f.Errorf("events (-want +got):\n%s", diff)
		}
		if n := f.total(alice, task.Query{State: a2a.TaskStateCompleted}); n != 1 {
			f.Errorf("%d tasks are completed, want 1", n)
		}
		f.reopen()
		f.stored(done.Record)
		f.claimNone()
	},

	"a run that is queued or joined is not told of early": func(f *fixture) {
		told := func(accepted task.Accepted) { f.Errorf("told of %+v", accepted.Work) }
		full := f.fresh(alice, queued)
		full.Admission.Early = told
		f.create(full)
		again := f.fresh(alice, generous)
		again.Message, again.Admission.Early = full.Message, told
		if joined, err := f.store.Create(f.ctx(), again, none); err != nil || !joined.Joined {
			f.Errorf("Create() = %+v, error %v, want joined", joined, err)
		}
	},

	"an answer is told of early too": func(f *fixture) {
		asked := f.asking(alice)
		answer := f.answer(asked, generous)
		var told []work.Fence
		answer.Admission.Early = func(accepted task.Accepted) { told = append(told, accepted.Work.Fence) }
		accepted, err := f.store.Continue(f.ctx(), answer, none)
		if err != nil {
			f.Fatal(err)
		}
		if diff := cmp.Diff([]work.Fence{accepted.Work.Fence}, told); diff != "" {
			f.Errorf("told of (-want +got):\n%s", diff)
		}
	},
}
