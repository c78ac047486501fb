package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/work"
)

const (
	// commandLine is the author of what the command line publishes.
	commandLine = "command line"

	maxReplans    = 3           // of one change, against others that change the store
	maxAuthor     = 256         // bytes
	commitTimeout = time.Minute // of a change that is on its way
	readTimeout   = 10 * time.Second
)

// Config tunes a [Registry]. The zero value is ready to use.
type Config struct {
	// Host is what the server's own configuration declares. [Registry.Publish]
	// puts another in place of it.
	Host Host

	// Now supplies the times written into the audit. Nil means time.Now.
	Now func() time.Time

	// Logger receives diagnostics: names of documents, never what they say. Nil
	// discards them.
	Logger *slog.Logger
}

// Registry is what is registered, as it is and as it changes. It is safe for
// concurrent use.
//
// A change is planned, committed together with its audit entries, and then told
// to all who watch; the method returns after that. A change that has begun to be
// stored is not taken back when its context ends.
type Registry struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	turn    chan struct{} // held by who changes or reads the store
	host    atomic.Pointer[Host]
	set     atomic.Pointer[Set]
	faults  atomic.Pointer[faults]
	watches watches
}

// Open reads what is registered. Documents that cannot be read are logged, and
// are no error: see [Registry.Unreadable]. The context bounds opening only.
func Open(ctx context.Context, store Store, cfg Config) (*Registry, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{store: store, now: cfg.Now, log: cfg.Logger, turn: make(chan struct{}, 1)}
	r.host.Store(&cfg.Host)
	r.set.Store(new(Set))
	set, err := store.Registry(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what is registered: %w", err)
	}
	r.publish(set)
	return r, nil
}

// Set returns what is registered now. It costs next to nothing.
func (r *Registry) Set() Set { return *r.set.Load() }

// Published returns the ids of the documents that the command line published.
func (r *Registry) Published() []ID {
	var ids []ID
	set := r.Set()
	for _, doc := range set.Documents {
		if doc.Published {
			ids = append(ids, doc.ID())
		}
	}
	for _, doc := range set.Unreadable {
		if doc.Published {
			ids = append(ids, doc.ID)
		}
	}
	return ids
}

// Unreadable returns the ids of the documents that the store keeps and this
// version cannot read. They have no effect, and can be replaced and deleted.
func (r *Registry) Unreadable() []ID {
	var ids []ID
	for _, doc := range r.Set().Unreadable {
		ids = append(ids, doc.ID)
	}
	return ids
}

// Plan returns what Apply would do now, and changes nothing. The errors are
// those of [NewPlan].
func (r *Registry) Plan(ctx context.Context, desired []Document, opts Options) (Plan, error) {
	if err := ctx.Err(); err != nil {
		return Plan{}, err
	}
	opts.Host = *r.host.Load()
	return NewPlan(r.Set(), desired, opts)
}

// Apply changes what is registered to what is desired, and returns what it did:
// nothing, if nothing was to be changed. An author is required; it goes into the
// audit. The errors include [Problems], and [ErrConflict] if others kept changing
// the store.
func (r *Registry) Apply(ctx context.Context, author string, desired []Document, opts Options) (Plan, error) {
	return r.change(ctx, author, func(current Set) (Plan, error) {
		opts.Host = *r.host.Load()
		return NewPlan(current, desired, opts)
	})
}

// Publish makes the desired documents those that the command line published,
// and deletes what it published before; nothing else is touched. What is left
// without something that it names is no reason to refuse: see [Registry.Faults].
// From then on host is what the server's own configuration declares. A document
// that is registered otherwise is among the [Problems].
func (r *Registry) Publish(ctx context.Context, desired []Document, host Host) (Plan, error) {
	plan, err := r.change(ctx, commandLine, func(current Set) (Plan, error) {
		return NewPlan(current, desired, Options{Prune: true, Host: host, publish: true})
	})
	if err == nil {
		r.host.Store(&host)
	}
	return plan, err
}

// Edit changes one document: change is given a copy of its own as it is
// registered, and returns what it is to be, under the same id. It may be called
// again if somebody else was faster. Unlike with Apply, API keys that are left
// out are taken away. What is told of it goes into the audit with the change, if
// there is one. The errors include [ErrNotFound], [Problems], those of change,
// and [ErrConflict].
func (r *Registry) Edit(ctx context.Context, author string, id ID, change func(Document) (Document, error), told ...audit.Entry) (Plan, error) {
	return r.change(ctx, author, func(current Set) (Plan, error) {
		before, found := current.Document(id)
		if !found {
			return Plan{}, current.missing(id)
		}
		doc, err := before.copied()
		if err != nil {
			return Plan{}, fmt.Errorf("edit %s: %w", id, err)
		}
		if doc, err = change(doc); err != nil {
			return Plan{}, err
		}
		if doc.ID() != id {
			return Plan{}, fmt.Errorf("edit %s: it cannot become %s", id, doc.ID())
		}
		return NewPlan(current, []Document{doc}, Options{Host: *r.host.Load(), whole: true})
	}, told...)
}

