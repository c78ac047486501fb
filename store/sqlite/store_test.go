package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestStore passes the suite: REQ-LIST-02, REQ-LIST-03, REQ-LIST-10, REQ-LIST-11,
// REQ-LIST-12 and REQ-LIST-13 against a plain filter over all tasks, REQ-LIST-09
// for large ones, REQ-GET-01 and REQ-GET-03 for every read.
func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Database { return directory(t.TempDir()) })
}

// TestStoreWithoutMemory passes the suite with every read from the disk.
func TestStoreWithoutMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Database { return forgetful(t.TempDir()) })
}

// directory is a database in a data directory.
type directory string

func (d directory) Open(t *testing.T, now func() time.Time) storetest.Store {
	t.Helper()
	return open(t, string(d), sqlite.Config{Sync: sqlite.Off, Now: now})
}

// Crash copies the files while the store is open: what a new process would
// find. The lock does not come along.
func (d directory) Crash(t *testing.T) storetest.Database {
	t.Helper()
	return directory(copyDatabase(t, string(d)))
}

type forgetful string

func (d forgetful) Open(t *testing.T, now func() time.Time) storetest.Store {
	t.Helper()
	return open(t, string(d), sqlite.Config{Sync: sqlite.Off, Now: now, CacheBytes: 1, TailBytes: 1, Readers: 1})
}

func (d forgetful) Crash(t *testing.T) storetest.Database {
	t.Helper()
	return forgetful(copyDatabase(t, string(d)))
}

func open(t *testing.T, dir string, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, cfg)
	if err != nil {
		t.Fatalf("Open() error = %v", err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func copyDatabase(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		// The index of the log is shared memory; it is made anew.
		if strings.HasSuffix(file.Name(), "-shm") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, file.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
