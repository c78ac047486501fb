package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// A survey for what is rare looks at so many tasks and says where to go on.
func TestSurveyIsBounded(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	for _, owner := range []task.Owner{{Agent: "default", Caller: "rare"}, local} {
		if _, err := store.Create(t.Context(), newTask(owner, "hello"), work.Effects{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	// As if two hundred thousand tasks had been between them.
	const far = 2*task.MaxSurveyScan + 2
	if _, err := db.Exec("UPDATE tasks SET n = ? WHERE n = 2", far); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	store = open(t, dir, sqlite.Config{Sync: sqlite.Off})
	for i, want := range []struct {
		before, next int64
		tasks        int
	}{
		{before: 0, next: far - task.MaxSurveyScan + 1},
		{before: far - task.MaxSurveyScan + 1, tasks: 1},
	} {
		page, err := store.Survey(t.Context(), task.Survey{Caller: "rare", Limit: 10, Before: want.before})
		if err != nil || len(page.Tasks) != want.tasks || page.Next != want.next {
			t.Errorf("page %d: %d tasks and next %d, error %v, want %d and %d", i, len(page.Tasks), page.Next, err, want.tasks, want.next)
		}
	}
}
