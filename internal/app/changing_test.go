package app

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

// hasty is a store of secrets whose callers hang up as it stores something, and
// which may fail after that.
type hasty struct {
	vault.Store
	hangUp context.CancelFunc
	fails  error
}

func (h hasty) AddSecret(ctx context.Context, secret vault.Secret, effects work.Effects) error {
	h.hangUp()
	return errors.Join(ctx.Err(), h.Store.AddSecret(ctx, secret, effects), h.fails)
}

func (h hasty) DeleteSecret(ctx context.Context, ref vault.Reference, effects work.Effects) error {
	h.hangUp()
	return errors.Join(ctx.Err(), h.Store.DeleteSecret(ctx, ref, effects), h.fails)
}

// TestSecretsThatMayBeStoredAreTold tells of what is stored whatever whoever
// stored it was told, and of nothing where it was refused.
func TestSecretsThatMayBeStoredAreTold(t *testing.T) {
	lost := errors.New("the answer was lost")
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	key, err := vault.ParseKeys([]byte("legmk1_" + base64.StdEncoding.EncodeToString(make([]byte, 32))))
	if err != nil {
		t.Fatal(err)
	}
	for _, fails := range []error{nil, lost} {
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		secrets := &changing{
			Vault:   vault.New(hasty{store, func() { cancel() }, fails}, vault.NewSealer(key), vault.Config{}),
			changed: func() { told++ },
		}
		value := vault.NewValue([]byte("marker"))
		if _, err := secrets.Put(ctx, "key", value, "ann", work.Effects{}); !errors.Is(err, fails) || told != 1 {
			t.Errorf("Put() error = %v, told %d times, want %v and once", err, told, fails)
		}
		ctx, cancel = context.WithCancel(t.Context())
		if err := secrets.Delete(ctx, vault.Reference{Name: "key"}, work.Effects{}); !errors.Is(err, fails) || told != 2 {
			t.Errorf("Delete() error = %v, told %d times, want %v and twice", err, told, fails)
		}
		if _, err := secrets.Put(ctx, "key", value, "ann", work.Effects{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Put() of somebody who has gone: error = %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		if err := secrets.Delete(ctx, vault.Reference{Name: "none"}, work.Effects{}); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("Delete() of nothing: error = %v", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		if _, err := secrets.Put(ctx, "", value, "ann", work.Effects{}); !errors.Is(err, vault.ErrInvalid) || told != 2 {
			t.Errorf("Put() without a name: error = %v, told %d times", err, told)
		}
		cancel()
	}
}
