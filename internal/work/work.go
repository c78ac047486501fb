package work

import (
	"context"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/quota"
)

// Kind names what sort of thing is to be done.
type Kind string

// KindRun is the run of a task; its key's id is the task id.
const KindRun Kind = "run"

// Key names one thing to be done.
type Key struct {
	Kind Kind
	ID   string
}

// Fence is the right to write about a key. It is void once the key was claimed
// again, given up or ended.
type Fence struct {
	Key
	Epoch int64
}

// Item is a claimed key.
type Item struct {
	Fence

	// Attempt counts the claims of this key since it last became new work,
	// from 1.
	Attempt int
}

// Effects are committed together with the change that carries them.
type Effects struct {
	// Wake makes suspended keys claimable. A key that is held now will find
	// itself woken when it suspends; a key that does not exist is ignored.
	Wake []Key

	// Cancel ends keys: they vanish, and their fences are void.
	Cancel []Key

	// Hold sets quota aside for the work that the change makes. The whole
	// change is refused with a [quota.ExceededError] if it does not fit. Nil
	// means that nothing is set aside.
	Hold *quota.Hold

	// Settle ends holds with what was used of them. What that gives back is
	// there for the changes that follow.
	Settle []quota.Use

	// Audit is evidence of the change. An entry without a time is given that
	// of the change.
	Audit []audit.Entry
}

// Query says what a node is ready to take.
type Query struct {
	Kind  Kind
	Limit int // most items to take

	// PerGroup is the most items of one group (a caller) held at once, over
	// all nodes.
	PerGroup int

	// GroupLimit, if not nil, says how many items one group may hold in place
	// of PerGroup; zero stands for PerGroup. It must be quick.
	GroupLimit func(group string) int

	Lease time.Duration
}

// LimitOf is how many items one group may hold.
func (q Query) LimitOf(group string) int {
	if q.GroupLimit != nil {
		if n := q.GroupLimit(group); n > 0 {
			return n
		}
	}
	return q.PerGroup
}

// Store keeps the rows. Each method is one atomic change.
type Store interface {
	// Claim takes claimable items, oldest first, and gives each a new epoch.
	// Items whose lease has run out are claimable.
	Claim(ctx context.Context, query Query) ([]Item, error)

	// Renew prolongs leases and returns the keys whose fence is void.
	Renew(ctx context.Context, lease time.Duration, fences []Fence) (lost []Key, err error)

	// Release gives items up: they are claimable at once, by any node. A void
	// fence is ignored.
	Release(ctx context.Context, fences []Fence) error

	// Ready is signaled, without blocking, when something of any kind may have
	// become claimable. It carries no data and one consumer.
	Ready() <-chan struct{}
}
