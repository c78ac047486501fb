package storetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var auditTests = map[string]func(*fixture){
	"an entry is stored with the change it tells of, or not at all": func(f *fixture) {
		created := f.fresh(alice, generous)
		told := work.Effects{Audit: []audit.Entry{{Who: "alice", Operation: "SendMessage", Outcome: audit.Done, TaskID: string(created.Record.ID)}}}
		if _, err := f.store.Create(f.ctx(), created, told); err != nil {
			f.Fatal(err)
		}
		busy := f.fresh(alice, task.Admission{})
		if _, err := f.store.Create(f.ctx(), busy, told); !errors.Is(err, task.ErrBusy) {
			f.Errorf("Create() error = %v, want ErrBusy", err)
		}
		entries := f.audit(audit.Query{Limit: 10})
		if len(entries) != 1 || entries[0].TaskID != string(created.Record.ID) || !entries[0].At.Equal(f.clock.Now().Truncate(time.Millisecond)) {
			f.Errorf("entries = %+v, want that of the task", entries)
		}
	},

	"entries are read newest first, by what they say": func(f *fixture) {
		for i, who := range []string{"alice", "bob", "alice"} {
			f.record(audit.Entry{Who: who, Operation: fmt.Sprint("op-", i), Outcome: audit.Refused, At: f.clock.Now().Add(time.Duration(i) * time.Hour)})
		}
		operations := func(query audit.Query) (found []string) {
			query.Limit = max(query.Limit, 1)
			for _, e := range f.audit(query) {
				found = append(found, e.Operation)
			}
			return found
		}
		for name, tt := range map[string]struct {
			query audit.Query
			want  []string
		}{
			"all":      {audit.Query{Limit: 10}, []string{"op-2", "op-1", "op-0"}},
			"one":      {audit.Query{}, []string{"op-2"}},
			"of alice": {audit.Query{Limit: 10, Who: "alice"}, []string{"op-2", "op-0"}},
			"since":    {audit.Query{Limit: 10, Since: f.clock.Now().Add(time.Hour)}, []string{"op-2", "op-1"}},
			"a page":   {audit.Query{Limit: 10, Before: f.audit(audit.Query{Limit: 1})[0].Number}, []string{"op-1", "op-0"}},
			"done":     {audit.Query{Limit: 10, Outcome: audit.Done}, nil},
		} {
			if diff := cmp.Diff(tt.want, operations(tt.query)); diff != "" {
				f.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	},

	"the chain holds over commits, callers and a crash": func(f *fixture) {
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for range 5 {
					f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
				}
			})
		}
		callers.Wait()
		f.crash()
		f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
		if chain := f.verified(); chain.Sealed != 41 {
			f.Errorf("%d entries are sealed, want 41", chain.Sealed)
		}
	},

	"entries are found behind a clock that was set back": func(f *fixture) {
		at := func(operation string, since time.Duration) audit.Entry {
			return audit.Entry{Operation: operation, Outcome: audit.Done, At: f.clock.Now().Add(since)}
		}
		f.record(at("old", -2*time.Hour), at("young", 0), at("set back", -2*time.Hour), at("young too", time.Minute))
		var found []string
		for _, e := range f.audit(audit.Query{Limit: 10, Since: f.clock.Now()}) {
			found = append(found, e.Operation)
		}
		if diff := cmp.Diff([]string{"young too", "young"}, found); diff != "" {
			f.Errorf("entries (-want +got):\n%s", diff)
		}
	},

	"a page says where the next begins": func(f *fixture) {
		for range 5 {
			f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
		}
		var pages [][]int64
		for before := int64(0); len(pages) < 10; {
			page, err := f.store.Audit(f.ctx(), audit.Query{Limit: 2, Before: before})
			if err != nil {
				f.Fatal(err)
			}
			var numbers []int64
			for _, e := range page.Entries {
				numbers = append(numbers, e.Number)
			}
			pages = append(pages, numbers)
			if before = page.Next; before == 0 {
				break
			}
		}
		if diff := cmp.Diff([][]int64{{5, 4}, {3, 2}, {1}}, pages); diff != "" {
			f.Errorf("pages (-want +got):\n%s", diff)
		}
		f.noneUnsealed()
	},

	"a clock that is wrong takes no newer evidence along": func(f *fixture) {
		start := f.clock.Now()
		for _, since := range []time.Duration{0, time.Hour, -1000 * time.Hour, 2 * time.Hour} {
			f.clock.advance(start.Add(since).Sub(f.clock.Now()))
			f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
		}
		var last time.Time
		err := f.store.Evidence(f.ctx(), 0, func(seal audit.Seal, _ [][]byte) error {
			if seal.At.Before(last) {
				f.Errorf("seal %d is older than the one before", seal.Number)
			}
			last = seal.At
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
		if n, err := f.store.ForgetAudit(f.ctx(), start.Add(time.Minute)); err != nil || n != 1 {
			f.Errorf("ForgetAudit() = %d, %v, want 1", n, err)
		}
		if chain := f.verified(); chain.Sealed != 3 {
			f.Errorf("%d entries are left, want 3", chain.Sealed)
		}
	},

	"much is forgotten, and in order": func(f *fixture) {
		const seals = 600 // more than one batch
		for range seals {
			f.record(audit.Entry{Operation: "apply", Outcome: audit.Done}, audit.Entry{Operation: "delete", Outcome: audit.Done})
		}
		many := make([]audit.Entry, 3000) // more than one batch in one seal
		for i := range many {
			many[i] = audit.Entry{Operation: "apply", Outcome: audit.Done}
		}
		f.record(many...)
		f.clock.advance(time.Hour)
		f.record(many[0])
		if n, err := f.store.ForgetAudit(f.ctx(), f.clock.Now()); err != nil || n != 2*seals+3000 {
			f.Errorf("ForgetAudit() = %d, %v, want %d", n, err, 2*seals+3000)
		}
		if n, err := f.store.ForgetAudit(f.ctx(), f.clock.Now()); err != nil || n != 0 {
			f.Errorf("ForgetAudit() again = %d, %v, want 0", n, err)
		}
		f.reopen()
		f.record(many[0])
		if chain := f.verified(); chain.Sealed != 2 {
			f.Errorf("%d entries are sealed behind the anchor, want 2", chain.Sealed)
		}
		f.noneUnsealed()
	},

	"what is forgotten leaves an anchor": func(f *fixture) {
		for range 3 {
			f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
			f.clock.advance(time.Hour)
		}
		n, err := f.store.ForgetAudit(f.ctx(), f.clock.Now().Add(-90*time.Minute))
		if err != nil || n != 2 {
			f.Fatalf("ForgetAudit() = %d, %v, want 2", n, err)
		}
		if entries := f.audit(audit.Query{Limit: 10}); len(entries) != 1 {
			f.Errorf("%d entries are left, want 1", len(entries))
		}
		f.reopen()
		f.record(audit.Entry{Operation: "apply", Outcome: audit.Done})
		if chain := f.verified(); chain.Sealed != 2 {
			f.Errorf("%d entries are sealed behind the anchor, want 2", chain.Sealed)
		}
	},

	"an entry that cannot be kept refuses the change": func(f *fixture) {
		created := f.fresh(alice, generous)
		if _, err := f.store.Create(f.ctx(), created, work.Effects{Audit: []audit.Entry{{Operation: "x"}}}); err == nil {
			f.Error("Create() with an entry without an outcome succeeded")
		}
		if _, err := f.store.Task(f.ctx(), alice, created.Record.ID); !errors.Is(err, task.ErrNotFound) {
			f.Errorf("Task() error = %v, want ErrNotFound", err)
		}
	},
}

func (f *fixture) record(entries ...audit.Entry) {
	f.Helper()
	if err := f.store.Record(f.ctx(), entries...); err != nil {
		f.Errorf("Record() error = %v", err)
	}
}

func (f *fixture) audit(query audit.Query) []audit.Recorded {
	f.Helper()
	page, err := f.store.Audit(f.ctx(), query)
	if err != nil {
		f.Fatalf("Audit() error = %v", err)
	}
	return page.Entries
}

// noneUnsealed makes sure that there is no entry that no seal covers.
func (f *fixture) noneUnsealed() {
	f.Helper()
	if unsealed, err := f.store.Unsealed(f.ctx()); err != nil || len(unsealed) > 0 {
		f.Errorf("Unsealed() = %v, %v", unsealed, err)
	}
}

// verified verifies the whole chain.
func (f *fixture) verified() *audit.Chain {
	f.Helper()
	chain := &audit.Chain{}
	for after, begun := int64(0), false; ; {
		seen := after
		err := f.store.Evidence(f.ctx(), after, func(seal audit.Seal, entries [][]byte) error {
			after = seal.Number
			if !begun && len(entries) == 0 {
				chain, begun = audit.Anchored(seal), true
				return nil
			}
			begun = true
			return chain.Verify(seal, entries)
		})
		if err != nil {
			f.Fatalf("Evidence() error = %v", err)
		}
		if after == seen {
			return chain
		}
	}
}
