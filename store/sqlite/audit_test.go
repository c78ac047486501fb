package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/store/sqlite"
)

var told = audit.Entry{Operation: "apply", Outcome: audit.Done}

// tamper runs statements on the database of a store that is closed.
func tamper(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
}

// verify goes through the chain of a store.
func verify(ctx context.Context, store *sqlite.Store) error {
	chain := new(audit.Chain)
	return store.Evidence(ctx, 0, chain.Verify)
}

// Entries that somebody has put into the table are told, and keep nothing that
// happens later from being written down.
func TestEntriesThatNoSealCovers(t *testing.T) {
	inserted := func(numbers ...string) (statements []string) {
		for _, n := range numbers {
			statements = append(statements, fmt.Sprintf("INSERT INTO audit (n, at_ms, body) SELECT %s, at_ms, body FROM audit WHERE n = 1", n))
		}
		return statements
	}
	for name, tt := range map[string]struct {
		strange []string
		want    []int64
		after   string // what verification says once there is more
	}{
		"beyond":     {inserted("4", "9"), []int64{4, 9}, "seal 4 begins with entry 10, and entry 4 is next"},
		"far beyond": {inserted("9223372036854775807"), []int64{1<<63 - 1}, ""},
		"below":      {inserted("0", "-5"), []int64{-5, 0}, ""},
		"no seals":   {[]string{"DELETE FROM audit_seals"}, []int64{1, 2, 3}, ""},
		"none":       {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
			for range 3 {
				if err := store.Record(t.Context(), told); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			tamper(t, dir, tt.strange...)
			store = open(t, dir, sqlite.Config{Sync: sqlite.Off})
			got, err := store.Unsealed(t.Context())
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("Unsealed() error %v (-want +got):\n%s", err, diff)
			}
			for range 3 {
				if err := store.Record(t.Context(), told); err != nil {
					t.Errorf("Record() error = %v", err)
				}
			}
			seen := map[int64]bool{}
			for before := int64(0); len(seen) < 100; {
				page, err := store.Audit(t.Context(), audit.Query{Limit: 2, Before: before})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range page.Entries {
					seen[e.Number] = true
				}
				if before = page.Next; before == 0 {
					break
				}
			}
			if len(seen) < 6 {
				t.Errorf("the audit lists %v", seen)
			}
			err = verify(t.Context(), store)
			if (tt.after == "") != (err == nil) || err != nil && (!errors.Is(err, audit.ErrBroken) || !strings.Contains(err.Error(), tt.after)) {
				t.Errorf("verified: %v, want %q", err, tt.after)
			}
		})
	}
}

// A seal that was given an old time, as a clock does, takes nothing along that is
// before it.
func TestForgettingStopsAtWhatIsYoung(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	store := open(t, dir, sqlite.Config{Sync: sqlite.Off, Now: func() time.Time { return now }})
	for range 5 {
		if err := store.Record(t.Context(), told); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	tamper(t, dir, "UPDATE audit_seals SET at_ms = 0 WHERE n IN (1, 2, 5)")
	store = open(t, dir, sqlite.Config{Sync: sqlite.Off})
	if n, err := store.ForgetAudit(t.Context(), now.Add(-time.Hour)); err != nil || n != 2 {
		t.Errorf("ForgetAudit() = %d, %v, want 2", n, err)
	}
}

// Whoever stops waiting does not read what is still being counted.
func TestForgettingIsGivenUp(t *testing.T) {
	store := open(t, t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err := store.Record(t.Context(), told); err != nil {
		t.Fatal(err)
	}
	for name, forget := range map[string]func(context.Context, time.Time) (int64, error){
		"audit": store.ForgetAudit, "uses": store.ForgetSecretUses,
	} {
		release := store.Hold(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := forget(ctx, time.Now().Add(time.Hour))
			done <- err
		}()
		for store.Waiting() == 0 {
			runtime.Gosched()
		}
		release()
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// Uses of secrets are forgotten up to the first that is young, however many.
func TestUsesOfSecretsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	now := time.UnixMilli(2_000_000)
	tamper(t, dir, `WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 2500)
		INSERT INTO secret_uses (n, at_ms, secret, version, who, purpose, party, host)
		SELECT n, CASE WHEN n IN (2400, 2450) THEN 3000000 ELSE n END, 's', 1, 'w', 'p', '', '' FROM numbers`)
	for _, want := range []int64{2399, 0} {
		if n, err := store.ForgetSecretUses(t.Context(), now); err != nil || n != want {
			t.Errorf("ForgetSecretUses() = %d, %v, want %d", n, err, want)
		}
	}
	if n, err := store.ForgetSecretUses(t.Context(), time.UnixMilli(4_000_000)); err != nil || n != 101 {
		t.Errorf("ForgetSecretUses() of all = %d, %v, want 101", n, err)
	}
}
