package issuer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oauth2-proxy/mockoidc"
	"go.uber.org/goleak"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/access/issuer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTokensAreVerified(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256", "EdDSA"} {
		t.Run(algorithm, func(t *testing.T) {
			key, c := newSigner(t, "k1", algorithm), newClock()
			p := newProvider(t, key)
			set := newSet(t, issuer.Config{Now: c.Now})
			text := key.sign(t, with(claimsAt(c.Now(), p.url), "aud", []string{"a", "b"}, "nbf", 1.5, "client_id", "ignored"))
			want := access.Claims{
				Issuer: p.url, Subject: "service-1", Audience: []string{"a", "b"}, AuthorizedParty: "app", Algorithm: algorithm,
				Expires: c.Now().Add(10 * time.Minute), NotBefore: time.Unix(1, 5e8), IssuedAt: c.Now(),
			}
			for range 3 {
				got, err := set.Verify(t.Context(), text, anybody)
				if err != nil {
					t.Fatalf("Verify() error = %v", err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("claims (-want +got):\n%s", diff)
				}
			}
			if p.visited() != 1 {
				t.Errorf("the issuer was asked %d times, want once", p.visited())
			}
		})
	}
}

func TestTokensAreRefused(t *testing.T) {
	rsa, ec, stranger, c := newSigner(t, "rsa", "RS256"), newSigner(t, "ec", "ES256"), newSigner(t, "rsa", "RS256"), newClock()
	p := newProvider(t, rsa, ec)
	good := claimsAt(c.Now(), p.url)
	payload := marshal(t, good)
	tests := []struct {
		name  string
		token string
		want  error
	}{
		{"nothing", "", access.ErrToken},
		{"two parts", "a.b", access.ErrToken},
		{"not a token", "a.b.c", access.ErrToken},
		{"an object", `{"payload":"","signatures":[]}`, access.ErrToken},
		{"none", encode([]byte(`{"alg":"none"}`)) + "." + encode([]byte(payload)) + ".", access.ErrAlgorithm},
		{"a shared secret", rsa.shared(t, good), access.ErrAlgorithm},
		{"no algorithm", rsa.signRaw(t, object{"kid": "rsa"}, payload), access.ErrAlgorithm},
		{"an algorithm of no kind", rsa.signRaw(t, object{"alg": "rs256", "kid": "rsa"}, payload), access.ErrAlgorithm},
		{"something critical", rsa.signRaw(t, object{"alg": "RS256", "kid": "rsa", "crit": []string{"x"}, "x": 1}, payload), access.ErrSignature},
		{"another key", stranger.sign(t, good), access.ErrSignature},
		{"another key's id", ec.signRaw(t, object{"alg": "ES256", "kid": "rsa"}, payload), access.ErrSignature},
		{"a key for another algorithm", rsa.signRaw(t, object{"alg": "PS256", "kid": "rsa"}, payload), access.ErrSignature},
		{"unknown id", rsa.signRaw(t, object{"alg": "RS256", "kid": "x"}, payload), access.ErrSignature},
		{"changed", changed(t, rsa.sign(t, good), payload), access.ErrSignature},
		{"another issuer", rsa.sign(t, with(good, "iss", p.url+"/")), access.ErrIssuer},
		{"no issuer", rsa.sign(t, with(good, "iss", nil)), access.ErrIssuer},
		{"issuer twice", rsa.signRaw(t, object{"alg": "RS256", "kid": "rsa"}, `{"iss":"`+p.url+`","iss":"`+p.url+`"}`), access.ErrToken},
		{"not claims", rsa.signRaw(t, object{"alg": "RS256", "kid": "rsa"}, `[]`), access.ErrToken},
		{"audience of a wrong kind", rsa.sign(t, with(good, "aud", 7)), access.ErrToken},
		{"end of a wrong kind", rsa.sign(t, with(good, "exp", "tomorrow")), access.ErrToken},
		{"no end in sight", rsa.sign(t, with(good, "exp", 1e300)), access.ErrToken},
		{"before there were dates", rsa.sign(t, with(good, "exp", -1)), access.ErrToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := newSet(t, issuer.Config{Now: c.Now})
			_, err := set.Verify(t.Context(), tt.token, func(iss string) bool { return iss == p.url })
			if !errors.Is(err, tt.want) {
				t.Fatalf("Verify() error = %v, want %v", err, tt.want)
			}
			// REQ-GEN-04: nothing of the token is in the error.
			if got, want := err.Error(), tt.want.Error(); got != want {
				t.Errorf("error %q, want %q and nothing else", got, want)
			}
		})
	}
	t.Run("a token of nobody makes no request", func(t *testing.T) {
		before := p.visited()
		set := newSet(t, issuer.Config{Now: c.Now})
		_, err := set.Verify(t.Context(), rsa.sign(t, good), func(string) bool { return false })
		if !errors.Is(err, access.ErrIssuer) || p.visited() != before {
			t.Errorf("Verify() error = %v after %d requests, want ErrIssuer and none", err, p.visited()-before)
		}
	})
	t.Run("a token that names no key", func(t *testing.T) {
		set := newSet(t, issuer.Config{Now: c.Now})
		if _, err := set.Verify(t.Context(), ec.signRaw(t, object{"alg": "ES256"}, payload), anybody); err != nil {
			t.Errorf("Verify() error = %v", err)
		}
	})
	t.Run("client_id stands for azp, and zero for a date that is not there", func(t *testing.T) {
		set := newSet(t, issuer.Config{Now: c.Now})
		claims, err := set.Verify(t.Context(), ec.sign(t, with(good, "azp", nil, "client_id", "app2", "nbf", 0)), anybody)
		if err != nil || claims.AuthorizedParty != "app2" || !claims.NotBefore.IsZero() {
			t.Errorf("Verify() = %+v, %v", claims, err)
		}
	})
	t.Run("a token of an issuer that is not known any more", func(t *testing.T) {
		set := newSet(t, issuer.Config{Now: c.Now})
		text, known := ec.sign(t, good), true
		verify := func() error {
			_, err := set.Verify(t.Context(), text, func(string) bool { return known })
			return err
		}
		if err := verify(); err != nil {
			t.Fatal(err)
		}
		if known = false; !errors.Is(verify(), access.ErrIssuer) {
			t.Error("a remembered token outlives its issuer")
		}
	})
}

