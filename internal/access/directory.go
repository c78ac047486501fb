package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config tunes a [Directory]. The zero value is ready to use.
type Config struct {
	// Tokens verifies tokens. Nil means that none is accepted.
	Tokens Tokens

	// Proxies may pass on the certificates of clients.
	Proxies []Proxy

	// Failures is how many refusals of one address in a minute are answered
	// with why; further ones are answered with 429. Zero means 20. Whoever has
	// a good credential, and one that can be verified, is let in all the same.
	Failures int

	// Now says what time it is. Nil means time.Now.
	Now func() time.Time
}

// Directory is all remote clients, and lets them in. It is safe for concurrent
// use.
type Directory struct {
	cfg      Config
	failures *failures
	vouched  *vouched
	current  atomic.Pointer[snapshot]

	setting sync.Mutex // one Set at a time
}

// NewDirectory makes a directory without clients, which lets nobody in.
func NewDirectory(cfg Config) (*Directory, error) {
	cfg.Failures = cmp.Or(cfg.Failures, 20)
	if cfg.Failures < 0 {
		return nil, errors.New("the number of failures in a minute is negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Proxies = slices.Clone(cfg.Proxies)
	for i := range cfg.Proxies {
		if err := cfg.Proxies[i].check(); err != nil {
			return nil, fmt.Errorf("proxy %q: %w", cfg.Proxies[i].Name, err)
		}
	}
	d := &Directory{cfg: cfg, failures: newFailures(cfg.Failures), vouched: newVouched()}
	d.current.Store(newSnapshot())
	return d, nil
}

// Omission is a client that a directory has left out, or a credential of one
// that is let in by its others.
type Omission struct {
	Client string
	Err    error // why, without anything that is secret
}

// Set replaces all clients at once. A request that is let in after it is let in
// under the new ones, and what was opened before under rights that were taken
// away ends: see [Caller.Revoked]. It returns the names of the clients that
// this befell. A client or a credential that is not as it should be, or is taken
// by one before it, is left out and lets nobody in; the rest is taken. The
// clients must not be changed afterwards.
func (d *Directory) Set(clients []Client) (affected []string, omitted []Omission) {
	d.setting.Lock()
	defer d.setting.Unlock()
	before := d.current.Load()
	after, omitted := build(clients, before)
	d.current.Store(after)
	return after.replace(before, d.cfg.Now()), omitted
}

// Len is how many clients there are, enabled or not.
func (d *Directory) Len() int { return len(d.current.Load().members) }

// Client is a client by its name.
func (d *Directory) Client(name string) (Client, bool) {
	m, ok := d.current.Load().members[name]
	if !ok {
		return Client{}, false
	}
	return m.Client, true
}

// Issuer reports whether a client has tokens of an issuer.
func (d *Directory) Issuer(issuer string) bool { return d.current.Load().issuers[issuer] }

// Authenticate lets a request in or returns a [*Refusal]. The error is the
// context's if that ends before an issuer has answered.
func (d *Directory) Authenticate(ctx context.Context, attempt Attempt) (Caller, error) {
	now := d.cfg.Now()
	fact := Fact{At: now, Address: attempt.Address.Unmap()}
	g, until, err := d.identify(ctx, attempt, &fact)
	switch {
	case err != nil:
		if why, ok := errors.AsType[refused](err); ok {
			fact.Reason = why.reason
			return Caller{}, d.refuse(why, fact)
		}
		return Caller{}, err
	case !g.member.Enabled:
		fact.Reason = ReasonDisabled
		return Caller{}, &Refusal{Status: 403, Words: "this client is disabled", Fact: fact}
	}
	if wait := g.member.requests.take(now); wait > 0 {
		fact.Reason = ReasonRate
		return Caller{}, &Refusal{Status: 429, Words: "too many requests of this client; try again later", RetryAfter: wait, Fact: fact}
	}
	return Caller{
		Name: g.member.Name, Credential: fact.Credential, Rights: g.member.Rights, Limits: g.member.limits,
		Until: until, Revoked: g.revoked, fact: fact,
	}, nil
}

// refuse counts a failure and says why, or that there were too many. That an
// issuer cannot be asked counts too: whoever sends tokens that nobody has signed
// must not cost more than others.
func (d *Directory) refuse(why refused, fact Fact) *Refusal {
	r := &Refusal{Status: 401, Words: why.words, Challenge: why.challenge(), Fact: fact}
	if wait := d.failures.count(fact.Address, fact.At); wait > 0 {
		r.Status, r.Challenge, r.RetryAfter = 429, "", wait
		r.Words = "too many failed attempts from this address; try again later"
		r.Fact.Reason = ReasonFailures
		return r
	}
	if why.reason == ReasonIssuerUnavailable {
		r.Status, r.Challenge, r.RetryAfter = 503, "", time.Minute
	}
	return r
}
