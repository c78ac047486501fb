package remotes_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/trust"
)

// REQ-GEN-04: whenever a registration is changed, a credential goes to the party of
// its own registration and to nobody else.
func TestDialWhileTheAgentMoves(t *testing.T) {
	one, other := newPartner(t, withTLS), newPartner(t, withTLS)
	other.key = one.key
	w := newWorld(t, one)
	var specs []registry.RemoteAgent
	var wrong, called atomic.Int64
	for i, p := range []*partner{one, other} {
		name := registry.SecretName(fmt.Sprint("token-", i))
		token := fmt.Sprint("secret-of-", i)
		w.secrets.values[string(name)] = token
		specs = append(specs, p.spec(func(s *registry.RemoteAgent) {
			s.Credential = registry.Credential{Bearer: &registry.Bearer{Secret: name}}
		}))
		p.call = func(rw http.ResponseWriter, r *http.Request) {
			called.Add(1)
			if r.Header.Get("Authorization") != "Bearer "+token {
				wrong.Add(1)
			}
			answer(rw, r, `"result":{"tasks":[],"nextPageToken":"","pageSize":1,"totalSize":0}`)
		}
	}
	w.register(specs[0])
	w.refresh()
	ctx, stop := context.WithCancel(t.Context())
	var dialling sync.WaitGroup
	for range 4 {
		dialling.Go(func() {
			for ctx.Err() == nil {
				if c, _, err := w.remotes.Dial(agentName, "bob"); err == nil {
					_, _ = c.ListTasks(ctx, nil)
				}
			}
		})
	}
	for i := range 30 {
		w.register(specs[(i+1)%2])
		_, _ = w.remotes.Book().RefreshNow(ctx, agentName)
	}
	stop()
	dialling.Wait()
	if wrong.Load() > 0 || called.Load() == 0 {
		t.Errorf("%d of %d calls had the credential of somebody else", wrong.Load(), called.Load())
	}
}

// Who still holds an older registration than is in force is not given the way of the
// newer one, nor the other way round.
func TestWaysAreOfOneRegistration(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	at := func(url registry.URL) *registry.RemoteAgent {
		return new(p.spec(func(s *registry.RemoteAgent) { s.URL = url }))
	}
	one, two := at("https://one.example"), at("https://two.example")
	for _, tt := range []struct {
		generation int64
		spec       *registry.RemoteAgent
		want       string
		err        error
	}{
		{1, one, "https://one.example", nil}, {2, two, "https://two.example", nil},
		{1, one, "", remotes.ErrMoved}, {2, two, "https://two.example", nil},
	} {
		if got, err := w.remotes.Way(agentName, tt.generation, registry.Effective(tt.spec)); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("the way of generation %d = %q, %v, want %q, %v", tt.generation, got, err, tt.want, tt.err)
		}
	}
}