// changed is a token with another payload and the same signature.
func changed(t *testing.T, token, payload string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	parts[1] = encode([]byte(strings.Replace(payload, "service-1", "service-2", 1)))
	return strings.Join(parts, ".")
}

func TestKeysRotate(t *testing.T) {
	first, second, c := newSigner(t, "k1", "ES256"), newSigner(t, "k2", "ES256"), newClock()
	p := newProvider(t, first)
	set := newSet(t, issuer.Config{Now: c.Now})
	verify := func(s *signer) error {
		// Another token each time, so that none is remembered.
		_, err := set.Verify(t.Context(), s.sign(t, claimsAt(c.Now(), p.url)), anybody)
		return err
	}
	remembered := first.sign(t, claimsAt(c.Now(), p.url))
	if _, err := set.Verify(t.Context(), remembered, anybody); err != nil {
		t.Fatal(err)
	}
	p.publish(first, second)
	// Tokens with unknown keys do not make the issuer be asked again and again.
	for range 20 {
		if err := verify(second); !errors.Is(err, access.ErrSignature) {
			t.Fatalf("Verify() error = %v, want ErrSignature", err)
		}
	}
	if p.visited() != 1 {
		t.Errorf("the issuer was asked %d times within a minute, want once", p.visited())
	}
	c.advance(time.Minute)
	if err := verify(second); err != nil {
		t.Errorf("Verify() with the new key: error = %v", err)
	}
	if err := verify(first); err != nil || p.visited() != 2 {
		t.Errorf("Verify() with the old key: error = %v, asked %d times, want 2", err, p.visited())
	}
	// A key that was withdrawn is not accepted any more, remembered or not.
	p.publish(second)
	c.advance(time.Minute)
	if err := verify(newSigner(t, "k3", "ES256")); !errors.Is(err, access.ErrSignature) {
		t.Errorf("Verify() error = %v, want ErrSignature", err)
	}
	if err := verify(first); !errors.Is(err, access.ErrSignature) {
		t.Errorf("Verify() with a withdrawn key: error = %v, want ErrSignature", err)
	}
	if _, err := set.Verify(t.Context(), remembered, anybody); !errors.Is(err, access.ErrSignature) {
		t.Errorf("Verify() of a remembered token with a withdrawn key: error = %v, want ErrSignature", err)
	}
}

