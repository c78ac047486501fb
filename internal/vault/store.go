package vault

import (
	"context"
	"time"

	"github.com/legation/legation/internal/work"
)

// Bounds that a store keeps.
const (
	MaxVersions = 10   // of one secret; adding another forgets the oldest
	MaxStored   = 4000 // versions of all secrets, with the deleted ones that are remembered
)

// Secret is one version of a secret as it is stored.
type Secret struct {
	Name      string
	Version   int64 // counts from 1
	Author    string
	CreatedAt time.Time // in whole milliseconds
	Sealed    []byte
}

// Metadata is what may be told of one version of a secret.
type Metadata struct {
	Name      string
	Version   int64
	Author    string
	CreatedAt time.Time
	UsedAt    time.Time // zero if it was not used
	Key       KeyID     // the master key it is sealed with
}

// Use is what a secret is opened for.
type Use struct {
	Who     string // who makes us do it: a caller, a person, a part of ourselves
	Purpose string // what it is for, in a word or two
	Party   string // who it is sent to: a remote agent, a provider; empty if it stays here
	Host    string // where it is sent; empty if it stays here
}

// UseRecord says that a version of a secret was opened.
type UseRecord struct {
	Number int64 // later records have higher numbers
	Use
	Name    string
	Version int64
	At      time.Time // in whole milliseconds
}

// Place is where a store keeps a sealed value. The zero value is before all
// others.
type Place struct {
	Column string // as the store calls it
	Row    int64
}

// SealedRow is a sealed value and where it is.
type SealedRow struct {
	Place
	Sealed []byte
}

// Resealed is a new form of a sealed value. It counts only where the old one
// still is.
type Resealed struct {
	Place
	Old, New []byte
}

// Store is what a vault asks of a store. Each method is one atomic change or
// one consistent read; a change is durable when its method returns.
type Store interface {
	Seals

	// SecretVersion is the newest version a name ever had that is still
	// remembered, deleted or not. Zero means none.
	SecretVersion(ctx context.Context, name string) (int64, error)

	// AddSecret adds a version, which must be the one after SecretVersion,
	// else ErrConflict. It keeps [MaxVersions]. If there are [MaxStored], it
	// forgets the oldest deleted one, and without one it returns ErrFull.
	AddSecret(ctx context.Context, secret Secret, effects work.Effects) error

	// Secret returns one version, or ErrNotFound.
	Secret(ctx context.Context, ref Reference) (Secret, error)

	// UseSecret records a use of a version that is there, else ErrNotFound. It
	// gives the record its number.
	UseSecret(ctx context.Context, record UseRecord) error

	// DeleteSecret removes one version, or all if the reference names none, and
	// remembers the newest number. If there is nothing to remove it returns
	// ErrNotFound.
	DeleteSecret(ctx context.Context, ref Reference, effects work.Effects) error

	// Secrets returns the newest version of each secret, by name.
	Secrets(ctx context.Context) ([]Metadata, error)

	// SecretVersions returns all versions of a secret, newest first, or
	// ErrNotFound.
	SecretVersions(ctx context.Context, name string) ([]Metadata, error)

	// SecretUses returns records of uses of a secret that may be deleted by
	// now, newest first: those with numbers below before, unless it is zero,
	// and at most limit.
	SecretUses(ctx context.Context, name string, before int64, limit int) ([]UseRecord, error)
}

// Seals is how rotation reaches every sealed value of a store, whatever it
// belongs to.
type Seals interface {
	// SealKeys are the master keys that anything is sealed with, in order.
	SealKeys(ctx context.Context) ([]KeyID, error)

	// SealedRows returns values sealed with a master key, in the order of
	// their places, from after a place on, at most limit.
	SealedRows(ctx context.Context, key KeyID, after Place, limit int) ([]SealedRow, error)

	// Reseal replaces values that are still the old ones and leaves the
	// others alone. It returns how many it replaced.
	Reseal(ctx context.Context, values []Resealed) (int, error)
}
