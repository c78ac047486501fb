package storetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var readTests = map[string]func(*fixture){
	"another owner's task does not exist": func(f *fixture) {
		record, _ := f.working(alice)
		// Once from memory and once from the disk, where there is a difference.
		for range 2 {
			for _, owner := range []task.Owner{bob, other, {Agent: "none", Caller: "nobody"}} {
				_, err := f.store.Task(f.ctx(), owner, record.ID)
				f.fails("Task()", err, task.ErrNotFound)
				_, err = f.store.Events(f.ctx(), owner, record.ID, 0)
				f.fails("Events()", err, task.ErrNotFound)
				_, err = f.store.Events(f.ctx(), owner, record.ID, record.Last)
				f.fails("Events() at the end", err, task.ErrNotFound)
			}
			f.working(bob)
			f.working(other)
			f.reopen()
		}
		f.stored(record)
	},

	"an unknown task is not found": func(f *fixture) {
		f.working(alice)
		_, err := f.store.Task(f.ctx(), alice, "unknown")
		f.fails("Task()", err, task.ErrNotFound)
		_, err = f.store.Events(f.ctx(), alice, "unknown", 0)
		f.fails("Events()", err, task.ErrNotFound)
	},

	"a read after a change sees it": func(f *fixture) {
		record, fence := f.working(alice)
		for i := range 50 {
			record = f.append(fence, f.chunks(record, numbered("chunk ", i)))
			f.stored(record)
		}
	},

	"the token key is random and lasting": func(f *fixture) {
		first, err := f.store.TokenKey(f.ctx())
		if err != nil || len(first) < 32 {
			f.Fatalf("TokenKey() = %d bytes, %v, want 32 or more", len(first), err)
		}
		f.reopen()
		again, err := f.store.TokenKey(f.ctx())
		if err != nil || !bytes.Equal(first, again) {
			f.Errorf("TokenKey() after a restart differs, error %v", err)
		}
	},

	"a context that has ended is told": func(f *fixture) {
		record, fence := f.working(alice)
		over, cancel := context.WithCancel(f.ctx())
		cancel()
		_, err := f.store.Create(over, f.fresh(alice, generous), none)
		f.fails("Create()", err, context.Canceled)
		f.fails("Append()", f.store.Append(over, fence, f.chunks(record, "x"), none), context.Canceled)
		_, err = f.store.Cancel(over, alice, record.ID, f.clock.Now(), none)
		f.fails("Cancel()", err, context.Canceled)
		_, err = f.store.Claim(over, work.Query{Kind: work.KindRun, Limit: 1, PerGroup: 1, Lease: lease})
		f.fails("Claim()", err, context.Canceled)
		f.stored(record)
	},

	"Earlier gives the newest ended tasks of a context, oldest first": func(f *fixture) {
		var all []task.Record
		for _, state := range []a2a.TaskState{
			a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected, a2a.TaskStateCompleted,
		} {
			record, fence := f.working(alice, "talk")
			record = f.append(fence, f.chunks(record, "an answer"))
			all = append(all, f.append(fence, f.status(record, state, task.End)))
			f.clock.advance(time.Second)
		}
		f.working(alice, "talk")
		f.ended(alice, a2a.TaskStateCompleted, "another")
		f.ended(bob, a2a.TaskStateCompleted, "talk")
		f.ended(other, a2a.TaskStateCompleted, "talk")

		size := 0
		for _, r := range all[3:] {
			size += r.Size()
		}
		const plenty = 1 << 20
		for name, c := range map[string]struct {
			besides         a2a.TaskID
			limit, maxBytes int
			want            []task.Record
		}{
			"all":            {"", 10, plenty, all},
			"limited":        {"", 2, plenty, all[3:]},
			"besides newest": {all[4].ID, 2, plenty, all[2:4]},
			"besides oldest": {all[0].ID, 10, plenty, all[1:]},
			"fits exactly":   {"", 10, size, all[3:]},
			"a byte short":   {"", 10, size - 1, all[4:]},
			"nothing fits":   {"", 10, 1, nil},
			"none":           {"", 0, plenty, nil},
		} {
			got, err := f.store.Earlier(f.ctx(), alice, "talk", c.besides, c.limit, c.maxBytes)
			if err != nil {
				f.Fatalf("%s: Earlier() error = %v", name, err)
			}
			if !slices.EqualFunc(got, c.want, func(a, b task.Record) bool { return a.ID == b.ID }) {
				f.Errorf("%s: Earlier() = %d tasks, want %d others", name, len(got), len(c.want))
				continue
			}
			for i := range got {
				f.same(c.want[i], got[i])
			}
		}
		for _, context := range []a2a.ContextID{"unknown", ""} {
			if got, err := f.store.Earlier(f.ctx(), alice, context, "", 10, plenty); err != nil || len(got) != 0 {
				f.Errorf("Earlier(%q) = %d tasks, %v, want none", context, len(got), err)
			}
		}
		nobody := task.Owner{Agent: "none", Caller: "nobody"}
		if got, err := f.store.Earlier(f.ctx(), nobody, "talk", "", 10, plenty); err != nil || len(got) != 0 {
			f.Errorf("Earlier() of nobody = %d tasks, %v", len(got), err)
		}
	},

	"reads and changes run side by side": func(f *fixture) {
		record, fence := f.working(alice)
		done := make(chan error, 1)
		go func() {
			done <- func() error {
				for i := range 200 {
					batch := f.chunks(record, numbered("c", i))
					if err := f.store.Append(f.ctx(), fence, batch, none); err != nil {
						return err
					}
					record = batch.Record
				}
				return nil
			}()
		}()
		last := int64(0)
		id := a2a.TaskID(fence.ID)
		for {
			select {
			case err := <-done:
				if err != nil {
					f.Fatalf("Append() error = %v", err)
				}
				f.stored(record)
				return
			default:
			}
			got, err := f.store.Task(f.ctx(), alice, id)
			if err != nil || got.Last < last {
				f.Fatalf("Task() = last %d after %d, %v: time went backwards", got.Last, last, err)
			}
			last = got.Last
			page, err := f.store.List(f.ctx(), alice, task.Query{Limit: 10})
			if err != nil || len(page.Records) != 1 || page.Total != 1 || page.Records[0].Last < last {
				f.Fatalf("List() = %d of %d, error %v", len(page.Records), page.Total, err)
			}
		}
	},

	"a closed store says so": func(f *fixture) {
		record, fence := f.working(alice)
		closed := f.store
		f.reopen()
		if _, err := closed.Create(f.ctx(), f.fresh(alice, generous), none); err == nil {
			f.Error("Create() on a closed store succeeded")
		}
		if err := closed.Append(f.ctx(), fence, f.chunks(record, "x"), none); err == nil || errors.Is(err, task.ErrFenced) {
			f.Errorf("Append() on a closed store: error = %v, want that it is closed", err)
		}
		if _, err := closed.List(f.ctx(), alice, task.Query{Limit: 1}); err == nil {
			f.Error("List() on a closed store succeeded")
		}
	},
}
