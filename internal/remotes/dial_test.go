package remotes_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/trust"
)

// Dial gives a client only to an agent that is trusted; what it sends goes there,
// with the credential of the registration, whatever a listener would like.
func TestDial(t *testing.T) {
	p := newPartner(t, withTLS)
	p.with(func() { p.wants = "Bearer " + secret })
	w := newWorld(t, p, func(c *remotes.Config) { c.Understood = []string{"urn:known", "urn:else"} })
	if _, _, err := w.remotes.Dial(agentName, "bob"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("Dial() error = %v, want ErrUnknown", err)
	}
	w.register(p.spec(bearer))
	if _, _, err := w.remotes.Dial(agentName, "bob"); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("Dial() error = %v, want ErrNotTrusted", err)
	}
	p.with(func() {
		p.card = func(c *a2a.AgentCard) {
			c.Capabilities.Extensions = []a2a.AgentExtension{{URI: "urn:known", Required: true}}
		}
	})
	w.refresh()
	elsewhere, err := guard.New(guard.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	answers := 0
	c, ticket, err := w.remotes.Dial(agentName, "bob", func(cfg *client.Config) {
		cfg.Guard, cfg.Headers = elsewhere, http.Header{"Authorization": {"mine"}}
		cfg.Credentials = func(context.Context, bool) (http.Header, error) { return nil, errors.New("not asked") }
		cfg.Observe = func(client.Answer) { answers++ }
	})
	if err != nil {
		t.Fatalf("Dial() error = %v", err)
	}
	if _, err := c.ListTasks(t.Context(), nil); err != nil || answers != 1 {
		t.Fatalf("ListTasks() error = %v, %d answers", err, answers)
	}
	if !w.remotes.Book().Valid(ticket) || ticket.KeyID != "key-1" || c.Card().AgentCard.Name != "Partner" {
		t.Errorf("ticket = %+v", ticket)
	}
	requests := p.seen()
	last := requests[len(requests)-1]
	if last.Header.Get("Authorization") != "Bearer "+secret || last.Header.Get("A2A-Extensions") != "urn:known" {
		t.Errorf("sent %q, %q", last.Header.Get("Authorization"), last.Header.Get("A2A-Extensions"))
	}
	// REQ-GEN-04: the card was read without the credential, and its use is
	// recorded.
	for _, r := range requests[:len(requests)-1] {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s was asked for with a credential", r.URL)
		}
	}
	if uses := w.secrets.used(); len(uses) != 1 || uses[0].Who != "bob" || uses[0].Party != agentName || !strings.Contains(p.server.URL, uses[0].Host) {
		t.Errorf("uses = %+v", uses)
	}

	// A registration that is changed ends what was dialled.
	w.register(p.spec(bearer, func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"key-1"} }))
	select {
	case <-ticket.Withdrawn:
	default:
		t.Error("the ticket was not withdrawn")
	}
	if _, _, err := w.remotes.Dial(agentName, "bob"); !errors.Is(err, trust.ErrNotTrusted) {
		t.Errorf("Dial() error = %v, want ErrNotTrusted", err)
	}
	w.remotes.Forget()
	if err := w.remotes.Set(t.Context(), registry.Set{Revision: w.revision + 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.remotes.Dial(agentName, "bob"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("Dial() error = %v, want ErrUnknown", err)
	}
}

// REQ-CARD-09: a card is asked for by its validators, and a new registration
// begins anew.
func TestCardsAreAskedForConditionally(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec())
	first := w.refresh()
	second := w.refresh()
	if second.Digest != first.Digest || second.ETag == "" || second.FetchedAt.Before(first.FetchedAt) {
		t.Errorf("known = %+v, before %+v", second, first)
	}
	w.register(p.spec(func(s *registry.RemoteAgent) { s.Description = "Ours" }))
	w.refresh()
	var conditions []string
	for _, r := range p.seen() {
		conditions = append(conditions, r.Header.Get("If-None-Match"))
	}
	if len(conditions) != 3 || conditions[0] != "" || conditions[1] != first.ETag || conditions[2] != "" {
		t.Errorf("conditions = %q, the ETag is %q", conditions, first.ETag)
	}
}

