package sqlite_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

// TestWritable fills the disk and makes room again: what is said follows, with
// nobody else writing meanwhile.
func TestWritable(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	ctx := t.Context()
	if err := store.Writable(ctx); err != nil {
		t.Errorf("Writable() of a new store = %v", err)
	}
	held, err := store.Create(ctx, newTask(local, "held"), work.Effects{})
	if err != nil {
		t.Fatal(err)
	}
	large := newTask(local, strings.Repeat("too large ", 100_000))
	if err := store.LimitPages(ctx, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(ctx, large, work.Effects{}); !errors.Is(err, sqlite.ErrDiskFull) {
		t.Fatalf("Create() = %v, want ErrDiskFull", err)
	}
	if store.Healthy() {
		t.Error("a change that could not be stored is not remembered")
	}
	if err := store.Writable(ctx); err != nil {
		t.Errorf("Writable() with room for something small = %v", err)
	}

	if _, err := store.Create(ctx, large, work.Effects{}); !errors.Is(err, sqlite.ErrDiskFull) {
		t.Fatalf("Create() = %v, want ErrDiskFull", err)
	}
	if err := store.LimitPages(ctx, -1); err != nil {
		t.Fatal(err)
	}
	if err := store.Append(ctx, held.Work.Fence, completed(held.Record), work.Effects{}); err != nil {
		t.Fatal(err)
	}
	if !store.Healthy() {
		t.Error("a change that was stored is not remembered")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(ctx, large, work.Effects{}); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Create() = %v, want ErrClosed", err)
	}
}
