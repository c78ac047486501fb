package app

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"
	"sync"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/server"
)

// callers lets remote clients in by their credentials. As long as none is
// registered, and the server is for this machine only, this machine is served.
type callers struct {
	directory *access.Directory
	classes   func(agent, skill string) registry.DataClass

	// exposed says that others may reach the server, if only through a proxy:
	// then nobody is let in for where a request seems to come from.
	exposed bool

	mu      sync.Mutex
	local   context.Context // of who is let in from this machine; nil: nobody is
	shut    context.CancelFunc
	omitted []access.Omission
}

// omit notes who is left out, and by what.
func (c *callers) omit(all []access.Omission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.omitted = all
}

// Troubles returns why a document does not let in whom it says.
func (c *callers) Troubles(id registry.ID) (words []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.omitted {
		if id == (registry.ID{Kind: registry.KindRemoteClient, Name: registry.Name(one.Client)}) {
			words = append(words, "this credential lets nobody in: "+one.Err.Error())
		}
	}
	return words
}

// open says whether this machine is served without a credential. What was opened
// that way ends when it is not any more.
func (c *callers) open(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch yes = yes && !c.exposed; {
	case yes && c.local == nil:
		c.local, c.shut = context.WithCancel(context.Background())
	case !yes && c.local != nil:
		c.shut()
		c.local, c.shut = nil, nil
	}
}

// localOnly is what ends with the service to this machine, nil if there is none.
func (c *callers) localOnly() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local
}

// Caller finds out who calls.
func (c *callers) Caller(r *http.Request) (server.Caller, error) {
	if local := c.localOnly(); local != nil {
		caller, err := server.Local{}.Caller(r)
		caller.Revoked = local
		return caller, err
	}
	caller, err := c.directory.Authenticate(r.Context(), attempt(r))
	if err != nil {
		refusal, ok := errors.AsType[*access.Refusal](err)
		if !ok {
			return server.Caller{}, err
		}
		refused := refusalOf(refusal)
		refused.Evidence = new(refusedEntry(refusal.Fact))
		return server.Caller{}, refused
	}
	return server.Caller{
		Name: caller.Name, Rights: &rights{caller: caller, classes: c.classes}, Limits: &caller.Limits,
		Audit: true, Party: party(caller.Name), KeyID: keyID(caller.Credential),
		Until: caller.Until, Revoked: caller.Revoked,
	}, nil
}

// party is a remote client as the audit names what is registered.
func party(client string) string {
	return registry.ID{Kind: registry.KindRemoteClient, Name: registry.Name(client)}.String()
}

// ReadCard lets everybody read cards where not only this machine is served.
func (c *callers) ReadCard(r *http.Request) (public bool, err error) {
	if c.localOnly() != nil {
		return server.Local{}.ReadCard(r)
	}
	return true, nil
}

// attempt is what a request shows of its caller.
func attempt(r *http.Request) access.Attempt {
	var from netip.Addr
	if address, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		from = address.Addr()
	}
	var certificates []*x509.Certificate
	if r.TLS != nil {
		certificates = r.TLS.PeerCertificates
	}
	return access.Attempt{Header: r.Header, Certificates: certificates, Address: from}
}

// rights are a caller's, as the server asks for them.
type rights struct {
	caller  access.Caller
	classes func(agent, skill string) registry.DataClass
}

// MayCall says whether the registration names an operation.
func (r *rights) MayCall(method string) *server.Refusal {
	if refusal := r.caller.MayCall(method); refusal != nil {
		return refusalOf(refusal)
	}
	return nil
}

// MayUse says whether the registration names a skill, and whether the caller's
// zone may receive what the skill's configuration holds.
func (r *rights) MayUse(agent, skill string) *server.Refusal {
	if refusal := r.caller.MayUse(agent, skill); refusal != nil {
		return refusalOf(refusal)
	}
	if class := r.classes(agent, skill); !registry.DataClass(r.caller.Rights.Zone).Allows(class) {
		return &server.Refusal{
			Status: http.StatusForbidden, Code: "zone_exceeded",
			Reason: "this skill may tell what is not for this client",
		}
	}
	return nil
}

func refusalOf(r *access.Refusal) *server.Refusal {
	return &server.Refusal{
		Status: r.Status, Reason: r.Words, Code: string(r.Fact.Reason),
		Challenge: r.Challenge, RetryAfter: r.RetryAfter,
	}
}

func keyID(credential access.Credential) string {
	if credential.Kind == "" {
		return ""
	}
	return string(credential.Kind) + ":" + credential.ID
}

// refusedEntry is the evidence of a refusal: who as far as is known, from where
// and why.
func refusedEntry(fact access.Fact) audit.Entry {
	entry := audit.Entry{
		At: fact.At, Who: fact.Client, Operation: "authenticate", Outcome: audit.Refused,
		Reason: string(fact.Reason), KeyID: keyID(fact.Credential), From: fact.Address.String(),
	}
	if fact.Party != "" {
		entry.KeyID += " " + fact.Party
	}
	if fact.Client != "" {
		entry.Party = party(fact.Client)
	}
	if fact.Proxy != "" {
		entry.From = fact.Proxy + " " + entry.From
	}
	return entry
}
