package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/internal/access"
)

// authority signs certificates.
type authority struct {
	*testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{T: t, key: newKey(t)}
	a.certificate = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, a.key)
	return a
}

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// sign signs a certificate for a key, with what is not given filled in.
func (a *authority) sign(form *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.Helper()
	parent := a.certificate
	if parent == nil {
		parent = form
	}
	form.SerialNumber = big.NewInt(1)
	if form.NotBefore.IsZero() {
		form.NotBefore, form.NotAfter = noon.Add(-time.Hour), noon.Add(time.Hour)
	}
	if !form.IsCA && form.ExtKeyUsage == nil {
		form.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, a.key)
	if err != nil {
		a.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return c
}

func pinOf(c *x509.Certificate) [32]byte { return sha256.Sum256(c.RawSubjectPublicKeyInfo) }

func presenting(chain ...*x509.Certificate) access.Attempt {
	return access.Attempt{Address: home, Certificates: chain}
}

func certified(name string, certificates ...access.MTLS) access.Client {
	return access.Client{Name: name, Enabled: true, Certificates: certificates}
}

func TestCertificates(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	spiffe, err := url.Parse("spiffe://example.com/agent")
	if err != nil {
		t.Fatal(err)
	}
	form := func() *x509.Certificate {
		return &x509.Certificate{
			DNSNames: []string{"alice.example.com", "spare.example.com"}, URIs: []*url.URL{spiffe},
			EmailAddresses: []string{"alice@example.com"}, IPAddresses: []net.IP{net.ParseIP("192.0.2.9")},
		}
	}
	key := newKey(t)
	leaf := ours.sign(form(), key)
	between := ours.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "between"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, theirs.key)
	viaBetween := (&authority{T: t, certificate: between, key: theirs.key}).sign(form(), key)
	past, future := form(), form()
	past.NotBefore, past.NotAfter = noon.Add(-2*time.Hour), noon.Add(-time.Hour)
	future.NotBefore, future.NotAfter = noon.Add(time.Hour), noon.Add(2*time.Hour)
	forServers := form()
	forServers.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}

	san := func(name string) access.MTLS { return access.MTLS{SAN: name, Roots: ours.pool()} }
	pinned := access.MTLS{SPKI: pinOf(leaf)}
	tests := []struct {
		name   string
		has    access.MTLS
		chain  []*x509.Certificate
		reason access.Reason // none: let in
	}{
		{"dns", san("dns:alice.example.com"), []*x509.Certificate{leaf}, ""},
		{"dns in another case", san("dns:Alice.Example.COM"), []*x509.Certificate{leaf}, ""},
		{"second dns", san("dns:spare.example.com"), []*x509.Certificate{leaf}, ""},
		{"uri", san("uri:spiffe://example.com/agent"), []*x509.Certificate{leaf}, ""},
		{"email", san("email:alice@example.com"), []*x509.Certificate{leaf}, ""},
		{"ip", san("ip:192.0.2.9"), []*x509.Certificate{leaf}, ""},
		{"another kind of the same name", san("uri:alice.example.com"), []*x509.Certificate{leaf}, access.ReasonUnknown},
		{"another name", san("dns:bob.example.com"), []*x509.Certificate{leaf}, access.ReasonUnknown},
		{"through an authority between", san("dns:alice.example.com"), []*x509.Certificate{viaBetween, between}, ""},
		{"a gap in the chain", san("dns:alice.example.com"), []*x509.Certificate{viaBetween}, access.ReasonUntrusted},
		{"another authority", san("dns:alice.example.com"), []*x509.Certificate{theirs.sign(form(), key)}, access.ReasonUntrusted},
		{"a long chain", san("dns:alice.example.com"), append([]*x509.Certificate{viaBetween}, repeated(between, 9)...), access.ReasonUntrusted},
		{"for servers", san("dns:alice.example.com"), []*x509.Certificate{ours.sign(forServers, key)}, access.ReasonUntrusted},
		{"expired", san("dns:alice.example.com"), []*x509.Certificate{ours.sign(past, key)}, access.ReasonExpired},
		{"not yet", san("dns:alice.example.com"), []*x509.Certificate{ours.sign(future, key)}, access.ReasonNotYet},
		{"pinned", pinned, []*x509.Certificate{leaf}, ""},
		{"pinned, signed by anybody", pinned, []*x509.Certificate{theirs.sign(form(), key)}, ""},
		{"pinned, expired", pinned, []*x509.Certificate{ours.sign(past, key)}, access.ReasonExpired},
		{"another key", pinned, []*x509.Certificate{ours.sign(form(), newKey(t))}, access.ReasonUnknown},
		{"none", pinned, nil, access.ReasonMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, access.Config{}, certified("alice", tt.has))
			if tt.reason != "" {
				d.out(presenting(tt.chain...), 401, tt.reason)
				return
			}
			for range 2 { // the second time from memory
				caller := d.in(presenting(tt.chain...))
				if caller.Name != "alice" || !caller.Until.Equal(tt.chain[0].NotAfter) || caller.Credential.Kind != access.KindCertificate {
					t.Errorf("let in %q with %v until %v", caller.Name, caller.Credential, caller.Until)
				}
			}
			d.now = tt.chain[0].NotAfter.Add(time.Second)
			d.out(presenting(tt.chain...), 401, access.ReasonExpired)
		})
	}

	t.Run("rotated", func(t *testing.T) {
		next := ours.sign(form(), newKey(t))
		d := open(t, access.Config{}, certified("alice", pinned, access.MTLS{SPKI: pinOf(next)}))
		d.in(presenting(leaf))
		caller := d.in(presenting(next))
		d.set(certified("alice", pinned))
		d.in(presenting(leaf))
		d.out(presenting(next), 401, access.ReasonUnknown)
		if !ended(caller.Revoked) {
			t.Error("what was opened with a certificate that was taken away goes on")
		}
	})
	t.Run("an authority speaks for its own client only", func(t *testing.T) {
		d := open(t, access.Config{}, certified("alice", san("dns:alice.example.com")),
			certified("mallory", access.MTLS{SAN: "dns:mallory.example.com", Roots: theirs.pool()}))
		d.out(presenting(theirs.sign(form(), newKey(t))), 401, access.ReasonUntrusted)
	})
	t.Run("two clients", func(t *testing.T) {
		d := open(t, access.Config{}, certified("alice", san("dns:alice.example.com")), certified("bob", san("dns:spare.example.com")))
		d.out(presenting(leaf), 401, access.ReasonSeveral)
	})
	t.Run("roots are withdrawn", func(t *testing.T) {
		d := open(t, access.Config{}, certified("alice", san("dns:alice.example.com")))
		caller := d.in(presenting(leaf))
		d.set(certified("alice", san("dns:alice.example.com"))) // the same roots, read again
		if ended(caller.Revoked) {
			t.Error("the same roots ended what was open")
		}
		d.set(certified("alice", access.MTLS{SAN: "dns:alice.example.com", Roots: theirs.pool()}))
		d.out(presenting(leaf), 401, access.ReasonUntrusted)
		if !ended(caller.Revoked) {
			t.Error("what was opened goes on")
		}
	})
	t.Run("too many names", func(t *testing.T) {
		many := form()
		for i := range 70 {
			many.DNSNames = append(many.DNSNames, strings.Repeat("a", i%60+1)+string(rune('a'+i/60))+".example.com")
		}
		d := open(t, access.Config{}, certified("alice", san("dns:alice.example.com")))
		d.out(presenting(ours.sign(many, key)), 401, access.ReasonUnknown)
	})
	t.Run("a key in the header decides alone", func(t *testing.T) {
		text, apiKey := access.Issue()
		d := open(t, access.Config{}, certified("alice", pinned), partner("bob", apiKey))
		attempt := bearer(text)
		attempt.Certificates = []*x509.Certificate{leaf}
		if caller := d.in(attempt); caller.Name != "bob" {
			t.Errorf("let in %q, want bob", caller.Name)
		}
		attempt = bearer(text[:40])
		attempt.Certificates = []*x509.Certificate{leaf}
		d.out(attempt, 401, access.ReasonMalformed)
	})
}

