package trust

import (
	"context"
	"time"

	"github.com/legation/legation/internal/work"
)

// RemoteCard is what is kept of the card of one remote agent. Times are in whole
// milliseconds. Slices are not changed once they are in it.
type RemoteCard struct {
	// Name is that of the registration.
	Name string

	// Generation is that of the trust, see [Ticket].
	Generation int64

	// State, with the code that says why, is what was told last, and Since is
	// when that began. It is unknown, trusted, stale or quarantined.
	State  State
	Reason Code
	Since  time.Time

	// Raw is the card as it was last read, byte for byte, whether it verifies or
	// not. Fault says why what was read is no card at all; Raw is empty then.
	Raw   []byte
	Fault string

	// Asked is where the registration said that the card is, and URL where it
	// was read. ETag and LastModified are the validators that it came with, and
	// MaxAge is how long it may be used without asking again.
	Asked, URL         string
	ETag, LastModified string
	MaxAge             time.Duration

	// FetchedAt is when the card was read or last found unchanged. Zero means
	// never.
	FetchedAt time.Time

	// VerifiedAt is when it last verified. The others describe the card that
	// did: the key that signed it, its algorithm, the agent's version, and the
	// digest. All are empty if Raw does not verify.
	VerifiedAt       time.Time
	KeyID, Algorithm string
	Version, Digest  string

	// Accepted is the canonical form of the card that was accepted last, empty
	// if none was. Route is the URL of the registration then: one that leads
	// elsewhere begins anew.
	Accepted       []byte
	AcceptedDigest string
	Route          string
	AcceptedAt     time.Time

	// AcceptedBy is who accepted it, "legation" for a first card and for changes
	// of wording.
	AcceptedBy string
}

// Store keeps the cards of remote agents. Each method is one atomic change or
// one consistent read; a change is durable when its method returns.
type Store interface {
	// RemoteCards returns all that are kept, by name.
	RemoteCards(ctx context.Context) ([]RemoteCard, error)

	// PutRemoteCard keeps a card in place of the one that is kept under its name.
	// The generation that is kept never falls. The effects are committed with it.
	PutRemoteCard(ctx context.Context, kept RemoteCard, effects work.Effects) error

	// DeleteRemoteCard forgets a card, if it is kept.
	DeleteRemoteCard(ctx context.Context, name string) error
}
