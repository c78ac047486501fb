package trust

import (
	"context"
	"fmt"
	"strings"

	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
)

// Accept takes the card with this digest, written with sha256: or without, as the one that later ones are compared
// with: it verifies, and waits because its structure changed. The author is the
// person who has looked at it. The agent is trusted from when Accept returns, if
// nothing else is against it. The errors include [ErrUnknown],
// [ErrNothingToAccept], [ErrOtherCard] and the store's.
func (b *Book) Accept(ctx context.Context, name registry.Name, digest, author string) error {
	e := b.entry(name)
	if e == nil {
		return fmt.Errorf("%w: %s", ErrUnknown, bounded(string(name)))
	}
	now := b.cfg.Now()
	e.mu.Lock()
	b.change(e, nil)
	if err := e.acceptable(digest); err != nil {
		e.mu.Unlock()
		return err
	}
	canonical, route := e.verdict.verified.Canonical, string(e.reg.Spec.URL)
	evidence := entryOf(e, now, opAccept, audit.Done, "")
	evidence.Who = author
	e.note(evidence)
	b.change(e, func(kept *RemoteCard) {
		kept.Accepted, kept.AcceptedDigest, kept.Route = canonical, card.Digest(canonical), route
		kept.AcceptedAt, kept.AcceptedBy = stamp(now), author
	})
	if e.verdict.state == Trusted {
		e.attempts = 0
		e.schedule(now)
	}
	e.mu.Unlock()
	b.signal()
	return b.save(ctx, e)
}

// acceptable reports why a card cannot be accepted. The caller holds e.mu.
func (e *entry) acceptable(digest string) error {
	v := e.verdict.verified
	switch {
	case e.gone:
		return ErrUnknown
	case v == nil && len(e.verdict.reasons) > 0:
		return fmt.Errorf("%w: %s", ErrNothingToAccept, e.verdict.reasons[0].Words)
	case v == nil || len(e.verdict.drift.Structure) == 0:
		return ErrNothingToAccept
	case v.Digest != "sha256:"+strings.TrimPrefix(digest, "sha256:"):
		return fmt.Errorf("%w: it has the digest %s", ErrOtherCard, v.Digest)
	}
	return nil
}

// Reload takes over what other nodes have accepted since. It is called where the
// store is shared, whenever it says that something has changed.
func (b *Book) Reload(ctx context.Context) error {
	all, err := b.store.RemoteCards(ctx)
	if err != nil {
		return fmt.Errorf("read the cards of remote agents: %w", err)
	}
	for _, other := range all {
		e := b.entry(registry.Name(other.Name))
		if e == nil {
			continue
		}
		e.mu.Lock()
		newer := other.AcceptedAt.After(e.kept.AcceptedAt) && len(other.Accepted) > 0
		if newer {
			b.change(e, func(kept *RemoteCard) {
				kept.Accepted, kept.AcceptedDigest, kept.Route = other.Accepted, other.AcceptedDigest, other.Route
				kept.AcceptedAt, kept.AcceptedBy = other.AcceptedAt, other.AcceptedBy
				kept.Generation = max(kept.Generation, other.Generation)
			})
		}
		e.mu.Unlock()
		if newer {
			if err := b.save(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}
