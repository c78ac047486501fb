package remotes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
)

// self is who uses a credential to read a card.
const self = "legation"

// leg is the way to one remote agent under one generation of its registration.
type leg struct {
	remotes    *Remotes
	name       registry.Name
	generation int64
	spec       *registry.RemoteAgent

	shown  int64 // version of the client certificate
	agent  *guard.Client
	cards  *guard.Client // to where the card is; the agent's, unless that is another party
	source *credential.Source

	mu    sync.Mutex
	known *client.Card // as it was last read
}

// errMoved says that a registration was changed while it was used.
var errMoved = errors.New("the registration was changed meanwhile")

const maxMoves = 8 // that are followed

// leg returns the way to an agent under a generation of its registration, and of no
// other: a newer one takes the place of an older, and beside a newer one there is
// errMoved.
func (r *Remotes) leg(name registry.Name, generation int64, spec *registry.RemoteAgent) (*leg, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.legs[name]
	switch {
	case old == nil || old.generation < generation:
	case old.generation > generation:
		return nil, errMoved
	case old.source.Version() == old.shown:
		return old, nil
	}
	l, err := r.newLeg(name, generation, spec)
	if err != nil {
		return nil, err
	}
	if old != nil {
		old.close()
	}
	r.legs[name] = l
	return l, nil
}

func (r *Remotes) newLeg(name registry.Name, generation int64, spec *registry.RemoteAgent) (*leg, error) {
	l := &leg{remotes: r, name: name, generation: generation, spec: spec}
	var err error
	l.source, err = r.keep.For(string(name), generation, string(spec.URL), spec.Credential, spec.Exceptions)
	if err != nil {
		return nil, err
	}
	l.shown = l.source.Version()
	policy := r.policy(spec.Exceptions)
	if policy.TLSConfig.RootCAs, err = r.pool(spec.Roots); err != nil {
		return nil, err
	}
	policy.MaxAnswerBytes = int64(spec.Caps.Answer)
	policy.AnswerTimeout = time.Duration(spec.Deadlines.Request)
	if l.cards, err = guard.New(policy); err != nil {
		return nil, err
	}
	l.agent = l.cards
	if certificate := l.source.Certificate(); certificate != nil {
		policy.TLSConfig = policy.TLSConfig.Clone()
		policy.TLSConfig.GetClientCertificate = certificate
		if l.agent, err = guard.New(policy); err != nil {
			return nil, err
		}
		if l.ownCard() {
			l.cards = l.agent
		}
	}
	return l, nil
}

// policy is what the guard is told for a party with these exceptions.
func (r *Remotes) policy(exceptions []registry.Exception) guard.Policy {
	p := guard.Policy{
		TLSConfig: &tls.Config{RootCAs: r.cfg.Roots, MinVersion: tls.VersionTLS12},
		Proxy:     r.cfg.EgressProxy, ProxyTLSConfig: r.cfg.ProxyTLSConfig,
		Resolve: r.cfg.Resolve, Dial: r.cfg.Dial,
	}
	for _, e := range exceptions {
		if prefix, err := netip.ParsePrefix(string(e)); err == nil {
			p.AllowCIDRs = append(p.AllowCIDRs, prefix)
		} else {
			p.AllowHosts = append(p.AllowHosts, string(e))
		}
	}
	return p
}

// pool is everybody's authorities, and those in PEM.
func (r *Remotes) pool(roots string) (*x509.CertPool, error) {
	if roots == "" {
		return r.cfg.Roots, nil
	}
	pool := r.cfg.Roots
	if pool == nil {
		var err error
		if pool, err = x509.SystemCertPool(); err != nil {
			return nil, fmt.Errorf("the authorities of this machine: %w", err)
		}
	}
	pool = pool.Clone()
	pool.AppendCertsFromPEM([]byte(roots)) // which were checked when they were registered
	return pool, nil
}

// tokenClient asks a party's token endpoint.
func (r *Remotes) tokenClient(_ string, exceptions []registry.Exception, roots string) (*guard.Client, error) {
	policy := r.policy(exceptions)
	var err error
	if policy.TLSConfig.RootCAs, err = r.pool(roots); err != nil {
		return nil, err
	}
	return guard.New(policy)
}

// calls is how the agent is called.
func (l *leg) calls(who string, extensions []string, listeners []func(*client.Config)) client.Config {
	cfg := client.Config{Logger: l.remotes.cfg.Logger}
	for _, listen := range listeners {
		listen(&cfg)
	}
	cfg.Guard, cfg.Policy, cfg.Headers, cfg.Now = l.agent, guard.Policy{}, nil, l.remotes.cfg.Now
	cfg.Credentials = func(ctx context.Context, renew bool) (http.Header, error) { return l.source.Headers(ctx, who, renew) }
	cfg.Extensions, cfg.RequiredExtensions = extensions, nil
	for _, uri := range l.spec.Extensions.Required {
		cfg.RequiredExtensions = append(cfg.RequiredExtensions, string(uri))
	}
	cfg.Timeout = time.Duration(l.spec.Deadlines.Request)
	cfg.MaxAnswerBytes, cfg.MaxCardBytes = int64(l.spec.Caps.Answer), int64(l.spec.Caps.Card)
	cfg.MaxEventBytes, cfg.MaxStreamBytes = int(l.spec.Caps.Event), int64(l.spec.Caps.Stream)
	return cfg
}

// reads is how the card is read. A public card is read without a credential; it
// is given only to who asks for it, and to nobody but the agent.
func (l *leg) reads() client.Config {
	cfg := client.Config{
		Guard: l.cards, MaxCardBytes: int64(l.spec.Caps.Card), Now: l.remotes.cfg.Now, Logger: l.remotes.cfg.Logger,
	}
	if l.ownCard() {
		cfg.Credentials = func(ctx context.Context, refused bool) (http.Header, error) {
			if !refused {
				return http.Header{}, nil
			}
			return l.source.Headers(ctx, self, false)
		}
	}
	return cfg
}

// location is where the card is.
func (l *leg) location() string {
	if l.spec.CardURL != "" {
		return string(l.spec.CardURL)
	}
	return string(l.spec.URL)
}

// ownCard reports whether the card is where the agent is.
func (l *leg) ownCard() bool {
	agent, err := url.Parse(string(l.spec.URL))
	card, bad := url.Parse(l.location())
	return err == nil && bad == nil && agent.Scheme == card.Scheme && strings.EqualFold(agent.Host, card.Host)
}

func (l *leg) close() {
	l.agent.Close()
	l.cards.Close()
}
