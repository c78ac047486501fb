package registry

import (
	"context"
	"errors"

	"github.com/legation/legation/internal/work"
)

// Errors of the registry. Compare with errors.Is.
var (
	// ErrConflict: what is registered was changed since the plan was made.
	ErrConflict = errors.New("what is registered has changed meanwhile")

	// ErrNotFound: there is no such document.
	ErrNotFound = errors.New("no such document is registered")
)

// Store keeps documents. Its methods are safe for concurrent use.
type Store interface {
	// Registry returns what is registered, as [Restore] makes it of what the
	// store keeps, all of one moment.
	Registry(ctx context.Context) (Set, error)

	// Commit carries out the changes of a plan, and what travels with them, in
	// one atomic change: afterwards the store's revision is the plan's. It
	// returns [ErrConflict], and has changed nothing, if the store's revision is
	// not the plan's base.
	Commit(ctx context.Context, plan Plan, effects work.Effects) error
}
