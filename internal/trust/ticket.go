package trust

import (
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/registry"
)

// Ticket is the trust in one remote agent at one moment. It is not changed.
type Ticket struct {
	// Name is that of the registration, and Registration its generation.
	Name         registry.Name
	Registration int64

	// Spec is what the registration says, with the defaults.
	Spec *registry.RemoteAgent

	// Generation is that of the trust. It rises each time trust is withdrawn, or
	// the registration changes so that answers to what was asked before are not
	// to be believed: another URL, or another key than the one that the card was
	// verified with. It goes on where a registration is deleted and made anew,
	// and after a restart.
	Generation int64

	// Card is what the agent says of itself, as it was verified. Canonical is
	// its text.
	Card      a2a.AgentCard
	Canonical []byte

	// KeyID and Algorithm say how it was verified; they are empty where the
	// registration allows cards without signature. Digest is that of Canonical.
	KeyID, Algorithm string
	Digest           string

	// Extensions are the extensions to ask for: those that we offer and the card
	// announces.
	Extensions []string

	// Until is when the trust ends unless the card is read again before.
	Until time.Time

	// Withdrawn is closed when the generation has risen, so that what is open
	// can be ended. That trust has run out shows there a moment later than in
	// [Book.Valid].
	Withdrawn <-chan struct{}
}
