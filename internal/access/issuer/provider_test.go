package issuer_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/access/issuer"
)

// object is a JSON object.
type object = map[string]any

// signer is a key of an issuer, with what is published of it.
type signer struct {
	id, algorithm string
	key           crypto.Signer
}

func newSigner(t testing.TB, id, algorithm string) *signer {
	t.Helper()
	s := &signer{id: id, algorithm: algorithm}
	var err error
	switch algorithm {
	case "RS256":
		s.key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		s.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, s.key, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var encode = base64.RawURLEncoding.EncodeToString

// jwk is the public key as RFC 7517 and RFC 8037 have it.
func (s *signer) jwk() object {
	k := object{"kid": s.id, "use": "sig", "alg": s.algorithm}
	switch public := s.key.Public().(type) {
	case *rsa.PublicKey:
		maps.Copy(k, object{"kty": "RSA", "n": encode(public.N.Bytes()), "e": "AQAB"})
	case *ecdsa.PublicKey:
		raw, err := public.Bytes()
		if err != nil {
			panic(err)
		}
		maps.Copy(k, object{"kty": "EC", "crv": "P-256", "x": encode(raw[1:33]), "y": encode(raw[33:])})
	case ed25519.PublicKey:
		maps.Copy(k, object{"kty": "OKP", "crv": "Ed25519", "x": encode(public)})
	}
	return k
}

// sign makes a token.
func (s *signer) sign(t testing.TB, claims object) string {
	t.Helper()
	return s.signRaw(t, object{"alg": s.algorithm, "kid": s.id, "typ": "at+jwt"}, marshal(t, claims))
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *signer) signRaw(t testing.TB, header object, payload string) string {
	t.Helper()
	input := encode([]byte(marshal(t, header))) + "." + encode([]byte(payload))
	sum := sha256.Sum256([]byte(input))
	var signature []byte
	var err error
	switch key := s.key.(type) {
	case *rsa.PrivateKey:
		if header["alg"] == "PS256" {
			signature, err = rsa.SignPSS(rand.Reader, key, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
			break
		}
		signature, err = rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, v, failed := ecdsa.Sign(rand.Reader, key, sum[:])
		signature, err = append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...), failed
	case ed25519.PrivateKey:
		signature = ed25519.Sign(key, []byte(input))
	}
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + encode(signature)
}

// shared signs with what is published of a key as if it were a shared secret.
func (s *signer) shared(t testing.TB, claims object) string {
	t.Helper()
	input := encode([]byte(marshal(t, object{"alg": "HS256", "kid": s.id}))) + "." + encode([]byte(marshal(t, claims)))
	mac := hmac.New(sha256.New, []byte(marshal(t, s.jwk())))
	mac.Write([]byte(input))
	return input + "." + encode(mac.Sum(nil))
}

// provider is an issuer on the loopback.
type provider struct {
	url string

	mu     sync.Mutex
	keys   []object
	says   string // as its issuer; empty: its URL
	status int    // of everything; zero: 200
	body   string // of the key set, in place of keys
	hang   chan struct{}
	visits int // to the key set
}

func newProvider(t testing.TB, signers ...*signer) *provider {
	t.Helper()
	p := &provider{}
	p.publish(signers...)
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.url = server.URL + "/realms/a"
	return p
}

func (p *provider) publish(signers ...*signer) {
	p.change(func() {
		p.keys = []object{{"kty": "OKP", "crv": "X448", "x": "AA", "kid": "of a kind that nobody knows"}}
		for _, s := range signers {
			p.keys = append(p.keys, s.jwk())
		}
	})
}

func (p *provider) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) visited() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visits
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hang := p.hang; hang != nil {
		p.mu.Unlock()
		<-hang
		p.mu.Lock()
	}
	answer := object{"issuer": p.url, "jwks_uri": p.url + "/keys", "id_token_signing_alg_values_supported": []string{"HS256", "none"}}
	if p.says != "" {
		answer["issuer"] = p.says
	}
	if strings.HasSuffix(r.URL.Path, "/keys") {
		p.visits++
		answer = object{"keys": p.keys}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	if p.body != "" && strings.HasSuffix(r.URL.Path, "/keys") {
		text = []byte(p.body)
	}
	w.Header().Set("Content-Type", "application/json")
	if p.status != 0 {
		w.WriteHeader(p.status)
	}
	w.Write(text)
}

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newSet makes a set that goes out through the guard, to the loopback.
func newSet(t testing.TB, cfg issuer.Config) *issuer.Set {
	t.Helper()
	outbound, err := guard.New(guard.Policy{AllowHosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(outbound.Close)
	set := issuer.New(func(string) (*http.Client, error) { return outbound.HTTP(), nil }, cfg)
	t.Cleanup(set.Close)
	return set
}

// claims are those of a good token of an issuer.
func claimsAt(now time.Time, iss string) object {
	return object{
		"iss": iss, "sub": "service-1", "aud": "legation", "azp": "app",
		"iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
	}
}

func with(claims object, pairs ...any) object {
	claims = maps.Clone(claims)
	for i := 0; i < len(pairs); i += 2 {
		if name := pairs[i].(string); pairs[i+1] == nil {
			delete(claims, name)
		} else {
			claims[name] = pairs[i+1]
		}
	}
	return claims
}

func anybody(string) bool { return true }

var _ access.Tokens = (*issuer.Set)(nil)

var base64Of = base64.StdEncoding.EncodeToString
