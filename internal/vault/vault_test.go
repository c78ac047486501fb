package vault_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	now     = time.Date(2026, 3, 14, 15, 9, 26, 535_897_932, time.FixedZone("", 3600))
	wholeMS = time.Date(2026, 3, 14, 14, 9, 26, 535_000_000, time.UTC)

	use  = vault.Use{Who: "alice", Purpose: "bearer", Party: "weather", Host: "weather.example:443"}
	none work.Effects
)

func open(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newVault(store vault.Store, keys *vault.Keyring) *vault.Vault {
	return vault.New(store, vault.NewSealer(keys), vault.Config{Now: func() time.Time { return now }})
}

func ref(t *testing.T, text string) vault.Reference {
	t.Helper()
	ref, err := vault.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// opens makes sure that a reference opens to a content.
func opens(t *testing.T, v *vault.Vault, text, want string) {
	t.Helper()
	value, err := v.Open(t.Context(), ref(t, text), use)
	if err != nil || string(value.Reveal()) != want {
		t.Errorf("Open(%s) = %q, %v, want %q", text, value.Reveal(), err, want)
	}
}

// refuses makes sure that a reference does not open, nor show anything.
func refuses(t *testing.T, v *vault.Vault, text string, want error) {
	t.Helper()
	value, err := v.Open(t.Context(), ref(t, text), use)
	if !errors.Is(err, want) || value.Reveal() != nil {
		t.Errorf("Open(%s) = %q, %v, want the error %v", text, value.Reveal(), err, want)
	}
	noMarker(t, shown(t, err))
}

func TestPutOpenDelete(t *testing.T) {
	ring := keys(t, 1)
	v := newVault(open(t, t.TempDir()), ring)
	first := put(t, v, "token", "one")
	second := put(t, v, "token", "two")
	want := vault.Metadata{Name: "token", Version: 2, Author: "root", CreatedAt: wholeMS, Key: ring.Primary()}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("Put() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]vault.Metadata{second, first}, versions(t, v, "token")); diff != "" {
		t.Errorf("Versions() (-want +got):\n%s", diff)
	}
	opens(t, v, "token", "two")
	opens(t, v, "token@1", "one")
	if err := v.Delete(t.Context(), ref(t, "token@2"), none); err != nil {
		t.Fatal(err)
	}
	opens(t, v, "token", "one")
	refuses(t, v, "token@2", vault.ErrNotFound)
	if third := put(t, v, "token", "three"); third.Version != 3 {
		t.Errorf("Put() after a deletion made version %d, want 3", third.Version)
	}
	if err := v.Delete(t.Context(), ref(t, "token"), none); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"token", "token@1", "token@3", "unknown"} {
		refuses(t, v, text, vault.ErrNotFound)
		if err := v.Delete(t.Context(), ref(t, text), none); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("Delete(%s) error = %v, want ErrNotFound", text, err)
		}
	}
	if _, err := v.Versions(t.Context(), "token"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("Versions() error = %v, want ErrNotFound", err)
	}
}