func TestAnIssuerThatIsDown(t *testing.T) {
	key, other, c := newSigner(t, "k1", "ES256"), newSigner(t, "k2", "ES256"), newClock()
	p := newProvider(t, key)
	set := newSet(t, issuer.Config{Now: c.Now})
	verify := func(s *signer) error {
		_, err := set.Verify(t.Context(), s.sign(t, claimsAt(c.Now(), p.url)), anybody)
		return err
	}
	p.change(func() { p.status = 500 })
	for range 10 {
		if err := verify(key); !errors.Is(err, access.ErrUnavailable) {
			t.Fatalf("Verify() error = %v, want ErrUnavailable", err)
		}
	}
	p.change(func() { p.status = 0 })
	if err := verify(key); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("the issuer was asked twice within a minute")
	}
	c.advance(time.Minute)
	if err := verify(key); err != nil {
		t.Fatalf("Verify() error = %v: the issuer is back", err)
	}

	// Known keys go on, for a day; unknown ones fail closed.
	p.change(func() { p.status = 503 })
	c.advance(24*time.Hour - time.Second)
	if err := verify(other); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("Verify() with an unknown key: error = %v, want ErrUnavailable", err)
	}
	text := key.sign(t, claimsAt(c.Now(), p.url))
	if _, err := set.Verify(t.Context(), text, anybody); err != nil {
		t.Errorf("Verify() with a known key: error = %v", err)
	}
	c.advance(time.Second)
	if err := verify(key); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("Verify() after a day: error = %v, want ErrUnavailable", err)
	}
	if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("Verify() of a remembered token after a day: error = %v, want ErrUnavailable", err)
	}
}

// Keys are asked for again in time, and nobody waits for it.
func TestKeysAreRefreshedBehindTheScenes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, next := newSigner(t, "k1", "ES256"), newSigner(t, "k2", "ES256")
		p := &provider{url: "https://id.example.com"}
		p.publish(old)
		set := issuer.New(func(string) (*http.Client, error) { return &http.Client{Transport: direct{p}}, nil }, issuer.Config{})
		defer set.Close()
		text := old.sign(t, with(claimsAt(time.Now(), p.url), "exp", time.Now().Add(time.Hour).Unix()))
		verify := func() error {
			_, err := set.Verify(t.Context(), text, anybody)
			return err
		}
		if err := verify(); err != nil {
			t.Fatal(err)
		}
		p.publish(next)
		release := make(chan struct{})
		p.change(func() { p.hang = release })
		time.Sleep(16 * time.Minute)
		if err := verify(); err != nil {
			t.Errorf("Verify() while the issuer is asked: error = %v", err)
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		if err := verify(); !errors.Is(err, access.ErrSignature) {
			t.Errorf("Verify() error = %v, want ErrSignature: the key was withdrawn", err)
		}
	})
}

