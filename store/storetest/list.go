package storetest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

var listTests = map[string]func(*fixture){
	"newest status first, then by descending id": func(f *fixture) {
		var all []task.Record
		for i := range 12 {
			if i%3 == 0 {
				f.clock.advance(time.Millisecond)
			}
			all = append(all, f.ended(alice, []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed}[i%2]))
		}
		record, _ := f.working(alice)
		all = append(all, record)
		f.lists(alice, task.Query{Limit: 5}, all)
	},

	"a change of status moves a task to the front": func(f *fixture) {
		first, fence := f.working(alice)
		f.clock.advance(time.Second)
		second, _ := f.working(alice)
		f.clock.advance(time.Second)
		first = f.append(fence, f.status(first, a2a.TaskStateWorking, task.Hold))
		f.lists(alice, task.Query{Limit: 1}, []task.Record{first, second})
		first = f.append(fence, f.chunks(first, "no status, no move"))
		f.lists(alice, task.Query{Limit: 1}, []task.Record{first, second})
	},

	"documents are read when asked for": func(f *fixture) {
		record, fence := f.working(alice)
		record = f.append(fence, f.chunks(record, "a result"))
		for _, query := range []task.Query{
			{Limit: 1}, {Limit: 1, Artifacts: true}, {Limit: 1, History: true}, {Limit: 1, Artifacts: true, History: true},
		} {
			f.lists(alice, query, []task.Record{record})
		}
	},

	"a page ends before its documents outgrow an answer": func(f *fixture) {
		const answer = 8 << 20
		var all []task.Record
		for _, mebibytes := range []int{3, 3, 1, 3, 8, 3} {
			record, fence := f.working(alice)
			record = f.append(fence, f.chunks(record, strings.Repeat("x", mebibytes<<20)))
			all = append(all, record)
			f.clock.advance(time.Millisecond)
		}
		slices.Reverse(all) // as they are listed
		query := task.Query{Limit: 100, History: true, Artifacts: true}
		pages := 0
		for left := all; len(left) > 0; pages++ {
			page, err := f.store.List(f.ctx(), alice, query)
			n := len(page.Records)
			if err != nil || n == 0 || n > len(left) || page.Total != int64(len(all)) || page.More != (n < len(left)) {
				f.Fatalf("List() = %d records of %d, more %v, error %v, with %d left", n, page.Total, page.More, err, len(left))
			}
			size := 0
			for i, got := range page.Records {
				if got.ID != left[i].ID || !bytes.Equal(got.Artifacts, left[i].Artifacts) {
					f.Fatalf("record %d of a page is not the task it should be", i)
				}
				size += got.Size()
			}
			if size > answer && n > 1 {
				f.Errorf("a page of %d records has %d bytes", n, size)
			}
			query.After = &task.Cursor{StatusAt: left[n-1].StatusAt, ID: left[n-1].ID}
			left = left[n:]
		}
		if pages == len(all) {
			f.Error("every page has one task, though there is room for more")
		}
		// What is not asked for takes no room.
		f.lists(alice, task.Query{Limit: 100}, all)
	},

	"since is inclusive and in milliseconds": func(f *fixture) {
		var all []task.Record
		for range 4 {
			all = append(all, f.ended(alice, a2a.TaskStateCompleted))
			f.clock.advance(time.Millisecond)
		}
		at := all[2].StatusAt
		for _, since := range []time.Time{at, at.Add(-time.Microsecond), at.Add(time.Nanosecond), at.Add(time.Hour), at.Add(-time.Hour)} {
			f.lists(alice, task.Query{Limit: 2, Since: since}, all)
			f.lists(alice, task.Query{Limit: 2, Since: since.In(time.FixedZone("", 3600)), State: a2a.TaskStateCompleted}, all)
		}
	},

	"contexts and tasks belong to their owner": func(f *fixture) {
		mine := f.ended(alice, a2a.TaskStateCompleted, "shared")
		theirs := f.ended(bob, a2a.TaskStateCompleted, "shared")
		elsewhere := f.ended(other, a2a.TaskStateCompleted, "shared")
		for owner, all := range map[task.Owner][]task.Record{
			alice: {mine}, bob: {theirs}, other: {elsewhere}, {Agent: "none", Caller: "nobody"}: nil,
		} {
			f.lists(owner, task.Query{Limit: 10}, all)
			f.lists(owner, task.Query{Limit: 10, ContextID: "shared"}, all)
			f.lists(owner, task.Query{Limit: 10, ContextID: "unknown"}, all)
		}
	},

	"a page begins after any cursor": func(f *fixture) {
		var all []task.Record
		for range 3 {
			all = append(all, f.ended(alice, a2a.TaskStateCompleted))
			f.clock.advance(time.Second)
		}
		// The task of a cursor may have moved; its place has not.
		page, err := f.store.List(f.ctx(), alice, task.Query{Limit: 5, After: &task.Cursor{StatusAt: all[1].StatusAt, ID: "\uffff"}})
		if err != nil || len(page.Records) != 2 || page.Records[0].ID != all[1].ID || page.Total != 3 || page.More {
			f.Errorf("List() = %d records of %d, more %v, error %v", len(page.Records), page.Total, page.More, err)
		}
	},

	"all queries agree with a plain filter after any changes": func(f *fixture) {
		round := 0
		rapid.Check(f.T, func(r *rapid.T) {
			round++
			owner := task.Owner{Agent: "model", Caller: numbered("caller", round)}
			all := f.randomTasks(r, owner)
			for range 6 {
				f.lists(owner, task.Query{
					ContextID: rapid.SampledFrom([]a2a.ContextID{"", "", "a", "b", "c"}).Draw(r, "context"),
					State:     rapid.SampledFrom(append([]a2a.TaskState{"", ""}, someStates...)).Draw(r, "state"),
					Since:     rapid.SampledFrom([]time.Time{{}, f.clock.Now().Add(-3 * time.Millisecond)}).Draw(r, "since"),
					Limit:     rapid.IntRange(1, 6).Draw(r, "limit"),
				}, all)
			}
		})
	},
}