func versions(t *testing.T, v *vault.Vault, name string) []vault.Metadata {
	t.Helper()
	found, err := v.Versions(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEveryUseIsRecorded(t *testing.T) {
	v := newVault(open(t, t.TempDir()), keys(t, 1))
	put(t, v, "token", "one")
	put(t, v, "token", "two")
	if all, err := v.List(t.Context()); err != nil || len(all) != 1 || !all[0].UsedAt.IsZero() {
		t.Errorf("List() before a use = %+v, %v", all, err)
	}
	opens(t, v, "token@1", "one")
	opens(t, v, "token", "two")
	refuses(t, v, "token@3", vault.ErrNotFound) // no use
	got, err := v.Uses(t.Context(), "token", 0, 10)
	want := []vault.UseRecord{
		{Number: 2, Use: use, Name: "token", Version: 2, At: wholeMS},
		{Number: 1, Use: use, Name: "token", Version: 1, At: wholeMS},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Uses() error %v (-want +got):\n%s", err, diff)
	}
	for _, limit := range []int{-1, 0, 1} {
		if got, err := v.Uses(t.Context(), "token", 2, limit); err != nil || !cmp.Equal(got, want[1:]) {
			t.Errorf("Uses(before 2, limit %d) = %+v, %v", limit, got, err)
		}
	}
	if all, err := v.List(t.Context()); err != nil || len(all) != 1 || all[0].Version != 2 || !all[0].UsedAt.Equal(wholeMS) {
		t.Errorf("List() = %+v, %v, want version 2, used", all, err)
	}
}

// deaf is a store that fails to record uses.
type deaf struct{ vault.Store }

var errDeaf = errors.New("not now")

func (deaf) UseSecret(context.Context, vault.UseRecord) error { return errDeaf }

func TestNothingOpensWithoutItsRecord(t *testing.T) {
	store := open(t, t.TempDir())
	put(t, newVault(store, keys(t, 1)), "token", marker)
	refuses(t, newVault(deaf{store}, keys(t, 1)), "token", errDeaf)
}

func TestInvalidIsRefused(t *testing.T) {
	v := newVault(open(t, t.TempDir()), keys(t, 1))
	long := strings.Repeat("x", 513)
	ctx := t.Context()
	put := func(name, content, author string) error {
		_, err := v.Put(ctx, name, vault.NewValue([]byte(content)), author, none)
		return err
	}
	with := func(ref vault.Reference, change func(*vault.Use)) error {
		use := use
		change(&use)
		_, err := v.Open(ctx, ref, use)
		return err
	}
	nothing := func(*vault.Use) {}
	token := vault.Reference{Name: "token"}
	_, badVersions := v.Versions(ctx, "")
	_, badUses := v.Uses(ctx, "a b", 0, 1)
	for name, err := range map[string]error{
		"Put: no name":           put("", marker, "root"),
		"Put: a version":         put("token@1", marker, "root"),
		"Put: no value":          put("token", "", "root"),
		"Put: a large value":     put("token", strings.Repeat("x", vault.MaxBytes+1), "root"),
		"Put: no author":         put("token", marker, ""),
		"Put: a long author":     put("token", marker, long),
		"Put: an author in two":  put("token", marker, "ro\not"),
		"Open: no name":          with(vault.Reference{}, nothing),
		"Open: negative version": with(vault.Reference{Name: "token", Version: -1}, nothing),
		"Open: nobody":           with(token, func(u *vault.Use) { u.Who = "" }),
		"Open: no purpose":       with(token, func(u *vault.Use) { u.Purpose = "" }),
		"Open: a long party":     with(token, func(u *vault.Use) { u.Party = long }),
		"Open: a broken host":    with(token, func(u *vault.Use) { u.Host = "\xff" }),
		"Delete: no name":        v.Delete(ctx, vault.Reference{Version: 1}, none),
		"Versions: no name":      badVersions,
		"Uses: a broken name":    badUses,
	} {
		if !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("%s: error = %v, want ErrInvalid", name, err)
		}
		noMarker(t, fmt.Sprint(err))
	}
	refuses(t, v, "token", vault.ErrNotFound)
	if err := with(token, func(u *vault.Use) { u.Party, u.Host = "", "" }); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("Open() for a use that stays here: error = %v, want ErrNotFound", err)
	}
}

// Whoever puts the same secret at the same time gets a version each.
func TestConcurrentPuts(t *testing.T) {
	v := newVault(open(t, t.TempDir()), keys(t, 1))
	const many = 8
	got := make([]vault.Metadata, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			var err error
			if got[i], err = v.Put(t.Context(), "token", vault.NewValue([]byte{'0' + byte(i)}), "root", none); err != nil {
				t.Errorf("Put() error = %v", err)
			}
		})
	}
	all.Wait()
	for i, stored := range got {
		opens(t, v, vault.Reference{Name: "token", Version: stored.Version}.String(), string('0'+rune(i)))
	}
	if found := versions(t, v, "token"); len(found) != many || found[0].Version != many {
		t.Errorf("%d versions up to %d, want %d", len(found), found[0].Version, many)
	}
}