// A card at another place is another party's: it gets no credential, though it
// asks for one.
func TestCardsElsewhereGetNoCredential(t *testing.T) {
	p, shelf := newPartner(t, withTLS), newPartner(t, withTLS)
	shelf.with(func() { shelf.wants, shelf.hides = "Bearer "+secret, true })
	w := newWorld(t, p, func(c *remotes.Config) { c.Roots.AddCert(shelf.server.Certificate()) })
	w.register(p.spec(bearer, func(s *registry.RemoteAgent) { s.CardURL = registry.URL(shelf.server.URL + "/card.json?key=x") }))
	known, err := w.remotes.Book().RefreshNow(t.Context(), agentName)
	if refused, ok := errors.AsType[*trust.ReadError](err); !ok || refused.Code != "refused" || refused.NoCard {
		t.Errorf("RefreshNow() error = %v", err)
	}
	if known.State != trust.Unknown || len(w.secrets.used()) > 0 {
		t.Errorf("state = %s, uses = %+v", known.State, w.secrets.used())
	}
	shelf.with(func() { shelf.wants, shelf.key, shelf.server.URL = "", p.key, p.server.URL })
	if known := w.refresh(); known.State != trust.Trusted || strings.Contains(known.URL, "key=x") {
		t.Errorf("state = %s of %s", known.State, known.URL)
	}
}

// REQ-CARD-33: a requirement that cannot be read is not the absence of one, though
// the members that were verified do not show it.
func TestUnreadableRequirements(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec(func(s *registry.RemoteAgent) { s.Pin.Keys, s.Pin.AllowUnsigned = nil, true }))
	raw := bytes.Replace(p.body(), []byte(`"skills"`), []byte(`"securityRequirements":[{"google":["openid"]}],"skills"`), 1)
	p.with(func() {
		p.page = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(raw)
		}
	})
	if known := w.refresh(); known.State != trust.Quarantined || known.Reasons[0].Code != trust.CodeFaulty {
		t.Errorf("known = %s, %+v, want faulty", known.State, known.Reasons)
	}
}

// With a client certificate the agent is reached, and so is its card.
func TestClientCertificate(t *testing.T) {
	certificate, both := selfSigned(t)
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	p := newPartner(t, func(s *httptest.Server) {
		s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots, MinVersion: tls.VersionTLS13}
		s.StartTLS()
	})
	w := newWorld(t, p)
	w.register(p.spec())
	report, err := w.remotes.Check(t.Context(), agentName, "alice")
	if err != nil || report.OK {
		t.Fatalf("without a certificate: %+v, %v", report, err)
	}
	w.secrets.values["client"] = both
	w.register(p.spec(func(s *registry.RemoteAgent) {
		s.Credential = registry.Credential{MTLS: &registry.Certificate{Secret: "client"}}
	}))
	if report, err = w.remotes.Check(t.Context(), agentName, "alice"); err != nil || !report.OK {
		t.Fatalf("with one: %+v, %v", report, err)
	}
	c, _, err := w.remotes.Dial(agentName, "bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListTasks(t.Context(), nil); err != nil {
		t.Errorf("ListTasks() error = %v", err)
	}
	if text := w.logs.String(); strings.Contains(text, "PRIVATE") {
		t.Error("a key is in the log")
	}
}

// A registration without a credential is told, and nobody is reached.
func TestRegistrationsThatCannotBeUsed(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec(func(s *registry.RemoteAgent) { s.Credential = registry.Credential{} }))
	_, err := w.remotes.Book().RefreshNow(t.Context(), agentName)
	if refused, ok := errors.AsType[*trust.ReadError](err); !ok || refused.Code != trust.CodeRegistration {
		t.Errorf("RefreshNow() error = %v", err)
	}
	report, err := w.remotes.Check(t.Context(), agentName, "alice")
	if err != nil || report.OK || len(p.seen()) > 0 {
		t.Errorf("report = %+v, %v; %d requests", report, err, len(p.seen()))
	}
}

// Run keeps the card of an agent fresh, and ends.
func TestRun(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec())
	ctx, stop := context.WithCancel(t.Context())
	answered := make(chan struct{})
	p.with(func() {
		p.page = func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write(p.body())
			close(answered)
		}
	})
	ended := make(chan error, 1)
	go func() { ended <- w.remotes.Run(ctx) }()
	<-answered
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run() error = %v", err)
	}
}

func selfSigned(t *testing.T) (*x509.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	return made, string(text)
}

func mustURL(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}
