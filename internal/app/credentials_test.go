package app_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/oauth2-proxy/mockoidc"
)

// authority signs certificates.
type authority struct {
	*testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{T: t, key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	a.certificate = a.sign(template, template, a.key)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	a.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		a.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return signed
}

// issue makes a client's certificate with a name, good for so long from now on.
func (a *authority) issue(key *ecdsa.PrivateKey, uri string, good time.Duration) *tls.Certificate {
	a.Helper()
	name, err := url.Parse(uri)
	if err != nil {
		a.Fatal(err)
	}
	leaf := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), URIs: []*url.URL{name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(good),
	}, a.certificate, key)
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
}

// pinOf is the digest of a certificate's key, as documents and settings have it.
func pinOf(c *tls.Certificate) string {
	sum := sha256.Sum256(c.Leaf.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

func presented(c *tls.Certificate) proof { return proof{certificate: c} }

// forwarded is a certificate that a proxy passes on (RFC 9440).
func forwarded(by, c *tls.Certificate) proof {
	p := headed("Client-Cert", ":"+base64.StdEncoding.EncodeToString(c.Certificate[0])+":")
	p.certificate = by
	return p
}

// issuer is an OpenID Connect provider.
type issuer struct {
	*testing.T
	*mockoidc.MockOIDC
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	server, err := mockoidc.NewServer(key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Shutdown() })
	return &issuer{t, server}
}

// identity is an identity of the issuer, as documents have it.
func (i *issuer) identity(member, value string) string {
	return fmt.Sprintf("{issuer: %q, audience: legation, %s: %s, skew: 1s, exceptions: [%q]}", i.Issuer(), member, value, i.Addr()[len("http://"):])
}

// claims are those of a good token.
type claims map[string]any

func (i *issuer) claims(azp, sub string) claims {
	now := time.Now()
	return claims{
		"iss": i.Issuer(), "aud": "legation", "azp": azp, "sub": sub,
		"iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	}
}

// with is the claims with one that is another.
func (c claims) with(name string, value any) claims {
	next := claims{}
	for n, v := range c {
		next[n] = v
	}
	next[name] = value
	return next
}

// token signs claims, whosever they are.
func (i *issuer) token(c claims) proof {
	i.Helper()
	id, err := i.Keypair.KeyID()
	if err != nil {
		i.Fatal(err)
	}
	encoded := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			i.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	input := encoded(map[string]string{"alg": "RS256", "kid": id}) + "." + encoded(c)
	sum := sha256.Sum256([]byte(input))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.Keypair.PrivateKey, crypto.SHA256, sum[:])
	if err != nil {
		i.Fatal(err)
	}
	return bearer(input + "." + base64.RawURLEncoding.EncodeToString(signature))
}