// stubborn is a store in which somebody else is always faster.
type stubborn struct {
	vault.Store
	tries int
}

func (s *stubborn) AddSecret(context.Context, vault.Secret, work.Effects) error {
	s.tries++
	return vault.ErrConflict
}

func TestPutGivesUp(t *testing.T) {
	store := &stubborn{Store: open(t, t.TempDir())}
	_, err := newVault(store, keys(t, 1)).Put(t.Context(), "token", vault.NewValue([]byte(marker)), "root", none)
	if !errors.Is(err, vault.ErrConflict) || store.tries != 64 {
		t.Errorf("Put() error = %v after %d tries, want ErrConflict after 64", err, store.tries)
	}
	noMarker(t, shown(t, err))
}

func TestStoreErrorsAreTold(t *testing.T) {
	store := open(t, t.TempDir())
	v := newVault(store, keys(t, 1))
	put(t, v, "token", marker)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, putErr := v.Put(ctx, "token", vault.NewValue([]byte(marker)), "root", none)
	_, openErr := v.Open(ctx, ref(t, "token"), use)
	_, listErr := v.List(ctx)
	_, rotateErr := v.Rotate(ctx)
	for name, err := range map[string]error{
		"Put": putErr, "Open": openErr, "Delete": v.Delete(ctx, ref(t, "token"), none), "List": listErr,
		"Check": v.Check(ctx), "Rotate": rotateErr, "UseKeys": v.UseKeys(ctx, keys(t, 1)),
	} {
		if !errors.Is(err, sqlite.ErrClosed) {
			t.Errorf("%s() error = %v, want ErrClosed", name, err)
		}
		noMarker(t, shown(t, err))
	}
}

// Rows that somebody changes in the database do not open as something else.
func TestChangedRowsDoNotOpen(t *testing.T) {
	for name, change := range map[string]string{
		"swapped names":       `UPDATE secrets SET name = 'c' WHERE name = 'a'; UPDATE secrets SET name = 'a' WHERE name = 'b'`,
		"swapped versions":    `UPDATE secrets SET value_sealed = (SELECT o.value_sealed FROM secrets o WHERE o.name = 'a' AND o.version = 1) WHERE name = 'a' AND version = 2`,
		"a later version":     `UPDATE secrets SET version = 7 WHERE name = 'a' AND version = 2`,
		"swapped values":      `UPDATE secrets SET value_sealed = (SELECT o.value_sealed FROM secrets o WHERE o.name = 'b') WHERE name = 'a' AND version = 2`,
		"cut":                 `UPDATE secrets SET value_sealed = substr(value_sealed, 1, length(value_sealed) - 1) WHERE name = 'a'`,
		"cut short":           `UPDATE secrets SET value_sealed = x'01' WHERE name = 'a'`,
		"changed":             `UPDATE secrets SET value_sealed = CAST(substr(value_sealed, 1, 100) || x'0000' || substr(value_sealed, 103) AS BLOB) WHERE name = 'a'`,
		"another kind of row": `UPDATE secrets SET value_sealed = zeroblob(200) WHERE name = 'a'`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := open(t, dir)
			v := newVault(store, keys(t, 1))
			put(t, v, "a", marker+"1")
			put(t, v, "a", marker+"2")
			put(t, v, "b", marker+"3")
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			alter(t, dir, change)
			v = newVault(open(t, dir), keys(t, 1))
			refuses(t, v, "a", vault.ErrDamaged)
			if got, err := v.Uses(t.Context(), "a", 0, 1); err != nil || len(got) != 0 {
				t.Errorf("Uses() = %v, %v, want none", got, err)
			}
		})
	}
}

// alter changes a database that no store has open.
func alter(t *testing.T, dir, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// copied is what a new process would find if this one died now.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"legation.db", "legation.db-wal"} {
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
