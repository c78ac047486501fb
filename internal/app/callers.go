package app

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/netip"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/server"
)

// callers lets remote clients in by their credentials. As long as none is
// registered only this machine is served.
type callers struct {
	directory *access.Directory
	record    func(audit.Entry)
}

// Caller finds out who calls.
func (c *callers) Caller(r *http.Request) (server.Caller, error) {
	if c.directory.Len() == 0 {
		return server.Local{}.Caller(r)
	}
	caller, err := c.directory.Authenticate(r.Context(), attempt(r))
	if err != nil {
		refusal, ok := errors.AsType[*access.Refusal](err)
		if !ok {
			return server.Caller{}, err
		}
		c.record(refusedEntry(refusal.Fact))
		return server.Caller{}, refusalOf(refusal)
	}
	return server.Caller{
		Name: caller.Name, Rights: rights{&caller}, Limits: &caller.Limits,
		Audit: true, KeyID: keyID(caller.Credential),
		Until: caller.Until, Revoked: caller.Revoked,
	}, nil
}

// ReadCard lets everybody read cards once remote clients are registered.
func (c *callers) ReadCard(r *http.Request) (public bool, err error) {
	if c.directory.Len() == 0 {
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
type rights struct{ caller *access.Caller }

func (r rights) MayCall(method string) *server.Refusal {
	if refusal := r.caller.MayCall(method); refusal != nil {
		return refusalOf(refusal)
	}
	return nil
}

func (r rights) MayUse(agent, skill string) *server.Refusal {
	if refusal := r.caller.MayUse(agent, skill); refusal != nil {
		return refusalOf(refusal)
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
	if fact.Proxy != "" {
		entry.From = fact.Proxy + " " + entry.From
	}
	return entry
}