// direct asks a provider without a network.
type direct struct{ p *provider }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := make(chan *http.Response, 1)
	go func() {
		w := httptest.NewRecorder()
		d.p.ServeHTTP(w, r)
		answer <- w.Result()
	}()
	select {
	case resp := <-answer:
		return resp, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

func TestOneVisitServesAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newSigner(t, "k1", "ES256")
		p := &provider{url: "https://id.example.com", hang: make(chan struct{})}
		p.publish(key)
		set := issuer.New(func(string) (*http.Client, error) { return &http.Client{Transport: direct{p}}, nil }, issuer.Config{})
		defer set.Close()
		text := key.sign(t, claimsAt(time.Now(), p.url))

		impatient, leave := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() { // begins the visit, and leaves
			if _, err := set.Verify(impatient, text, anybody); !errors.Is(err, context.Canceled) {
				t.Errorf("Verify() error = %v, want the context's", err)
			}
		})
		synctest.Wait()
		for range 10 {
			waiting.Go(func() {
				if _, err := set.Verify(t.Context(), text, anybody); err != nil {
					t.Errorf("Verify() error = %v", err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(p.hang)
		waiting.Wait()
		if p.visited() != 1 {
			t.Errorf("the issuer was asked %d times, want once", p.visited())
		}
	})
}

func TestAVisitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newSigner(t, "k1", "ES256")
		p := &provider{url: "https://id.example.com", hang: make(chan struct{})}
		defer close(p.hang)
		p.publish(key)
		text := key.sign(t, claimsAt(time.Now(), p.url))
		set := issuer.New(func(string) (*http.Client, error) { return &http.Client{Transport: direct{p}}, nil }, issuer.Config{})
		start := time.Now()
		if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrUnavailable) {
			t.Errorf("Verify() error = %v, want ErrUnavailable", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("gave up after %v, want 10s", took)
		}
		time.Sleep(time.Minute)
		done := make(chan error)
		go func() {
			_, err := set.Verify(t.Context(), text, anybody)
			done <- err
		}()
		synctest.Wait()
		set.Close() // does not wait for the issuer
		if err := <-done; !errors.Is(err, access.ErrUnavailable) {
			t.Errorf("Verify() error = %v, want ErrUnavailable", err)
		}
		if took := time.Since(start); took != 70*time.Second {
			t.Errorf("Close() took until %v, want no time", took)
		}
		time.Sleep(time.Minute)
		if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrUnavailable) {
			t.Errorf("Verify() after Close(): error = %v, want ErrUnavailable", err)
		}
	})
}

func TestIssuersThatMisbehave(t *testing.T) {
	key := newSigner(t, "k1", "ES256")
	weak := `{"keys":[{"kty":"RSA","kid":"k1","n":"` + encode(bytes.Repeat([]byte{0xff}, 128)) + `","e":"AQAB"}]}`
	forOthers := marshal(t, object{"keys": []object{with(key.jwk(), "use", "enc")}})
	private := marshal(t, object{"keys": []object{{"kty": "oct", "kid": "k1", "k": "c2VjcmV0"}}})
	for name, change := range map[string]func(*provider){
		"another issuer":   func(p *provider) { p.says = "https://elsewhere.example.com" },
		"a trailing slash": func(p *provider) { p.says = p.url + "/" },
		"no keys":          func(p *provider) { p.body = `{"keys":[]}` },
		"not a key set":    func(p *provider) { p.body = `<html>SECRETSECRET</html>` },
		"keys twice":       func(p *provider) { p.body = `{"keys":[],"keys":[]}` },
		"a weak key":       func(p *provider) { p.body = weak },
		"a key for others": func(p *provider) { p.body = forOthers },
		"a shared secret":  func(p *provider) { p.body = private },
		"a redirect":       func(p *provider) { p.status = 302 },
		"too much of an answer": func(p *provider) {
			p.body = `{"keys":[` + marshal(t, key.jwk()) + `],"x":"` + strings.Repeat("a", 2<<20) + `"}`
		},
		"an error that goes on for long": func(p *provider) { p.status, p.says = 500, strings.Repeat("x", 100_000) },
	} {
		t.Run(name, func(t *testing.T) {
			p, c := newProvider(t, key), newClock()
			change(p)
			var log bytes.Buffer
			set := newSet(t, issuer.Config{Now: c.Now, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			text := key.sign(t, claimsAt(c.Now(), p.url))
			if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrUnavailable) {
				t.Fatalf("Verify() error = %v, want ErrUnavailable", err)
			}
			set.Close()
			if line := log.String(); !strings.Contains(line, p.url) || len(line) > 1000 || strings.Contains(line, text[:20]) {
				t.Errorf("log: %.200s", line)
			}
		})
	}
	for name, client := range map[string]func(string) (*http.Client, error){
		"no client":    func(string) (*http.Client, error) { return nil, errors.New("not allowed") },
		"no transport": func(string) (*http.Client, error) { return &http.Client{}, nil },
		"a panic":      func(string) (*http.Client, error) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			set := issuer.New(client, issuer.Config{})
			defer set.Close()
			text := key.sign(t, claimsAt(time.Now(), "https://id.example.com"))
			if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrUnavailable) {
				t.Errorf("Verify() error = %v, want ErrUnavailable", err)
			}
		})
	}
}