var someStates = []a2a.TaskState{
	a2a.TaskStateSubmitted, a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
	a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
}

// randomTasks makes tasks of an owner and moves them about. Some changes are
// refused, which must not be counted either.
func (f *fixture) randomTasks(r *rapid.T, owner task.Owner) []task.Record {
	var all []task.Record
	for range rapid.IntRange(1, 15).Draw(r, "changes") {
		if rapid.Bool().Draw(r, "tick") {
			f.clock.advance(time.Millisecond)
		}
		switch rapid.IntRange(0, 3).Draw(r, "change") {
		case 0:
			record, _ := f.working(owner, rapid.SampledFrom([]a2a.ContextID{"a", "b", "c"}).Draw(r, "in"))
			all = append(all, record)
		case 1:
			record, fence := f.working(owner, "a")
			state := rapid.SampledFrom(someStates[1:]).Draw(r, "to")
			all = append(all, f.append(fence, f.status(record, state, task.End)))
			f.fails("Append()", f.store.Append(f.ctx(), fence, f.status(record, a2a.TaskStateWorking, task.End), none), task.ErrFenced)
		case 2:
			if len(all) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(all)-1).Draw(r, "which")
			if canceled, err := f.store.Cancel(f.ctx(), owner, all[i].ID, f.clock.Now(), none); err == nil {
				all[i] = canceled
			}
		case 3:
			_, err := f.store.Create(f.ctx(), f.fresh(owner, task.Admission{}, "b"), none)
			f.fails("Create()", err, task.ErrBusy)
		}
	}
	return all
}

// lists makes sure that a query gives, page by page, what a plain filter over
// all tasks of the owner gives.
func (f *fixture) lists(owner task.Owner, query task.Query, all []task.Record) {
	f.Helper()
	var want []task.Record
	for _, r := range all {
		if (query.ContextID == "" || r.ContextID == query.ContextID) &&
			(query.State == "" || r.State == query.State) &&
			!r.StatusAt.Before(query.Since) {
			if !query.Artifacts {
				r.Artifacts = nil
			}
			if !query.History {
				r.History = nil
			}
			want = append(want, r)
		}
	}
	slices.SortFunc(want, func(a, b task.Record) int {
		return cmp.Or(b.StatusAt.Compare(a.StatusAt), cmp.Compare(b.ID, a.ID))
	})
	total := int64(len(want))
	for first := true; first || len(want) > 0; first = false {
		page, err := f.store.List(f.ctx(), owner, query)
		if err != nil {
			f.Fatalf("List() error = %v", err)
		}
		n := min(query.Limit, len(want))
		if len(page.Records) != n || page.Total != total || page.More != (len(want) > n) {
			f.Fatalf("List(%+v) = %d records of %d, more %v; want %d of %d, more %v",
				query, len(page.Records), page.Total, page.More, n, total, len(want) > n)
		}
		for i, got := range page.Records {
			f.same(want[i], got)
		}
		if n > 0 {
			query.After = &task.Cursor{StatusAt: want[n-1].StatusAt, ID: want[n-1].ID}
		}
		want = want[n:]
	}
}
