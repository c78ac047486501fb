package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/internal/vault"
)

// many is more than one batch of a rotation.
const many = 150

func fill(t *testing.T, v *vault.Vault, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		put(t, v, fmt.Sprintf("s%d", i), fmt.Sprintf("%s-%d", marker, i))
	}
}

func same(a, b vault.Rotation) bool { return cmp.Equal(a, b, cmpopts.EquateEmpty()) }

func TestRotate(t *testing.T) {
	store := open(t, t.TempDir())
	old := keys(t, 1)
	v := newVault(store, old)
	if done, err := v.Rotate(t.Context()); err != nil || !same(done, vault.Rotation{Primary: old.Primary()}) {
		t.Errorf("Rotate() of nothing = %+v, %v", done, err)
	}
	fill(t, v, 0, many)
	before, err := store.Secret(t.Context(), ref(t, "s7"))
	if err != nil {
		t.Fatal(err)
	}
	both := keys(t, 2, 1)
	if err := v.UseKeys(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	opens(t, v, "s7", marker+"-7")
	fill(t, v, many, 1) // with the new key at once

	done, err := v.Rotate(t.Context())
	if err != nil || !same(done, vault.Rotation{Primary: both.Primary(), Rewrapped: many}) {
		t.Fatalf("Rotate() = %+v, %v, want %d values with %s", done, err, many, both.Primary())
	}
	after, err := store.Secret(t.Context(), ref(t, "s7"))
	if err != nil {
		t.Fatal(err)
	}
	const head = 81 // what a master key has part in
	if bytes.Equal(before.Sealed[:head], after.Sealed[:head]) || !bytes.Equal(before.Sealed[head:], after.Sealed[head:]) {
		t.Error("want another data key envelope around the same content")
	}
	if done, err = v.Rotate(t.Context()); err != nil || done.Rewrapped != 0 {
		t.Errorf("Rotate() again = %+v, %v, want nothing to do", done, err)
	}

	// The old key is not needed any more, and opens nothing.
	if err := v.UseKeys(t.Context(), keys(t, 2)); err != nil {
		t.Fatal(err)
	}
	for i := range many + 1 {
		opens(t, v, fmt.Sprintf("s%d", i), fmt.Sprintf("%s-%d", marker, i))
	}
	if unknown, ok := errors.AsType[*vault.UnknownKeyError](newVault(store, old).Check(t.Context())); !ok || !cmp.Equal(unknown.Keys, both.IDs()[:1]) {
		t.Errorf("Check() with the old key alone = %v, want an error that names the new one", unknown)
	}
}

// Keys that do not open what is there are not taken.
func TestKeysThatAreNeededStay(t *testing.T) {
	store := open(t, t.TempDir())
	refused := func(v *vault.Vault, keys *vault.Keyring) {
		t.Helper()
		err := v.UseKeys(t.Context(), keys)
		if _, ok := errors.AsType[*vault.UnknownKeyError](err); !ok {
			t.Errorf("UseKeys(%v) error = %v, want an UnknownKeyError", keys, err)
		}
	}
	v := newVault(store, keys(t, 1))
	refused(v, keys(t, 2)) // nothing is sealed yet, but may be by now
	put(t, v, "token", marker)
	refused(newVault(store, keys(t, 2)), keys(t, 2, 3))
	opens(t, v, "token", marker)
	if err := v.Check(t.Context()); err != nil {
		t.Errorf("Check() error = %v", err)
	}
}

func TestWrongMasterKey(t *testing.T) {
	store := open(t, t.TempDir())
	right, wrong := keys(t, 1), keys(t, 2)
	put(t, newVault(store, right), "token", marker)
	v := newVault(store, wrong)
	for what, err := range map[string]error{
		"Check": v.Check(t.Context()),
		"Open":  second(v.Open(t.Context(), ref(t, "token"), use)),
	} {
		unknown, ok := errors.AsType[*vault.UnknownKeyError](err)
		if !ok || !cmp.Equal(unknown, &vault.UnknownKeyError{Keys: right.IDs(), Given: wrong.IDs()}) {
			t.Errorf("%s() error = %v, want one that names %s", what, err, right.Primary())
		}
		noMarker(t, shown(t, err))
	}
	done, err := v.Rotate(t.Context())
	if err == nil || done.Failed != 1 || !cmp.Equal(done.Left, right.IDs()) {
		t.Errorf("Rotate() = %+v, %v, want a failure and %s left", done, err, right.Primary())
	}
	opens(t, newVault(store, right), "token", marker)
	if got, err := v.Uses(t.Context(), "token", 0, 10); err != nil || len(got) != 1 {
		t.Errorf("%d uses are recorded, %v, want the one that succeeded", len(got), err)
	}
}

func second(_ vault.Value, err error) error { return err }

// mortal is a store whose process dies after so many changes of a rotation.
type mortal struct {
	vault.Store
	left int
}

var errDied = errors.New("killed")

func (m *mortal) Reseal(ctx context.Context, values []vault.Resealed) (int, error) {
	if m.left--; m.left < 0 {
		return 0, errDied
	}
	return m.Store.Reseal(ctx, values)
}

// A crash in the middle of a rotation leaves everything readable, and the next
// one does the rest.
func TestRotationGoesOnAfterACrash(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	fill(t, newVault(store, keys(t, 1)), 0, many)
	both := keys(t, 2, 1)
	done, err := newVault(&mortal{store, 1}, both).Rotate(t.Context())
	if !errors.Is(err, errDied) || done.Rewrapped == 0 || done.Rewrapped == many {
		t.Fatalf("Rotate() = %+v, %v, want some values and then a crash", done, err)
	}

	store = open(t, copied(t, dir))
	v := newVault(store, both)
	for i := range many {
		opens(t, v, fmt.Sprintf("s%d", i), fmt.Sprintf("%s-%d", marker, i))
	}
	rest, err := v.Rotate(t.Context())
	if err != nil || rest.Rewrapped != many-done.Rewrapped || len(rest.Left) > 0 {
		t.Fatalf("Rotate() after the crash = %+v, %v, want the remaining %d values", rest, err, many-done.Rewrapped)
	}
	v = newVault(store, keys(t, 2))
	for i := range many {
		opens(t, v, fmt.Sprintf("s%d", i), fmt.Sprintf("%s-%d", marker, i))
	}
}

// One value that is damaged does not keep the others from a new key.
func TestRotationPassesDamagedValues(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	old := keys(t, 1)
	fill(t, newVault(store, old), 0, 3)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, dir, `UPDATE secrets SET value_sealed = substr(value_sealed, 1, 50) WHERE name = 's1'`)
	store = open(t, dir)
	v := newVault(store, keys(t, 2, 1))
	done, err := v.Rotate(t.Context())
	want := vault.Rotation{Primary: keys(t, 2).Primary(), Rewrapped: 2, Failed: 1, Left: old.IDs()}
	if !errors.Is(err, vault.ErrDamaged) || !cmp.Equal(done, want) {
		t.Errorf("Rotate() = %+v, %v, want %+v and ErrDamaged", done, err, want)
	}
	if !strings.Contains(fmt.Sprint(err), "secrets.value_sealed, row 2") {
		t.Errorf("error %q does not say which value", err)
	}
	noMarker(t, shown(t, err))
	opens(t, v, "s0", marker+"-0")
	opens(t, v, "s2", marker+"-2")
	refuses(t, v, "s1", vault.ErrDamaged)
}

