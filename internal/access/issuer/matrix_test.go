package issuer_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/access/issuer"
)

// newCertificate is a certificate of a name, signed by parent, or by itself if
// that is nil.
func newCertificate(t *testing.T, c *clock, name string, parent *x509.Certificate, by *signer) (*x509.Certificate, *signer) {
	t.Helper()
	key := newSigner(t, name, "ES256")
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: c.Now().Add(-time.Hour), NotAfter: c.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if parent == nil {
		form.IsCA, form.BasicConstraintsValid, form.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, by = form, key
	}
	if strings.HasPrefix(name, "old.") {
		form.NotAfter = c.Now().Add(-time.Minute)
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent, key.key.(*ecdsa.PrivateKey).Public(), by.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}

// Every kind of credential, right and wrong in every way, with a real issuer and
// real certificates: REQ-SEC-07, REQ-SEC-08.
// No credential is in what is said of it: REQ-GEN-04, REQ-GEN-09.
func TestMatrix(t *testing.T) {
	c := newClock()
	key1, key2, never := newSigner(t, "k1", "RS256"), newSigner(t, "k2", "ES256"), newSigner(t, "k1", "RS256")
	p, elsewhere := newProvider(t, key1, key2), newProvider(t, key1)
	var log bytes.Buffer
	set := newSet(t, issuer.Config{Now: c.Now, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})

	apiKey, kept := access.Issue()
	rotatedKey, keptRotated := access.Issue()
	expiredKey, keptExpired := access.Issue()
	keptExpired.NotAfter = c.Now()
	revokedKey, keptRevoked := access.Issue()
	keptRevoked.Revoked = true
	unknownKey, _ := access.Issue()

	ca, caKey := newCertificate(t, c, "ca.example.com", nil, nil)
	otherCA, otherKey := newCertificate(t, c, "other.example.com", nil, nil)
	named, _ := newCertificate(t, c, "alice.example.com", ca, caKey)
	oldNamed, _ := newCertificate(t, c, "old.example.com", ca, caKey)
	eve, _ := newCertificate(t, c, "eve.example.com", ca, caKey)
	impostor, _ := newCertificate(t, c, "alice.example.com", otherCA, otherKey)
	rotatedCert, _ := newCertificate(t, c, "next.example.com", ca, caKey)
	roots := x509.NewCertPool()
	roots.AddCert(ca)

	proxy := access.Proxy{Name: "edge", Header: "Client-Cert", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	directory, err := access.NewDirectory(access.Config{Tokens: set, Proxies: []access.Proxy{proxy}, Failures: 1000, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	san := func(name string) access.MTLS { return access.MTLS{SAN: "dns:" + name, Roots: roots} }
	alice := access.Client{
		Name: "alice", Enabled: true,
		Keys:         []access.APIKey{kept, keptRotated, keptExpired, keptRevoked},
		Tokens:       []access.OIDC{{Issuer: p.url, Audience: "legation", AuthorizedParty: "app"}},
		Certificates: []access.MTLS{san("alice.example.com"), san("next.example.com"), san("old.example.com")},
	}
	if _, omitted := directory.Set([]access.Client{alice}); len(omitted) > 0 {
		t.Fatal(omitted)
	}

	outside, inside := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("10.1.1.1")
	bearer := func(text string) access.Attempt {
		return access.Attempt{Address: outside, Header: map[string][]string{"Authorization": {"Bearer " + text}}}
	}
	direct := func(c *x509.Certificate) access.Attempt {
		return access.Attempt{Address: outside, Certificates: []*x509.Certificate{c}}
	}
	forwarded := func(c *x509.Certificate, from netip.Addr) access.Attempt {
		text := url.PathEscape("-----BEGIN CERTIFICATE-----\n" + base64Of(c.Raw) + "\n-----END CERTIFICATE-----\n")
		return access.Attempt{Address: from, Header: map[string][]string{"Client-Cert": {text}}}
	}
	good := claimsAt(c.Now(), p.url)
	tests := []struct {
		kind, what string
		attempt    access.Attempt
		reason     access.Reason // none: let in
	}{
		{"key", "right", bearer(apiKey), ""},
		{"key", "rotated", bearer(rotatedKey), ""},
		{"key", "wrong", bearer(unknownKey), access.ReasonUnknown},
		{"key", "expired", bearer(expiredKey), access.ReasonExpired},
		{"key", "revoked", bearer(revokedKey), access.ReasonRevoked},

		{"token", "right", bearer(key1.sign(t, good)), ""},
		{"token", "rotated", bearer(key2.sign(t, good)), ""},
		{"token", "wrong", bearer(never.sign(t, good)), access.ReasonSignature},
		{"token", "none", bearer(key1.shared(t, good)), access.ReasonAlgorithm},
		{"token", "expired", bearer(key1.sign(t, with(good, "exp", c.Now().Add(-time.Hour).Unix()))), access.ReasonExpired},
		{"token", "too early", bearer(key1.sign(t, with(good, "nbf", c.Now().Add(time.Hour).Unix()))), access.ReasonNotYet},
		{"token", "revoked", bearer(newSigner(t, "k0", "RS256").sign(t, good)), access.ReasonSignature},
		{"token", "other audience", bearer(key1.sign(t, with(good, "aud", "others"))), access.ReasonAudience},
		{"token", "other issuer", bearer(key1.sign(t, claimsAt(c.Now(), elsewhere.url))), access.ReasonIssuer},
		{"token", "other party", bearer(key1.sign(t, with(good, "azp", "app2"))), access.ReasonParty},

		{"certificate", "right", direct(named), ""},
		{"certificate", "rotated", direct(rotatedCert), ""},
		{"certificate", "wrong", direct(eve), access.ReasonUnknown},
		{"certificate", "expired", direct(oldNamed), access.ReasonExpired},
		{"certificate", "other issuer", direct(impostor), access.ReasonUntrusted},

		{"forwarded", "right", forwarded(named, inside), ""},
		{"forwarded", "rotated", forwarded(rotatedCert, inside), ""},
		{"forwarded", "wrong", forwarded(eve, inside), access.ReasonUnknown},
		{"forwarded", "expired", forwarded(oldNamed, inside), access.ReasonExpired},
		{"forwarded", "other issuer", forwarded(impostor, inside), access.ReasonUntrusted},
		{"forwarded", "other proxy", forwarded(named, outside), access.ReasonProxy},

		{"none", "none", access.Attempt{Address: outside}, access.ReasonMissing},
	}
	var opened []access.Caller
	for _, tt := range tests {
		t.Run(tt.kind+" "+tt.what, func(t *testing.T) {
			caller, err := directory.Authenticate(t.Context(), tt.attempt)
			if tt.reason == "" {
				if err != nil || caller.Name != "alice" {
					t.Fatalf("Authenticate() = %q, %v, want alice", caller.Name, err)
				}
				opened = append(opened, caller)
				return
			}
			refusal, ok := errors.AsType[*access.Refusal](err)
			if !ok || refusal.Status != 401 || refusal.Fact.Reason != tt.reason || refusal.Challenge == "" {
				t.Fatalf("Authenticate() = %q, %v, want 401 for %s with a challenge", caller.Name, err, tt.reason)
			}
			said := fmt.Sprintf("%v %+v", refusal, *refusal) + log.String()
			for _, values := range tt.attempt.Header {
				secret := values[0][max(0, len(values[0])-30):]
				if strings.Contains(said, secret) {
					t.Error("a credential was repeated")
				}
			}
		})
	}

	// Everything that was let in is out at once when the client is disabled,
	// remembered tokens and certificates included.
	alice.Enabled = false
	if _, omitted := directory.Set([]access.Client{alice}); len(omitted) > 0 {
		t.Fatal(omitted)
	}
	for _, caller := range opened {
		if caller.Revoked.Err() == nil {
			t.Errorf("what was opened with %v goes on", caller.Credential)
		}
	}
	for _, tt := range tests {
		_, err := directory.Authenticate(t.Context(), tt.attempt)
		if refusal, ok := errors.AsType[*access.Refusal](err); !ok || tt.reason == "" && refusal.Status != 403 {
			t.Errorf("%s %s of a disabled client: Authenticate() error = %v", tt.kind, tt.what, err)
		}
	}
	if len(opened) != 8 {
		t.Errorf("%d were let in, want 8", len(opened))
	}
}
