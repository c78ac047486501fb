package people

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/work"
)

const (
	changeTimeout = time.Minute // of a change that is on its way
	readTimeout   = 10 * time.Second
)

// Config tunes a [Directory]. The zero value is ready to use.
type Config struct {
	// Now says what time it is. Nil means time.Now.
	Now func() time.Time
}

// Directory is the people of a store, held in memory, and knows them by their
// tokens. It is safe for concurrent use.
type Directory struct {
	store Store
	now   func() time.Time

	changing sync.Mutex // changes and reads of the store, so that the newest wins
	known    atomic.Pointer[snapshot]
}

type snapshot struct {
	people []Person          // by name
	tokens map[string]Person // by the id of the token
}

// Open reads the people of a store.
func Open(ctx context.Context, store Store, cfg Config) (*Directory, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Directory{store: store, now: func() time.Time { return cfg.Now().UTC().Truncate(time.Millisecond) }}
	d.known.Store(&snapshot{})
	return d, d.Refresh(ctx)
}

// Refresh reads the people of the store again, which another node may have
// changed.
func (d *Directory) Refresh(ctx context.Context) error {
	d.changing.Lock()
	defer d.changing.Unlock()
	return d.refresh(ctx)
}

func (d *Directory) refresh(ctx context.Context) error {
	all, err := d.store.People(ctx)
	if err != nil {
		return fmt.Errorf("read people: %w", err)
	}
	next := &snapshot{people: all, tokens: make(map[string]Person, len(all))}
	for _, p := range all {
		next.tokens[p.Token.ID] = p
	}
	d.known.Store(next)
	return nil
}

// Authenticate returns whose token this is, or [ErrToken] or [ErrExpired]. With
// ErrExpired it returns the person too.
func (d *Directory) Authenticate(text string) (Person, error) {
	token, err := ParseToken(text)
	if err != nil {
		return Person{}, err
	}
	p, found := d.known.Load().tokens[token.ID]
	switch {
	case !found || !p.Token.is(token):
		return Person{}, ErrToken
	case !p.InForce(d.now()):
		return p, ErrExpired
	}
	return p, nil
}

// People returns everybody, by name.
func (d *Directory) People() []Person { return slices.Clone(d.known.Load().people) }

// Put adds a person, or gives the person of that name another role and token,
// and returns the token, which is kept nowhere. A token that was issued before
// is void when Put returns. NotAfter is when the token ends; zero means never.
// The author is who does it, for the audit. The errors are [ErrInvalid],
// [ErrLastAdmin] and [ErrFull].
func (d *Directory) Put(ctx context.Context, author, name string, role Role, notAfter time.Time) (Person, string, error) {
	if err := checkName(name); err != nil {
		return Person{}, "", err
	}
	if _, err := ParseRole(string(role)); err != nil {
		return Person{}, "", err
	}
	now := d.now()
	if !notAfter.IsZero() {
		if notAfter = notAfter.UTC().Truncate(time.Millisecond); !notAfter.After(now) {
			return Person{}, "", fmt.Errorf("%w: the token would have ended already", ErrInvalid)
		}
	}
	text, token := issue()
	p := Person{Name: name, Role: role, Token: token, CreatedAt: now, Author: author, NotAfter: notAfter}
	if err := d.change(ctx, Change{Put: &p, At: now}, putEntry(author, p)); err != nil {
		return Person{}, "", fmt.Errorf("put person %s: %w", name, err)
	}
	return p, text, nil
}

// Remove takes a person away, whose token is void when it returns. The author is
// who does it. The errors are [ErrNotFound] and [ErrLastAdmin].
func (d *Directory) Remove(ctx context.Context, author, name string) error {
	entry := audit.Entry{Who: author, Party: party(name), Operation: "person remove", Outcome: audit.Done}
	if err := d.change(ctx, Change{Remove: name, At: d.now()}, entry); err != nil {
		return fmt.Errorf("remove person %s: %w", name, err)
	}
	return nil
}

// change makes a change whatever becomes of whoever asked for it: what is stored
// must bite. After an error it may be stored too, and only the store can tell.
func (d *Directory) change(ctx context.Context, change Change, entry audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.changing.Lock()
	defer d.changing.Unlock()
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	err := d.store.ChangePeople(storing, change, work.Effects{Audit: []audit.Entry{entry}})
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	if unread := d.refresh(reading); unread != nil {
		d.suspend(change)
		return errors.Join(err, unread)
	}
	return err
}

// suspend lets nobody in under the name that a change is about, until the store
// can be read again: it cannot be told whose token it is.
func (d *Directory) suspend(change Change) {
	name := change.Remove
	if change.Put != nil {
		name = change.Put.Name
	}
	before := d.known.Load()
	next := &snapshot{people: before.people, tokens: maps.Clone(before.tokens)}
	maps.DeleteFunc(next.tokens, func(_ string, p Person) bool { return p.Name == name })
	d.known.Store(next)
}

func putEntry(author string, p Person) audit.Entry {
	return audit.Entry{
		Who: author, Party: party(p.Name), Operation: "person put", Outcome: audit.Done,
		Reason: "role_" + string(p.Role), KeyID: p.Token.ID,
	}
}

func party(name string) string { return "Person/" + name }
