package vault

import (
	"context"
	"fmt"
	"slices"
)

// batch is how many rows are wrapped anew in one change.
const batch = 64

// Check returns an [UnknownKeyError] if anything is sealed with a master key
// that was not given.
func (v *Vault) Check(ctx context.Context) error { return check(ctx, v.store, v.sealer.Keys()) }

func check(ctx context.Context, store Seals, keys *Keyring) error {
	used, err := store.SealKeys(ctx)
	if err != nil {
		return fmt.Errorf("find the master keys in use: %w", err)
	}
	missing := slices.DeleteFunc(used, keys.has)
	if len(missing) > 0 {
		return &UnknownKeyError{Keys: missing, Given: keys.IDs()}
	}
	return nil
}

// UseKeys goes on with other master keys, if the present primary is among them
// and they open all that is sealed, else it changes nothing and returns an
// [UnknownKeyError]. What is sealed from now on is sealed with their primary;
// [Vault.Rotate] brings the rest there.
func (v *Vault) UseKeys(ctx context.Context, keys *Keyring) error {
	// Something may just be on its way into the store with the present one.
	if primary := v.sealer.Keys().Primary(); !keys.has(primary) {
		return &UnknownKeyError{Keys: []KeyID{primary}, Given: keys.IDs()}
	}
	if err := check(ctx, v.store, keys); err != nil {
		return err
	}
	v.sealer.keys.Store(keys)
	return nil
}

// Rotation says what became of sealed values.
type Rotation struct {
	Primary   KeyID   // the master key they are to be sealed with
	Rewrapped int     // values that now are, and were not
	Failed    int     // values that could not be
	Left      []KeyID // other master keys that are still needed
}

// Rotate wraps the data key of every sealed value in the store with the primary
// master key, unless it is already. Contents are not opened. It goes by small
// changes, each durable by itself: after a crash or an end of the context it is
// called again and does what is left. Values that cannot be wrapped anew are
// left as they are, and the error tells of the first. Older keys may be taken
// away once Left is empty; backups still need them.
func (v *Vault) Rotate(ctx context.Context) (Rotation, error) {
	keys := v.sealer.Keys()
	done := Rotation{Primary: keys.Primary()}
	used, err := v.store.SealKeys(ctx)
	if err != nil {
		return done, fmt.Errorf("find the master keys in use: %w", err)
	}
	var failure error
	for _, id := range used {
		if id == done.Primary {
			continue
		}
		if err := v.rotate(ctx, keys, id, &done, &failure); err != nil {
			return done, fmt.Errorf("rotate from master key %s: %w", id, err)
		}
	}
	if used, err = v.store.SealKeys(ctx); err != nil {
		return done, fmt.Errorf("find the master keys in use: %w", err)
	}
	done.Left = slices.DeleteFunc(used, func(id KeyID) bool { return id == done.Primary })
	if failure != nil {
		return done, fmt.Errorf("%d sealed values stay as they are: %w", done.Failed, failure)
	}
	return done, nil
}

// rotate brings the values of one master key to the primary. The first failure
// of a value is noted; an error is the store's.
func (v *Vault) rotate(ctx context.Context, keys *Keyring, id KeyID, done *Rotation, failure *error) error {
	var after Place
	for {
		rows, err := v.store.SealedRows(ctx, id, after, batch)
		if err != nil || len(rows) == 0 {
			return err
		}
		after = rows[len(rows)-1].Place
		values := make([]Resealed, 0, len(rows))
		for _, row := range rows {
			sealed, err := keys.rewrap(row.Sealed)
			if err != nil {
				if done.Failed++; *failure == nil {
					*failure = fmt.Errorf("%s, row %d: %w", row.Column, row.Row, err)
				}
				continue
			}
			values = append(values, Resealed{Place: row.Place, Old: row.Sealed, New: sealed})
		}
		n, err := v.store.Reseal(ctx, values)
		if err != nil {
			return err
		}
		done.Rewrapped += n
	}
}
