package trust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/legation/legation/internal/registry"
)

// Config tunes a [Book]. The zero value is ready to use, and finds every card
// that verifies usable.
type Config struct {
	// Usable says why a card that verifies cannot be called, as the client role
	// sees it: its interfaces, its faults. It must be quick and reach nothing.
	// Nil means that every card can.
	Usable func(Candidate) []Reason

	// Understood are extensions that this program understands by itself. They
	// are offered to every agent that announces them.
	Understood []string

	// HasValue reports whether the vault holds a value of a secret. It must be
	// quick. Nil means that it holds all.
	HasValue func(registry.SecretName) bool

	// Settlement marks that all which is believed is written down. A book that
	// begins without the mark begins a new generation of every trust. Nil means
	// that it always does.
	Settlement Settlement

	// Concurrent is how many cards may be read at once, those that could not be
	// read the last time half as many. Zero means 16.
	Concurrent int

	// ReadTimeout bounds one reading. Zero means 30 seconds.
	ReadTimeout time.Duration

	// Now supplies the times written into records and by which cards age. Nil
	// means time.Now.
	Now func() time.Time

	// Logger receives changes and failures, never what a card says beyond names
	// and bounded excerpts. Nil discards them.
	Logger *slog.Logger
}

// Book is what we believe of every remote agent that is registered. It is safe
// for concurrent use.
type Book struct {
	store  Store
	source Source
	cfg    Config
	wake   chan struct{} // carries no data

	setting  sync.Mutex // held by Set, with the next one
	revision int64      // of the registry

	marking sync.Mutex // held by settle, with the next one
	settled bool       // as it was marked last
	anew    bool       // what is kept is of a book that did not mark it

	mu      sync.RWMutex
	entries map[registry.Name]*entry
	kept    map[registry.Name]RemoteCard // of no registration so far
}

// NewBook returns a book with what the store keeps. Nobody is trusted before
// [Book.Set].
func NewBook(ctx context.Context, store Store, source Source, cfg Config) (*Book, error) {
	cfg.Concurrent = cmp.Or(cfg.Concurrent, 16)
	cfg.ReadTimeout = cmp.Or(cfg.ReadTimeout, 30*time.Second)
	if cfg.Concurrent < 0 || cfg.ReadTimeout < 0 {
		return nil, errors.New("trust: a limit is negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Settlement == nil {
		cfg.Settlement = unsettled{}
	}
	all, err := store.RemoteCards(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the cards of remote agents: %w", err)
	}
	settled := cfg.Settlement.Settled()
	b := &Book{
		settled: settled, anew: !settled,
		store: store, source: source, cfg: cfg, wake: make(chan struct{}, 1),
		entries: make(map[registry.Name]*entry), kept: make(map[registry.Name]RemoteCard),
	}
	for _, kept := range all {
		b.kept[registry.Name(kept.Name)] = kept
	}
	return b, nil
}

// Set goes on with what is registered now. It is called at the start, and
// whenever the registry or the values of secrets have changed; a set of an earlier
// revision than the last one is passed over. The cards at hand
// are judged anew without the network, and what that takes away is gone when Set
// returns, and never later. An error means that something could not be written
// down; it is tried again by [Book.Run], and trust that was gained waits for it.
func (b *Book) Set(ctx context.Context, set registry.Set) error {
	wanted := make(map[registry.Name]registry.Document)
	for _, doc := range set.Documents {
		if doc.Kind == registry.KindRemoteAgent {
			wanted[doc.Name] = doc
		}
	}
	b.setting.Lock()
	defer b.setting.Unlock()
	if set.Revision < b.revision {
		return nil
	}
	b.revision = set.Revision
	var changed []*entry
	gone := make(map[registry.Name]*entry)
	b.mu.Lock()
	for name, e := range b.entries {
		if _, ok := wanted[name]; !ok {
			e.remove()
			delete(b.entries, name)
			gone[name] = e
		}
	}
	for name := range b.kept {
		if _, ok := wanted[name]; !ok {
			delete(b.kept, name)
			gone[name] = nil
		}
	}
	for name, doc := range wanted {
		reg, ok := NewRegistration(doc)
		if !ok {
			continue
		}
		e := b.entries[name]
		if e == nil {
			e = newEntry(reg, b.kept[name])
			e.anew = b.anew && e.kept.Generation != 0
			delete(b.kept, name)
			b.entries[name] = e
		}
		ready, reasons := registry.Readiness(doc, registry.Refs{HasValue: b.cfg.HasValue, Now: b.cfg.Now()})
		if b.register(e, reg, ready, reasons) {
			changed = append(changed, e)
		}
	}
	b.mu.Unlock()
	b.signal()

	var failed []error
	for _, e := range changed {
		failed = append(failed, b.save(ctx, e))
	}
	for name, e := range gone {
		failed = append(failed, b.forget(ctx, name, e))
	}
	b.settle()
	return errors.Join(failed...)
}

// Trust returns a ticket for a remote agent that is trusted now. The error is
// [ErrUnknown] or a *[NotTrustedError].
func (b *Book) Trust(name registry.Name) (Ticket, error) {
	e := b.entry(name)
	if e == nil {
		return Ticket{}, fmt.Errorf("%w: %s", ErrUnknown, bounded(string(name)))
	}
	return e.ticket(b.cfg.Now())
}

// Valid reports whether what was asked under a ticket may still be believed: its
// agent is trusted, and was so all the time.
func (b *Book) Valid(t Ticket) bool { return b.Believed(t.Name, t.Generation) }

// Believed is [Book.Valid] for a ticket of which the name and the generation were
// kept.
func (b *Book) Believed(name registry.Name, generation int64) bool {
	e := b.entry(name)
	if e == nil {
		return false
	}
	now, err := e.ticket(b.cfg.Now())
	return err == nil && now.Generation == generation
}

// Known returns what is known of one remote agent.
func (b *Book) Known(name registry.Name) (Knowledge, bool) {
	e := b.entry(name)
	if e == nil {
		return Knowledge{}, false
	}
	return e.knowledge(b.cfg.Now()), true
}

// All returns what is known of every remote agent, by name.
func (b *Book) All() []Knowledge {
	var all []Knowledge
	now := b.cfg.Now()
	for _, e := range b.all() {
		all = append(all, e.knowledge(now))
	}
	slices.SortFunc(all, func(x, y Knowledge) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// Registration returns the registration of one remote agent, as it is used.
func (b *Book) Registration(name registry.Name) (Registration, bool) {
	e := b.entry(name)
	if e == nil {
		return Registration{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reg, true
}

func (b *Book) entry(name registry.Name) *entry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.entries[name]
}

func (b *Book) all() []*entry {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := make([]*entry, 0, len(b.entries))
	for _, e := range b.entries {
		all = append(all, e)
	}
	return all
}

func (b *Book) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
