package audit

import (
	"context"
	"time"
)

// Bounds of one read: entries returned, and entries looked at for them.
const (
	MaxPage = 1000
	MaxScan = 100_000
)

// Query selects entries. The zero value of a member selects all.
type Query struct {
	Before    int64 // entries with a lower number
	Since     time.Time
	Who       string
	Party     string
	Operation string
	Outcome   Outcome
	TaskID    string
	Limit     int // at most MaxPage, at least 1
}

// Recorded is an entry in its place.
type Recorded struct {
	Number int64
	Entry
}

// Matches reports whether an entry is selected; Before and Since are for the
// store to heed.
func (q Query) Matches(e Entry) bool {
	return (q.Who == "" || q.Who == e.Who) && (q.Party == "" || q.Party == e.Party) &&
		(q.Operation == "" || q.Operation == e.Operation) && (q.Outcome == "" || q.Outcome == e.Outcome) &&
		(q.TaskID == "" || q.TaskID == e.TaskID)
}

// Store keeps the audit. Its methods are safe for concurrent use.
type Store interface {
	// Record stores entries of what changed nothing else, such as refusals.
	// Those of a change travel with it.
	Record(ctx context.Context, entries ...Entry) error

	// Audit reads entries, the newest first.
	Audit(ctx context.Context, query Query) ([]Recorded, error)

	// Evidence reads the seals after one, with the entries they cover as they
	// are kept, a bounded number in one call. If the first seal there is has no
	// entries it is the anchor that ForgetAudit has left.
	Evidence(ctx context.Context, after int64, visit func(seal Seal, entries [][]byte) error) error

	// ForgetAudit removes entries older than a time, seal by seal, and returns
	// how many. The last seal over them stays as the anchor of the chain.
	ForgetAudit(ctx context.Context, before time.Time) (int64, error)
}
