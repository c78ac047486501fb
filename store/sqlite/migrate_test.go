package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// TestContextsOfTheFirstVersion takes a database over in which tasks named their
// contexts by number, and every context had a row.
func TestContextsOfTheFirstVersion(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Migrate(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`INSERT INTO owners (n, agent, caller, submitted, completed) VALUES (1, 'default', 'local', 1, 2)`,
		`INSERT INTO contexts (owner, id, n, submitted, completed) VALUES (1, 'two', 1, 1, 1), (1, 'one', 2, 0, 1)`,
		`INSERT INTO tasks (n, owner, context, state, status_ms, created_ms, last, settled, turn, id, context_id, skill, status, history) VALUES
			(1, 1, 1, 1, 1000, 1000, 1, 0, 1, 'a', 'two', 'echo', x'7b7d', x'5b5d'),
			(2, 1, 1, 3, 2000, 1000, 3, 3, 1, 'b', 'two', 'echo', x'7b7d', x'5b5d'),
			(3, 1, 2, 3, 3000, 1000, 3, 3, 1, 'c', 'one', 'echo', x'7b7d', x'5b5d')`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	local := task.Owner{Agent: "default", Caller: "local"}
	lists := func(contextID a2a.ContextID, want ...a2a.TaskID) {
		t.Helper()
		page, err := store.List(ctx, local, task.Query{Limit: 10, ContextID: contextID})
		if err != nil || page.Total != int64(len(want)) || len(page.Records) != len(want) {
			t.Fatalf("List(%q) = %d of %d, %v, want %d", contextID, len(page.Records), page.Total, err, len(want))
		}
		for i, id := range want {
			if page.Records[i].ID != id {
				t.Errorf("List(%q) has %s at %d, want %s", contextID, page.Records[i].ID, i, id)
			}
		}
	}
	lists("two", "b", "a")
	lists("one", "c")
	lists("", "c", "b", "a")
	next := newTask(local, "next")
	next.Record.ContextID = "one"
	if _, err := store.Create(ctx, next, work.Effects{}); err != nil {
		t.Fatal(err)
	}
	lists("one", next.Record.ID, "c")
}

// TestCountersOfContexts counts the tasks of contexts that begin, grow and change
// within one group and over several.
func TestCountersOfContexts(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	in := func(contextID a2a.ContextID) task.NewTask {
		created := newTask(local, "hello")
		created.Record.ContextID = contextID
		return created
	}
	create := func(created task.NewTask) func() error {
		return func() error { _, err := store.Create(ctx, created, work.Effects{}); return err }
	}
	cancel := func(created task.NewTask) func() error {
		return func() error {
			_, err := store.Cancel(ctx, local, created.Record.ID, created.Record.CreatedAt, work.Effects{})
			return err
		}
	}
	counts := func(contextID a2a.ContextID, submitted, canceled int64) {
		t.Helper()
		for state, want := range map[a2a.TaskState]int64{a2a.TaskStateSubmitted: submitted, a2a.TaskStateCanceled: canceled, "": submitted + canceled} {
			page, err := store.List(ctx, local, task.Query{Limit: 10, ContextID: contextID, State: state})
			if err != nil || page.Total != want || len(page.Records) != int(want) {
				t.Errorf("List(%s, %q) = %d of %d, %v, want %d", contextID, state, len(page.Records), page.Total, err, want)
			}
		}
	}
	a1, a2, a3, b1, b2, c1 := in("a"), in("a"), in("a"), in("b"), in("b"), in("c")
	c1.NewContext = true
	changes := [][]func() error{
		{create(a1), create(b1), create(a2), cancel(a1), create(c1)}, // a begins, grows and changes in one group
		{cancel(b1), create(b2)},                                     // b grows in a later one, after a change in the same
		{cancel(c1), create(a3), cancel(a2)},
	}
	want := []map[a2a.ContextID][2]int64{
		{"a": {1, 1}, "b": {1, 0}, "c": {1, 0}},
		{"a": {1, 1}, "b": {1, 1}, "c": {1, 0}},
		{"a": {1, 2}, "b": {1, 1}, "c": {0, 1}},
	}
	for i, group := range changes {
		for _, err := range together(t, store, group...) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for contextID, n := range want[i] {
			counts(contextID, n[0], n[1])
		}
	}
}