// missing is why a document cannot be edited.
func (s Set) missing(id ID) error {
	for _, doc := range s.Unreadable {
		if doc.ID == id {
			return Problems{{Document: id.String(), Words: "cannot be read by this version of legation", Next: "apply the whole document, or delete it"}}
		}
	}
	return fmt.Errorf("edit %s: %w", id, ErrNotFound)
}

// Refresh reads the store again, and tells those who watch if another node has
// changed it.
func (r *Registry) Refresh(ctx context.Context) error {
	if err := r.enter(ctx); err != nil {
		return err
	}
	defer r.leave()
	return r.reload(ctx)
}

// change plans and carries out one change, and stores what is told of it.
func (r *Registry) change(ctx context.Context, author string, plan func(Set) (Plan, error), told ...audit.Entry) (Plan, error) {
	if err := checkAuthor(author); err != nil {
		return Plan{}, err
	}
	if err := r.enter(ctx); err != nil {
		return Plan{}, err
	}
	defer r.leave()
	for replans := 0; ; replans++ {
		planned, err := plan(r.Set())
		if err != nil || !planned.Changed() {
			return planned, err
		}
		if err = r.commit(ctx, planned, author, told); err == nil {
			r.publish(planned.Set())
			return planned, nil
		}
		err = fmt.Errorf("change what is registered: %w", err)
		if !errors.Is(err, ErrConflict) {
			return Plan{}, errors.Join(err, r.lookAgain(ctx))
		}
		if again := r.reload(ctx); again != nil {
			return Plan{}, again
		}
		if replans == maxReplans {
			return Plan{}, err
		}
	}
}

// commit stores a plan with its evidence. It does not stop halfway when the
// caller does: what is stored must be told.
func (r *Registry) commit(ctx context.Context, plan Plan, author string, told []audit.Entry) error {
	at := r.now()
	var effects work.Effects
	for _, entry := range told {
		entry.At = at
		effects.Audit = append(effects.Audit, entry)
	}
	for _, fact := range plan.Facts(author) {
		entry := audit.Entry{
			At: at, Who: fact.Author, Operation: "apply", Party: fact.ID.String(),
			Outcome: audit.Done, Hash: cmp.Or(fact.After, fact.Before),
		}
		if fact.Action == Delete {
			entry.Operation = "delete"
		}
		effects.Audit = append(effects.Audit, entry)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	return r.store.Commit(ctx, plan, effects)
}

// lookAgain reads the store after a commit that failed: it may be stored all the
// same, and then it must be told.
func (r *Registry) lookAgain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	return r.reload(ctx)
}

// reload reads the store and publishes what is newer.
func (r *Registry) reload(ctx context.Context) error {
	set, err := r.store.Registry(ctx)
	if err != nil {
		return fmt.Errorf("read what is registered: %w", err)
	}
	if set.Revision > r.Set().Revision {
		r.publish(set)
	}
	return nil
}

// publish makes a set the present one.
func (r *Registry) publish(set Set) {
	known := make(map[ID]int64)
	for _, doc := range r.Set().Unreadable {
		known[doc.ID] = doc.Generation
	}
	for _, doc := range set.Unreadable {
		if known[doc.ID] != doc.Generation {
			r.log.Error("a registered document cannot be read, and has no effect until it is replaced or deleted",
				"kind", string(doc.ID.Kind), "name", string(doc.ID.Name), "error", doc.why())
		}
	}
	r.watches.tell(func() Set { r.set.Store(&set); return set }, r.log)
}

// why is the first of the reasons.
func (u Unreadable) why() string {
	first, _, _ := strings.Cut(u.Err.Error(), "\n")
	return first
}

func (r *Registry) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Registry) leave() { <-r.turn }

func checkAuthor(author string) error {
	if author == "" {
		return errors.New("a change of what is registered needs an author")
	}
	if words, _ := badText(author, maxAuthor); words != "" || strings.ContainsAny(author, "\n\t") {
		return errors.New("the author of a change is no name")
	}
	return nil
}
