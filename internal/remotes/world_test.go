package remotes_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/trust"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/store/sqlite"
)

const (
	agentName = "partner"
	secret    = "s3cret-correct-horse"
)

// partner is a remote agent on a TLS server of its own.
type partner struct {
	*testing.T
	server *httptest.Server
	key    *card.PrivateKey

	mu       sync.Mutex
	card     func(c *a2a.AgentCard)
	page     http.HandlerFunc // in place of the card
	call     http.HandlerFunc // in place of the answer to a call
	wants    string           // Authorization that calls need
	hides    bool             // the card needs it too
	requests []*http.Request
}

func newPartner(t *testing.T, start func(*httptest.Server)) *partner {
	t.Helper()
	made, err := card.GenerateKey(card.ES256)
	if err == nil {
		made, err = made.WithID("key-1")
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &partner{T: t, key: made, card: func(*a2a.AgentCard) {}}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	start(p.server)
	t.Cleanup(p.server.Close)
	return p
}

func (p *partner) with(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *partner) seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// body is the card as it is served now.
func (p *partner) body() []byte {
	c := a2a.AgentCard{
		Name: "Partner", Description: "Answers.", Version: "1.2.0",
		Provider:            &a2a.AgentProvider{Organization: "Partner Inc", URL: "https://partner.example"},
		SupportedInterfaces: []a2a.AgentInterface{{URL: p.server.URL + "/", ProtocolBinding: a2a.BindingJSONRPC, ProtocolVersion: a2a.ProtocolVersion}},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "answer", Name: "Answer", Description: "Answers.", Tags: []string{"answer"}}},
	}
	p.card(&c)
	raw, err := card.Sign(c.AppendJSON(nil), card.Signer{Key: p.key})
	if err != nil {
		p.Error(err)
	}
	return raw
}

func (p *partner) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	let := p.wants == "" || r.Header.Get("Authorization") == p.wants
	isCard := r.Method == http.MethodGet
	switch {
	case isCard && p.page != nil:
		p.page(w, r)
	case !isCard && p.call != nil:
		p.call(w, r)
	case !let && (p.hides || !isCard):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "you showed "+r.Header.Get("Authorization"), http.StatusUnauthorized)
	case isCard && strings.HasSuffix(r.URL.Path, ".json"):
		raw := p.body()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", card.Digest(raw[:len(raw)/2]))
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(raw)
	case isCard:
		http.NotFound(w, r)
	default:
		answer(w, r, `"result":{"tasks":[],"nextPageToken":"","pageSize":1,"totalSize":0}`)
	}
}

// answer answers a JSON-RPC request with a result or an error.
func answer(w http.ResponseWriter, r *http.Request, outcome string) {
	text, _ := io.ReadAll(r.Body)
	var request struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(text, &request)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"`+request.ID+`",`+outcome+`}`)
}

// spec is a registration of the partner with nothing missing.
func (p *partner) spec(change ...func(*registry.RemoteAgent)) registry.RemoteAgent {
	text, err := card.JWKS(p.key.Public())
	if err != nil {
		p.Fatal(err)
	}
	var set struct {
		Keys []registry.JWK `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		p.Fatal(err)
	}
	spec := registry.RemoteAgent{
		Enabled: true, URL: registry.URL(p.server.URL), Pin: registry.Pin{Keys: set.Keys, Name: "Partner", Organization: "Partner Inc"},
		Credential: registry.Credential{None: true}, Send: registry.Internal, Returns: registry.Internal,
		Exceptions: []registry.Exception{"127.0.0.1"},
	}
	for _, f := range change {
		f(&spec)
	}
	return spec
}

func bearer(spec *registry.RemoteAgent) {
	spec.Credential = registry.Credential{Bearer: &registry.Bearer{Secret: "token"}}
}

// world is us.
type world struct {
	*testing.T
	remotes  *remotes.Remotes
	store    *sqlite.Store
	secrets  *secrets
	logs     *bytes.Buffer
	revision int64
}

func newWorld(t *testing.T, p *partner, change ...func(*remotes.Config)) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: store, secrets: &secrets{values: map[string]string{"token": secret}}, logs: &bytes.Buffer{}}
	cfg := remotes.Config{Roots: x509.NewCertPool(), Logger: slog.New(slog.NewTextHandler(w.logs, nil)), Resolve: resolve, CheckTimeout: 10 * time.Second}
	if certificate := p.server.Certificate(); certificate != nil {
		cfg.Roots.AddCert(certificate)
	}
	for _, f := range change {
		f(&cfg)
	}
	w.remotes, err = remotes.New(t.Context(), store, w.secrets, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.remotes.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// resolve knows a few names: a test asks nobody for others.
func resolve(_ context.Context, host string) ([]netip.Addr, error) {
	switch host {
	case "partner.example", "example.com", "wrong.test":
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

func (w *world) register(spec registry.RemoteAgent) {
	w.Helper()
	w.revision++
	doc := registry.Document{Kind: registry.KindRemoteAgent, Name: agentName, Spec: &spec, Generation: w.revision}
	if err := w.remotes.Set(w.Context(), registry.Set{Revision: w.revision, Documents: []registry.Document{doc}}); err != nil {
		w.Fatalf("Set() error = %v", err)
	}
}

func (w *world) refresh() trust.Knowledge {
	w.Helper()
	known, err := w.remotes.Book().RefreshNow(w.Context(), agentName)
	if err != nil {
		w.Fatalf("RefreshNow() error = %v", err)
	}
	return known
}

// secrets is a vault that keeps what its uses were.
type secrets struct {
	mu     sync.Mutex
	values map[string]string
	uses   []vault.Use
}

func (s *secrets) Open(_ context.Context, ref vault.Reference, use vault.Use) (vault.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[ref.Name]
	if !ok {
		return vault.Value{}, vault.ErrNotFound
	}
	s.uses = append(s.uses, use)
	return vault.NewValue([]byte(value)), nil
}

func (s *secrets) used() []vault.Use {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.uses)
}