// busy is a store in which a secret is deleted just before it is replaced.
type busy struct {
	vault.Store
	name string
}

func (b busy) Reseal(ctx context.Context, values []vault.Resealed) (int, error) {
	if err := b.DeleteSecret(ctx, vault.Reference{Name: b.name}, none); err != nil {
		return 0, err
	}
	return b.Store.Reseal(ctx, values)
}

func TestRotationDoesNotBringBackWhatIsDeleted(t *testing.T) {
	store := open(t, t.TempDir())
	fill(t, newVault(store, keys(t, 1)), 0, 2)
	v := newVault(busy{store, "s0"}, keys(t, 2, 1))
	done, err := v.Rotate(t.Context())
	if err != nil || done.Rewrapped != 1 || len(done.Left) > 0 {
		t.Errorf("Rotate() = %+v, %v, want the one that is left", done, err)
	}
	refuses(t, v, "s0", vault.ErrNotFound)
	opens(t, v, "s1", marker+"-1")
}

func TestRotationEndsWithItsContext(t *testing.T) {
	store := open(t, t.TempDir())
	fill(t, newVault(store, keys(t, 1)), 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if done, err := newVault(store, keys(t, 2, 1)).Rotate(ctx); !errors.Is(err, context.Canceled) || done.Rewrapped != 0 {
		t.Errorf("Rotate() = %+v, %v, want context.Canceled", done, err)
	}
}
