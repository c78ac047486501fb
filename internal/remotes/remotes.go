package remotes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// Config tunes [Remotes]. The zero value is ready to use.
type Config struct {
	// Understood are extensions that this program understands by itself. They
	// are asked for where a card announces them.
	Understood []string

	// HasValue reports whether the vault holds a value of a secret. It must be
	// quick. Nil means that it holds all.
	HasValue func(registry.SecretName) bool

	// Roots are the authorities that certificates of remote agents and of their
	// token endpoints are verified by. Nil means the system's.
	Roots *x509.CertPool

	// EgressProxy is a proxy that everything goes through, see
	// [guard.Policy.Proxy]; ProxyTLSConfig is for one that is reached by https.
	// Nil means none.
	EgressProxy    *url.URL
	ProxyTLSConfig *tls.Config

	// Resolve and Dial are those of [guard.Policy]. Nil means the system's.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)

	// Marker is the path of a file that is there as long as all that is believed
	// is written down, see [trust.Settlement]. Empty means none, and that what was
	// asked before a start is not believed after it.
	Marker string

	// CheckTimeout bounds one [Remotes.Check]. Zero means one minute.
	CheckTimeout time.Duration

	// Now supplies the times written into records and by which cards age. Nil
	// means time.Now.
	Now func() time.Time

	// Logger receives diagnostics. Nil discards them.
	Logger *slog.Logger
}

// Remotes reaches the remote agents that are registered. It is safe for
// concurrent use.
type Remotes struct {
	cfg  Config
	book *trust.Book
	keep *credential.Keeper
	idle *guard.Client // of clients that are made to be judged and call nothing

	setting  sync.Mutex // held by Set, with the next one
	revision int64      // of the registry

	mu   sync.Mutex
	legs map[registry.Name]*leg
}

// New returns the remote agents that a store knows the cards of. Nobody is
// reached before [Remotes.Set].
func New(ctx context.Context, store trust.Store, secrets credential.Vault, cfg Config) (*Remotes, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.CheckTimeout == 0 {
		cfg.CheckTimeout = time.Minute
	}
	idle, err := guard.New(guard.Policy{})
	if err != nil {
		return nil, err
	}
	r := &Remotes{cfg: cfg, idle: idle, legs: make(map[registry.Name]*leg)}
	r.keep = credential.New(secrets, r.tokenClient, credential.Config{Now: cfg.Now, Logger: cfg.Logger})
	believed := trust.Config{
		Usable: r.usable, Understood: cfg.Understood, HasValue: cfg.HasValue, Now: cfg.Now, Logger: cfg.Logger,
	}
	if cfg.Marker != "" {
		believed.Settlement = marker(cfg.Marker)
	}
	r.book, err = trust.NewBook(ctx, store, cards{r}, believed)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Book is what is believed of the remote agents.
func (r *Remotes) Book() *trust.Book { return r.book }

// Set goes on with what is registered now, see [trust.Book.Set]. Connections of
// registrations that were changed or are gone are closed once they are idle.
func (r *Remotes) Set(ctx context.Context, set registry.Set) error {
	r.setting.Lock()
	defer r.setting.Unlock()
	if set.Revision < r.revision {
		return nil
	}
	r.revision = set.Revision
	current := make(map[registry.Name]int64)
	for _, doc := range set.Documents {
		if doc.Kind == registry.KindRemoteAgent {
			current[doc.Name] = doc.Generation
		}
	}
	r.mu.Lock()
	for name, l := range r.legs {
		if generation, ok := current[name]; !ok || generation != l.generation {
			l.close()
			delete(r.legs, name)
		}
	}
	r.mu.Unlock()
	return r.book.Set(ctx, set)
}

// Forget drops the access tokens that were fetched, and the connections on which a
// client certificate was shown, once they are idle. It is called when a secret has a
// new value, or none any more; [Remotes.Set] is to be called then too.
func (r *Remotes) Forget() {
	r.keep.Forget()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, l := range r.legs {
		if l.source.Kind() == credential.MTLS {
			l.close()
			delete(r.legs, name)
		}
	}
}

// Run reads cards in time until ctx ends, see [trust.Book.Run].
func (r *Remotes) Run(ctx context.Context) error { return r.book.Run(ctx) }

// Close closes the connections nobody is using.
func (r *Remotes) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.legs {
		l.close()
	}
}

// Dial returns a client for a remote agent that is trusted and ready, and the
// ticket that says so. Nothing is sent. The credential is opened for each
// request, and recorded as used by who: a caller, a person, a part of ourselves.
// The listeners may set what a client tells of itself, such as Observe or
// Interrupted, and nothing of whom it calls and how it proves us.
//
// Whoever waits for long ends when [trust.Ticket.Withdrawn] is closed, and asks
// [trust.Book.Valid] before what came back is believed. The errors include
// [trust.ErrUnknown] and *[trust.NotTrustedError].
func (r *Remotes) Dial(name registry.Name, who string, listeners ...func(*client.Config)) (*client.Client, trust.Ticket, error) {
	l, ticket, err := r.trusted(name)
	if err != nil {
		return nil, trust.Ticket{}, err
	}
	card, err := client.ParseCard(ticket.Canonical, string(l.spec.URL))
	if err != nil {
		return nil, trust.Ticket{}, fmt.Errorf("remote agent %s: %w", name, err)
	}
	called, err := client.New(card, l.calls(who, ticket.Extensions, listeners))
	if err != nil {
		return nil, trust.Ticket{}, fmt.Errorf("remote agent %s: %w", name, err)
	}
	return called, ticket, nil
}

// trusted is the way to an agent under the very registration that it is trusted
// under: the credential of one is for nobody else.
func (r *Remotes) trusted(name registry.Name) (*leg, trust.Ticket, error) {
	err := errMoved
	for range maxMoves {
		var ticket trust.Ticket
		if ticket, err = r.book.Trust(name); err != nil {
			return nil, trust.Ticket{}, err
		}
		var l *leg
		if l, err = r.leg(name, ticket.Registration, ticket.Spec); err == nil {
			return l, ticket, nil
		}
		if !errors.Is(err, errMoved) {
			break
		}
	}
	return nil, trust.Ticket{}, fmt.Errorf("remote agent %s: %w", name, err)
}
