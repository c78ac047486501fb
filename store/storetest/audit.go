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
	entries, err := f.store.Audit(f.ctx(), query)
	if err != nil {
		f.Fatalf("Audit() error = %v", err)
	}
	return entries
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
