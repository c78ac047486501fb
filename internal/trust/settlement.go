package trust

import "slices"

// Settlement is a mark beside the store, which outlives a store that fails. While
// it stands, every loss of trust has been written down.
type Settlement interface {
	// Settled reports whether the mark stands.
	Settled() bool

	// Settle sets the mark, or takes it away.
	Settle(settled bool) error
}

// unsettled is for who has none: then every start begins anew.
type unsettled struct{}

func (unsettled) Settled() bool     { return false }
func (unsettled) Settle(bool) error { return nil }

// settle sets the mark if every generation is written down, and takes it away if
// one is not. It is called before something is written, and after.
func (b *Book) settle() {
	b.marking.Lock()
	defer b.marking.Unlock()
	settled := !slices.ContainsFunc(b.all(), (*entry).owes)
	if settled == b.settled {
		return
	}
	if err := b.cfg.Settlement.Settle(settled); err != nil {
		b.cfg.Logger.Error("whether all that is believed of remote agents is written down could not be marked", "settled", settled, "error", err)
		return
	}
	b.settled = settled
}

// owes reports whether a generation has begun that is not written down.
func (e *entry) owes() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.gone && e.kept.Generation != e.writtenGeneration
}
