package audit

import (
	"context"
	"time"
)

// Bounds of one read: entries returned, entries looked at for them, and entries
// in a row that are older than what is asked for, after which there is nothing
// younger: a clock may have been set back, but not for so long.
const (
	MaxPage  = 1000
	MaxScan  = 100_000
	MaxOlder = 10_000
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

// Page is the entries of one read, the newest first.
type Page struct {
	Entries []Recorded

	// Next is what to ask for as Before to go on. Zero means that there is
	// nothing more. A page without entries may be followed by another.
	Next int64
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

	// Audit reads entries.
	Audit(ctx context.Context, query Query) (Page, error)

	// Evidence reads the seals after one, with the entries they cover as they
	// are kept, a bounded number in one call. If the first seal there is has no
	// entries it is the anchor that ForgetAudit has left.
	Evidence(ctx context.Context, after int64, visit func(seal Seal, entries [][]byte) error) error

	// Unsealed returns the numbers of entries before the first seal and behind
	// the last, which this program has not written, a hundred at most.
	Unsealed(ctx context.Context) ([]int64, error)

	// ForgetAudit removes entries older than a time, seal by seal up to the first
	// that is not older, and returns how many. The last seal over them stays as
	// the anchor of the chain. It goes by batches, so that others are not kept
	// waiting; what it returns with an error was removed.
	ForgetAudit(ctx context.Context, before time.Time) (int64, error)
}
