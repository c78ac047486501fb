package storetest

import (
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

var eventTests = map[string]func(*fixture){
	"any number is a place to begin": func(f *fixture) {
		record, want := f.story()
		for round := range 2 {
			for after := int64(-1); after <= record.Last+2; after++ {
				rest := want[min(max(after, 0), record.Last):]
				if diff := cmp.Diff(rest, f.events(record, after), emptyIsNil); diff != "" {
					f.Errorf("round %d, after %d (-want +got):\n%s", round, after, diff)
				}
			}
			f.reopen() // and the same from the disk
		}
	},

	"a message of the caller is an event without a body": func(f *fixture) {
		record, _ := f.story()
		silent := 0
		for _, event := range f.events(record, 0) {
			if event.Body == nil {
				silent++
			}
		}
		if silent != 1 {
			f.Errorf("%d events without a body, want 1", silent)
		}
	},

	"many and large events come in pieces, without gaps": func(f *fixture) {
		record, fence := f.working(alice)
		for i := range 40 {
			var texts []string
			for j := range 30 {
				texts = append(texts, numbered("piece ", i*30+j))
			}
			record = f.append(fence, f.chunks(record, texts...))
		}
		record = f.append(fence, f.chunks(record, strings.Repeat("large ", 300_000)))
		record = f.append(fence, f.status(record, a2a.TaskStateCompleted, task.End))
		for range 2 {
			f.gapless(f.events(record, 0), record.Last)
			f.reopen()
		}
	},

	"events of other tasks stay out": func(f *fixture) {
		first, fence := f.working(alice)
		second, _ := f.working(alice)
		f.working(alice)
		first = f.append(fence, f.chunks(first, "a"))
		f.reopen()
		f.gapless(f.events(first, 0), first.Last)
		f.gapless(f.events(second, 0), second.Last)
	},

	"readers at any pace see every event once and in order": func(f *fixture) {
		record, fence := f.working(alice)
		const batches = 150
		id, last := record.ID, record.Last+2*batches+1
		var readers sync.WaitGroup
		for range 4 {
			wake, stop := f.store.Watch(id)
			readers.Go(func() {
				defer stop()
				seen := int64(0)
				for seen < last {
					events, err := f.store.Events(f.ctx(), alice, id, seen)
					if err != nil {
						f.Errorf("Events() error = %v", err)
						return
					}
					for _, event := range events {
						if event.Number != seen+1 {
							f.Errorf("event %d follows %d", event.Number, seen)
							return
						}
						seen = event.Number
					}
					if len(events) > 0 {
						continue
					}
					select {
					case <-wake:
					case <-f.ctx().Done():
						return
					}
				}
			})
		}
		for i := range batches {
			record = f.append(fence, f.chunks(record, numbered("a", i), numbered("b", i)))
		}
		f.append(fence, f.status(record, a2a.TaskStateCompleted, task.End))
		readers.Wait()
	},
}

var emptyIsNil = cmp.Transformer("emptyIsNil", func(events []task.Event) []task.Event {
	if len(events) == 0 {
		return nil
	}
	return events
})

// story is a task with all sorts of events, and these.
func (f *fixture) story() (task.Record, []task.Event) {
	f.Helper()
	created := f.fresh(alice, generous)
	events := []task.Event{created.Event}
	accepted := f.create(created)
	record, fence := accepted.Record, accepted.Work.Fence
	step := func(batch task.Batch) {
		record = f.append(fence, batch)
		events = append(events, batch.Events...)
	}
	step(f.chunks(record, "one", "two\nlines", "three"))
	step(f.status(record, a2a.TaskStateInputRequired, task.End))
	next := f.answer(record, generous)
	_, said, err := record.Continued(next.Input)
	if err != nil {
		f.Fatal(err)
	}
	accepted, err = f.store.Continue(f.ctx(), next, none)
	if err != nil {
		f.Fatal(err)
	}
	events = append(events, said...)
	record, fence = accepted.Record, accepted.Work.Fence
	step(f.chunks(record, "four"))
	step(f.status(record, a2a.TaskStateCompleted, task.End))
	return record, events
}

// gapless makes sure that events are all from the first to the last.
func (f *fixture) gapless(events []task.Event, last int64) {
	f.Helper()
	for i, event := range events {
		if event.Number != int64(i)+1 {
			f.Fatalf("event %d has number %d", i+1, event.Number)
		}
	}
	if int64(len(events)) != last {
		f.Fatalf("%d events, want %d", len(events), last)
	}
}

var watchTests = map[string]func(*fixture){
	"every kind of change wakes": func(f *fixture) {
		created := f.fresh(alice, generous)
		wake, stop := f.store.Watch(created.Record.ID)
		defer stop()
		expect := func(what string) {
			f.Helper()
			if !signaled(wake) {
				f.Errorf("%s did not wake", what)
			}
		}
		accepted := f.create(created)
		expect("Create")
		record := f.append(accepted.Work.Fence, f.chunks(created.Record, "a"))
		expect("Append")
		record = f.append(accepted.Work.Fence, f.status(record, a2a.TaskStateInputRequired, task.End))
		expect("Append")
		if _, err := f.store.Continue(f.ctx(), f.answer(record, generous), none); err != nil {
			f.Fatal(err)
		}
		expect("Continue")
		if _, err := f.store.Cancel(f.ctx(), alice, record.ID, f.clock.Now(), none); err != nil {
			f.Fatal(err)
		}
		expect("Cancel")
	},

	"what changes nothing wakes nobody": func(f *fixture) {
		record, fence := f.working(alice)
		wake, stop := f.store.Watch(record.ID)
		defer stop()
		another, _ := f.working(alice)
		if _, err := f.store.Cancel(f.ctx(), alice, another.ID, f.clock.Now(), none); err != nil {
			f.Fatal(err)
		}
		late := fence
		late.Epoch++
		f.fails("Append()", f.store.Append(f.ctx(), late, f.chunks(record, "x"), none), task.ErrFenced)
		f.stored(record)
		if signaled(wake) {
			f.Error("woken without a change")
		}
	},

	"wake-ups that were not taken are one": func(f *fixture) {
		record, fence := f.working(alice)
		wake, stop := f.store.Watch(record.ID)
		defer stop()
		for range 3 {
			record = f.append(fence, f.chunks(record, "a"))
		}
		if !signaled(wake) || signaled(wake) {
			f.Error("want exactly one wake-up")
		}
	},

	"watchers do not share": func(f *fixture) {
		record, fence := f.working(alice)
		first, stopFirst := f.store.Watch(record.ID)
		second, stopSecond := f.store.Watch(record.ID)
		defer stopSecond()
		record = f.append(fence, f.chunks(record, "a"))
		if !signaled(first) || !signaled(second) {
			f.Error("a watcher was not woken")
		}
		stopFirst()
		stopFirst() // twice does no harm
		f.append(fence, f.chunks(record, "b"))
		if signaled(first) {
			f.Error("woken after the watch ended")
		}
		if !signaled(second) {
			f.Error("the end of one watch ended another")
		}
	},
}
