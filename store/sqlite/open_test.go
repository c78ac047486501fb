package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

var local = task.Owner{Agent: "default", Caller: "local"}

// What is stored is readable by its user alone.
func TestOpenCreatesThePrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b c?%20#")
	store := open(t, dir, sqlite.Config{})
	if _, err := store.Create(t.Context(), newTask(local, "hello"), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		t.Skip("permissions differ here")
	}
	for name, want := range map[string]os.FileMode{
		"": 0o700, "legation.db": 0o600, "legation.db-wal": 0o600, "legation.lock": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%q has mode %v, want %v", name, info.Mode().Perm(), want)
		}
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	_, err := sqlite.Open(t.Context(), dir, sqlite.Config{Sync: sqlite.Off})
	locked, ok := errors.AsType[*sqlite.LockedError](err)
	if !ok || locked.PID != os.Getpid() || locked.Dir != dir {
		t.Fatalf("Open() error = %v, want a LockedError with this process and directory", err)
	}
	for _, word := range []string{"another legation process (pid ", dir, "choose another --data"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %q", err, word)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, sqlite.Config{Sync: sqlite.Off})
}

func TestNewerSchemaIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, sqlite.Config{}).Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "legation.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, 1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA journal_mode = DELETE"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	_, err = sqlite.Open(t.Context(), dir, sqlite.Config{})
	schema, ok := errors.AsType[*sqlite.SchemaError](err)
	if !ok || schema.Found != 4711 || schema.Known < 1 || schema.Known >= 4711 {
		t.Fatalf("Open() error = %v, want a SchemaError", err)
	}
	if !strings.Contains(err.Error(), "use the newer legation") {
		t.Errorf("error %q does not say what to do", err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the file was written to")
	}
}

func TestForeignFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	text := []byte(strings.Repeat("this is no database\n", 500))
	if err := os.WriteFile(filepath.Join(dir, "legation.db"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), dir, sqlite.Config{})
	if !errors.Is(err, sqlite.ErrDamaged) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open() error = %v, want ErrDamaged with the directory", err)
	}
	if err := os.Remove(filepath.Join(dir, "legation.db")); err != nil {
		t.Fatal(err)
	}
	open(t, dir, sqlite.Config{}) // the lock was freed
}

func TestFileForADirectoryIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), path, sqlite.Config{}); err == nil {
		t.Error("Open() succeeded")
	}
}

func TestStoreIsDurable(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, sqlite.Config{})
	if _, err := store.Create(t.Context(), newTask(local, "hello"), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	pragmas, err := store.Pragmas(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if pragmas["journal_mode"] != "wal" || pragmas["synchronous"] != "2" {
		t.Errorf("pragmas = %v, want a log that is synced on commit", pragmas)
	}
}

func TestStoreInABubble(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), dir, sqlite.Config{Sync: sqlite.Off})
		if err != nil {
			t.Fatal(err)
		}
		created := newTask(local, "hello")
		wake, stop := store.Watch(created.Record.ID)
		defer stop()
		woken := make(chan error, 1)
		go func() {
			<-wake
			_, err := store.Task(t.Context(), local, created.Record.ID)
			woken <- err
		}()
		synctest.Wait() // the store is idle, and so is the bubble
		accepted, err := store.Create(t.Context(), created, work.Effects{})
		if err != nil {
			t.Fatal(err)
		}
		if err := <-woken; err != nil {
			t.Errorf("Task() error = %v", err)
		}
		if err := store.Append(t.Context(), accepted.Work.Fence, completed(accepted.Record), work.Effects{}); err != nil {
			t.Error(err)
		}
		if _, err := store.List(t.Context(), local, task.Query{Limit: 1}); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}