func repeated(c *x509.Certificate, n int) []*x509.Certificate {
	var all []*x509.Certificate
	for range n {
		all = append(all, c)
	}
	return all
}

func TestForwardedCertificates(t *testing.T) {
	ca := newAuthority(t, "ca")
	leaf := ca.sign(&x509.Certificate{DNSNames: []string{"alice.example.com"}}, newKey(t))
	stranger := ca.sign(&x509.Certificate{DNSNames: []string{"eve.example.com"}}, newKey(t))
	edge := ca.sign(&x509.Certificate{DNSNames: []string{"edge.example.com"}}, newKey(t))
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
	sequence := ":" + base64.StdEncoding.EncodeToString(leaf.Raw) + ":"

	byAddress := access.Proxy{Name: "edge", Header: "client-cert", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	byKey := access.Proxy{Name: "edge", Header: "Client-Cert", SPKI: pinOf(edge)}
	byBoth := byAddress
	byBoth.SPKI = pinOf(edge)
	client := certified("alice", access.MTLS{SAN: "dns:alice.example.com", Roots: ca.pool()})

	inside, outside := netip.MustParseAddr("::ffff:10.1.2.3"), netip.MustParseAddr("192.0.2.1")
	with := func(value string, from netip.Addr, chain ...*x509.Certificate) access.Attempt {
		return access.Attempt{Address: from, Certificates: chain, Header: map[string][]string{"Client-Cert": {value}}}
	}
	tests := []struct {
		name    string
		proxy   access.Proxy
		attempt access.Attempt
		reason  access.Reason // none: let in
	}{
		{"byte sequence", byAddress, with(sequence, inside), ""},
		{"encoded PEM", byAddress, with(url.PathEscape(text), inside), ""},
		{"by the key of the proxy", byKey, with(sequence, outside, edge), ""},
		{"by both", byBoth, with(sequence, inside, edge), ""},
		{"from elsewhere", byAddress, with(sequence, outside), access.ReasonProxy},
		{"from elsewhere, with the client's certificate", byAddress, with(sequence, outside, leaf), access.ReasonProxy},
		{"another key", byKey, with(sequence, inside, stranger), access.ReasonProxy},
		{"no key", byKey, with(sequence, inside), access.ReasonProxy},
		{"one of both", byBoth, with(sequence, outside, edge), access.ReasonProxy},
		{"the other of both", byBoth, with(sequence, inside), access.ReasonProxy},
		{"of a stranger", byAddress, with(":"+base64.StdEncoding.EncodeToString(stranger.Raw)+":", inside), access.ReasonUnknown},
		{"the proxy's own", byAddress, access.Attempt{Address: inside, Certificates: []*x509.Certificate{leaf}}, access.ReasonMissing},
		{"empty", byAddress, with("", inside), access.ReasonMissing},
		{"twice", byAddress, access.Attempt{Address: inside, Header: map[string][]string{"Client-Cert": {sequence, sequence}}}, access.ReasonSeveral},
		{"not base64", byAddress, with(":*:", inside), access.ReasonMalformed},
		{"not closed", byAddress, with(strings.TrimSuffix(sequence, ":"), inside), access.ReasonMalformed},
		{"not a certificate", byAddress, with(":AAAA:", inside), access.ReasonMalformed},
		{"not encoded", byAddress, with("%", inside), access.ReasonMalformed},
		{"not PEM", byAddress, with("alice.example.com", inside), access.ReasonMalformed},
		{"two in one", byAddress, with(url.PathEscape(text+text), inside), access.ReasonMalformed},
		{"a key in PEM", byAddress, with(url.PathEscape(strings.ReplaceAll(text, "CERTIFICATE", "PRIVATE KEY")), inside), access.ReasonMalformed},
		{"too long", byAddress, with(strings.Repeat("a", 17<<10), inside), access.ReasonMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, access.Config{Proxies: []access.Proxy{tt.proxy}}, client)
			if tt.reason == "" {
				if caller := d.in(tt.attempt); caller.Name != "alice" {
					t.Errorf("let in %q", caller.Name)
				}
				return
			}
			refusal := d.out(tt.attempt, 401, tt.reason)
			if known := tt.reason != access.ReasonProxy; (refusal.Fact.Proxy == "edge") != known {
				t.Errorf("proxy %q in the fact", refusal.Fact.Proxy)
			}
		})
	}
}
