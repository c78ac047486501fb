package trust

import (
	"slices"
	"sync"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
)

// entry is one remote agent in the book.
type entry struct {
	reading chan struct{} // holds one token while its card is being read
	saving  sync.Mutex    // held while it is being written down

	mu      sync.Mutex // guards the rest, and is never held over waiting
	reg     Registration
	ready   registry.State
	missing []string // why it is not ready

	kept    RemoteCard // in memory; its state is the one that was told last
	verdict verdict
	void    chan struct{} // closed when the generation rises
	gone    bool
	anew    bool // what was kept may have been lost since

	changes           int // counts what is to be written down
	written           int // how many of them are
	writtenGeneration int64
	durable           State         // that is written down and was not lost since
	pending           []audit.Entry // that go along

	timing
}

func newEntry(reg Registration, kept RemoteCard) *entry {
	kept.Name = string(reg.Name)
	if kept.State == "" {
		kept.State = Unknown
	}
	return &entry{
		reading: make(chan struct{}, 1),
		kept:    kept, durable: kept.State, writtenGeneration: kept.Generation, void: make(chan struct{}),
	}
}

// state is what we believe at a moment, with the reasons for everything but
// trusted. The caller holds e.mu.
func (e *entry) state(now time.Time) (State, []Reason) {
	var reasons []Reason
	for _, words := range e.missing {
		reasons = append(reasons, Reason{Code: CodeRegistration, Words: words})
	}
	state, about := e.card(now)
	switch e.ready {
	case registry.Disabled:
		return Disabled, append(reasons, about...)
	case registry.Inert:
		return Inert, append(reasons, about...)
	}
	if state == Trusted && len(e.verdict.unmet) > 0 {
		return Inert, e.verdict.unmet
	}
	if state == Trusted && e.durable != Trusted {
		return e.durable, []Reason{{
			Code: CodeNotStored, Words: "its card verifies, and that could not be written down yet", Next: "see why in the log of the server; it is tried again",
		}}
	}
	return state, about
}

// card is what the card alone is worth at a moment. The caller holds e.mu.
func (e *entry) card(now time.Time) (State, []Reason) {
	if e.verdict.state == Trusted && e.tooOld(now) {
		return Stale, e.unread([]Reason{{
			Code: CodeTooOld, Words: "its card was read too long ago, on " + e.kept.FetchedAt.UTC().Format(time.RFC3339),
			Next: "see why it cannot be read: legation agent check " + string(e.reg.Name),
		}})
	}
	if e.verdict.state == Unknown {
		return Unknown, e.unread(e.verdict.reasons)
	}
	return e.verdict.state, e.verdict.reasons
}

// unread adds why a card could not be read.
func (e *entry) unread(reasons []Reason) []Reason {
	if e.failure != nil {
		reasons = append(slices.Clip(reasons), Reason{Code: e.failure.Code, Words: e.failure.Words})
	}
	return reasons
}

// skew is how far clocks of nodes may be apart.
const skew = 5 * time.Minute

// tooOld reports whether a card is older than the registration allows. One that
// was read in the future may be of any age.
func (e *entry) tooOld(now time.Time) bool {
	return !now.Before(e.until()) || e.kept.FetchedAt.After(now.Add(skew))
}

func (e *entry) until() time.Time {
	return e.kept.FetchedAt.Add(time.Duration(e.reg.Spec.MaxCardAge))
}

func (e *entry) ticket(now time.Time) (Ticket, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state, reasons := e.state(now)
	if e.gone || state != Trusted || e.verdict.verified == nil {
		return Ticket{}, &NotTrustedError{Name: e.reg.Name, State: state, Reasons: reasons}
	}
	v := e.verdict.verified
	return Ticket{
		Name: e.reg.Name, Registration: e.reg.Generation, Spec: e.reg.Spec, Generation: e.kept.Generation,
		Card: v.Card, Canonical: v.Canonical, KeyID: v.KeyID, Algorithm: string(v.Algorithm), Digest: v.Digest,
		Extensions: e.verdict.extensions, Until: e.until(), Withdrawn: e.void,
	}, nil
}

func (e *entry) knowledge(now time.Time) Knowledge {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := Knowledge{
		Name: e.reg.Name, Registration: e.reg.Generation, Generation: e.kept.Generation, Since: e.kept.Since,
		Drift: e.verdict.drift, Extensions: e.verdict.extensions, AcceptedDigest: e.kept.AcceptedDigest, AcceptedAt: e.kept.AcceptedAt, AcceptedBy: e.kept.AcceptedBy,
		URL: e.kept.URL, ETag: e.kept.ETag, LastModified: e.kept.LastModified,
		FetchedAt: e.kept.FetchedAt, VerifiedAt: e.kept.VerifiedAt,
	}
	k.State, k.Reasons = e.state(now)
	if v := e.verdict.verified; v != nil {
		k.Card, k.KeyID, k.Algorithm, k.Digest = &v.Card, v.KeyID, string(v.Algorithm), v.Digest
		k.Until = e.until()
	}
	if e.failure != nil {
		failure := *e.failure
		k.Failure = &failure
	}
	if e.wanted() && !e.due.IsZero() {
		k.NextRead = now.Add(time.Until(e.due)).UTC()
	}
	return k
}

// remove takes the agent out: tickets for it are void.
func (e *entry) remove() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.gone {
		e.gone = true
		close(e.void)
	}
}