func TestSeveralIssuers(t *testing.T) {
	c := newClock()
	set := newSet(t, issuer.Config{Now: c.Now})
	var providers []*provider
	var keys []*signer
	for range 3 {
		key := newSigner(t, "same id", "ES256")
		keys = append(keys, key)
		providers = append(providers, newProvider(t, key))
	}
	providers[1].change(func() { providers[1].status = 500 })
	known := map[string]bool{providers[0].url: true, providers[1].url: true, providers[2].url: true}
	verify := func(i, j int) error {
		_, err := set.Verify(t.Context(), keys[i].sign(t, claimsAt(c.Now(), providers[j].url)), func(iss string) bool { return known[iss] })
		return err
	}
	if err := errors.Join(verify(0, 0), verify(2, 2)); err != nil {
		t.Errorf("one that is down holds others up: %v", err)
	}
	if err := verify(1, 1); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("Verify() error = %v, want ErrUnavailable", err)
	}
	if err := verify(0, 2); !errors.Is(err, access.ErrSignature) {
		t.Errorf("Verify() with another issuer's key: error = %v, want ErrSignature", err)
	}
	// One that was taken away and comes back is asked anew, whatever was
	// remembered.
	remembered := keys[0].sign(t, claimsAt(c.Now(), providers[0].url))
	if _, err := set.Verify(t.Context(), remembered, anybody); err != nil {
		t.Fatal(err)
	}
	delete(known, providers[0].url)
	fourth := newSigner(t, "k", "ES256")
	another := newProvider(t, fourth)
	known[another.url] = true
	if _, err := set.Verify(t.Context(), fourth.sign(t, claimsAt(c.Now(), another.url)), func(iss string) bool { return known[iss] }); err != nil {
		t.Fatal(err)
	}
	known[providers[0].url] = true
	providers[0].publish(fourth)
	if _, err := set.Verify(t.Context(), remembered, anybody); !errors.Is(err, access.ErrSignature) || providers[0].visited() != 2 {
		t.Errorf("Verify() error = %v, asked %d times, want ErrSignature and 2", err, providers[0].visited())
	}
}

// A provider that others wrote, through everything it has.
func TestMockOIDC(t *testing.T) {
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Shutdown()
	set := newSet(t, issuer.Config{})
	session, err := m.SessionStore.NewSession("openid", "nonce", mockoidc.DefaultUser(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, mint := range map[string]func(*mockoidc.Config, *mockoidc.Keypair, time.Time) (string, error){
		"access token": session.AccessToken, "id token": session.IDToken,
	} {
		text, err := mint(m.Config(), m.Keypair, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		claims, err := set.Verify(t.Context(), text, func(iss string) bool { return iss == m.Issuer() })
		if err != nil || claims.Subject != mockoidc.DefaultUser().ID() || fmt.Sprint(claims.Audience) != "["+m.ClientID+"]" {
			t.Errorf("%s: Verify() = %+v, %v", name, claims, err)
		}
		stranger, err := mockoidc.RandomKeypair(2048)
		if err != nil {
			t.Fatal(err)
		}
		stranger.Kid, _ = m.Keypair.KeyID()
		text, err = mint(m.Config(), stranger, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set.Verify(t.Context(), text, anybody); !errors.Is(err, access.ErrSignature) {
			t.Errorf("%s of a stranger: Verify() error = %v, want ErrSignature", name, err)
		}
	}
}
