// Package storetest is the suite that every store passes: what packages task,
// internal/work, internal/vault and internal/registry promise of a store,
// sentence by sentence.
//
// It is not a test of any engine and it knows no storage: a store shows itself
// through [Database], and everything is asserted through the methods of
// its [Store].
//
// Invariant: a guarantee is written down here once, and holds for all stores.
//
// Start reading at [Run].
package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Store is an open store.
type Store interface {
	task.Store
	vault.Store
	audit.Store
	registry.Store
	trust.Store
	people.Store
	Surveyor
	Close() error

	// Counted is what a caller holds and has used of a day.
	Counted(ctx context.Context, caller string, on quota.Day) (quota.Counters, error)
}

// Database is where a store keeps what it stores.
type Database interface {
	// Open opens the store as a node does when it starts. It is not open yet,
	// or was closed or abandoned by Crash. The store takes the time from now.
	Open(t *testing.T, now func() time.Time) Store

	// Crash returns a database with what is on the disk at this moment, as if
	// the node had died. Nothing is being written. The store that is open stays
	// usable and no longer matters.
	Crash(t *testing.T) Database
}

// Run runs the suite on new, empty databases that create makes. Everything is
// over when it returns.
func Run(t *testing.T, create func(t *testing.T) Database) {
	for _, group := range []struct {
		name  string
		tests map[string]func(*fixture)
	}{
		{"Create", createTests},
		{"Continue", continueTests},
		{"Append", appendTests},
		{"Cancel", cancelTests},
		{"Read", readTests},
		{"List", listTests},
		{"Events", eventTests},
		{"Watch", watchTests},
		{"Work", workTests},
		{"Early", earlyTests},
		{"Effects", effectTests},
		{"Secrets", secretTests},
		{"Seals", sealTests},
		{"Audit", auditTests},
		{"Registry", registryTests},
		{"RemoteCards", remoteCardTests},
		{"Quota", quotaTests},
		{"People", peopleTests},
		{"Survey", surveyTests},
		{"Crash", crashTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for name, test := range group.tests {
				t.Run(name, func(t *testing.T) {
					f := &fixture{T: t, db: create(t), clock: newClock()}
					f.open()
					test(f)
				})
			}
		})
	}
}

// fixture is one open store and what tests need around it.
type fixture struct {
	*testing.T
	db    Database
	store Store
	clock *clock
}

// open opens the store and closes it when the test ends.
func (f *fixture) open() {
	f.Helper()
	store := f.db.Open(f.T, f.clock.Now)
	f.store = store
	f.Cleanup(func() {
		if err := store.Close(); err != nil {
			f.Errorf("Close() error = %v", err)
		}
	})
}

// crash goes on with what is on the disk, in a new process as it were.
func (f *fixture) crash() {
	f.Helper()
	f.db = f.db.Crash(f.T)
	f.open()
}

// reopen closes the store and opens it again.
func (f *fixture) reopen() {
	f.Helper()
	if err := f.store.Close(); err != nil {
		f.Fatalf("Close() error = %v", err)
	}
	f.open()
}

func (f *fixture) ctx() context.Context { return f.Context() }

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock {
	return &clock{now: time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const lease = 15 * time.Second

// expire lets all leases run out.
func (f *fixture) expire() { f.clock.advance(lease + time.Second) }

var none work.Effects