// A client certificate that was changed is shown on the next connection, and the
// next one is made for it.
func TestClientCertificatesThatChange(t *testing.T) {
	first, both := selfSigned(t)
	second, next := selfSigned(t)
	roots := x509.NewCertPool()
	roots.AddCert(first)
	roots.AddCert(second)
	for name, tt := range map[string]struct {
		credential func(dir string) *registry.Certificate
		change     func(w *world, dir string)
	}{
		"a secret": {
			func(string) *registry.Certificate { return &registry.Certificate{Secret: "client"} },
			func(w *world, _ string) {
				w.secrets.mu.Lock()
				w.secrets.values["client"] = next
				w.secrets.mu.Unlock()
				w.remotes.Forget()
			},
		},
		"files": {
			func(dir string) *registry.Certificate {
				return &registry.Certificate{CertificateFile: filepath.Join(dir, "c.pem"), KeyFile: filepath.Join(dir, "c.pem")}
			},
			func(_ *world, dir string) { writeFile(t, filepath.Join(dir, "c.pem"), next) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var shown [][]byte
			p := newPartner(t, func(s *httptest.Server) {
				s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots, MinVersion: tls.VersionTLS13}
				s.EnableHTTP2 = true
				s.StartTLS()
			})
			p.call = func(rw http.ResponseWriter, r *http.Request) {
				shown = append(shown, r.TLS.PeerCertificates[0].Raw)
				answer(rw, r, `"result":{"tasks":[],"nextPageToken":"","pageSize":1,"totalSize":0}`)
			}
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "c.pem"), both)
			now := time.Now()
			w := newWorld(t, p, func(c *remotes.Config) { c.Now = func() time.Time { return now } })
			w.secrets.values["client"] = both
			w.register(p.spec(func(s *registry.RemoteAgent) { s.Credential = registry.Credential{MTLS: tt.credential(dir)} }))
			w.refresh()
			call := func() {
				t.Helper()
				c, _, err := w.remotes.Dial(agentName, "bob")
				if err == nil {
					_, err = c.ListTasks(t.Context(), nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			call()
			tt.change(w, dir)
			now = now.Add(2 * time.Second)
			call()
			if len(shown) != 2 || string(shown[0]) != string(first.Raw) || string(shown[1]) != string(second.Raw) {
				t.Errorf("the agent was shown the old certificate after the change (%d calls)", len(shown))
			}
		})
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// REQ-GEN-04: an agent that makes a redirect of the credential it was given does not
// get it into reports, errors or the log.
func TestRedirectsThatRepeatTheCredential(t *testing.T) {
	for _, what := range []string{"card", "call"} {
		p := newPartner(t, withTLS)
		w := newWorld(t, p)
		w.register(p.spec(bearer))
		w.refresh()
		away := func(rw http.ResponseWriter, r *http.Request) {
			token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if token == "" {
				rw.Header().Set("WWW-Authenticate", "Bearer")
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			rw.Header().Set("Location", "https://"+token+".evil.example/")
			rw.WriteHeader(http.StatusFound)
		}
		p.with(func() {
			if what == "card" {
				p.page = away
			} else {
				p.call = away
			}
		})
		report, err := w.remotes.Check(t.Context(), agentName, "alice")
		if text := fmt.Sprintf("%+v %v", report, err) + w.logs.String(); report.OK || strings.Contains(text, secret) || strings.Contains(text, "evil") {
			t.Errorf("%s: %s", what, text)
		}
	}
}

// An agent whose card asks for another credential than is registered is not used,
// and is not accused of anything either.
func TestCredentialsThatAreNotWhatTheCardAsks(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	p.card = func(c *a2a.AgentCard) {
		c.SecuritySchemes = map[string]a2a.SecurityScheme{"s": {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Key"}}}
		c.SecurityRequirements = []a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"s": {}}}}
	}
	w.register(p.spec(bearer))
	w.refresh()
	_, _, err := w.remotes.Dial(agentName, "bob")
	refused, ok := errors.AsType[*trust.NotTrustedError](err)
	if !ok || refused.State != trust.Inert || refused.Reasons[0].Code != trust.CodeCredential || !strings.Contains(refused.Reasons[0].Next, `apiKey, with the header "X-Key"`) {
		t.Errorf("Dial() error = %v", err)
	}
	w.register(p.spec(func(s *registry.RemoteAgent) {
		s.Credential = registry.Credential{APIKey: &registry.HeaderKey{Header: "X-Key", Secret: "token"}}
	}))
	if _, _, err := w.remotes.Dial(agentName, "bob"); err != nil {
		t.Errorf("Dial() error = %v", err)
	}
}

// The marker is there while all that is believed is written down.
func TestMarker(t *testing.T) {
	p := newPartner(t, withTLS)
	path := filepath.Join(t.TempDir(), "settled")
	w := newWorld(t, p, func(c *remotes.Config) { c.Marker = path })
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there before anything is known")
	}
	w.register(p.spec())
	w.refresh()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("it is not there: %v", err)
	}
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	spec := p.spec(func(s *registry.RemoteAgent) { s.Enabled = false })
	w.revision++
	doc := registry.Document{Kind: registry.KindRemoteAgent, Name: agentName, Spec: &spec, Generation: w.revision}
	if err := w.remotes.Set(t.Context(), registry.Set{Revision: w.revision, Documents: []registry.Document{doc}}); err == nil {
		t.Error("Set() error = nil")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there though a loss could not be written down")
	}
}

// A set that comes late changes nothing, not even connections.
func TestSetsInTheWrongOrder(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec())
	w.refresh()
	if err := w.remotes.Set(t.Context(), registry.Set{Revision: w.revision - 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.remotes.Dial(agentName, "bob"); err != nil {
		t.Errorf("Dial() error = %v", err)
	}
}
