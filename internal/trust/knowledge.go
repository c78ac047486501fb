package trust

import (
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
)

// Knowledge is all there is to tell of a remote agent, for people.
type Knowledge struct {
	Name registry.Name

	// Registration is the generation of the document, and Generation that of the
	// trust.
	Registration, Generation int64

	// State, with the reasons for everything but trusted, and since when the card
	// has been in the state that was told last.
	State   State
	Reasons []Reason
	Since   time.Time

	// Card is the card as it was last read, if it verifies, and else nil. The
	// next ones describe it.
	Card             *a2a.AgentCard
	KeyID, Algorithm string
	Digest           string

	// Extensions are the extensions of ours that the card announces.
	Extensions []string

	// AcceptedDigest is the digest of the card that was accepted last, with when
	// and by whom. Drift is how the card that was read differs from it.
	AcceptedDigest string
	AcceptedAt     time.Time
	AcceptedBy     string
	Drift          card.Drift

	// URL is where the card was read, with its validators.
	URL, ETag, LastModified string

	// FetchedAt is when it was read or found unchanged, VerifiedAt when it last
	// verified, and Until when trust in it ends unless it is read again.
	FetchedAt, VerifiedAt, Until time.Time

	// NextRead is when it will be read again, zero if not at all.
	NextRead time.Time

	// Failure is why the last reading failed, nil if it did not.
	Failure *Failure
}

// Failure is a reading that failed.
type Failure struct {
	At    time.Time
	Code  Code
	Words string

	// Times is how often in a row.
	Times int
}
