package credential_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/testkit"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is what is around a keeper: a vault in a store, an authority, an agent
// over TLS that checks what it is shown, and a token endpoint over TLS.
type world struct {
	*testing.T
	ca     *authority
	vault  *vault.Vault
	clock  *clock
	logs   *safeBuffer
	keeper *credential.Keeper
	agent  *agent
	issuer *issuer

	secrets []string // that must be seen nowhere
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	ring, err := vault.ParseKeys([]byte("legmk1_" + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, ca: newAuthority(t), clock: &clock{at: time.Now()}, logs: &safeBuffer{}}
	w.vault = vault.New(store, vault.NewSealer(ring), vault.Config{})
	w.keeper = credential.New(w.vault, w.clients, credential.Config{
		Now: w.clock.now, Logger: slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	w.agent = newAgent(w)
	w.issuer = newIssuer(w)
	return w
}

// policy reaches the loopback servers of the test, under its own authority.
func (w *world) policy() guard.Policy {
	return guard.Policy{AllowHosts: []string{"127.0.0.1"}, TLSConfig: &tls.Config{RootCAs: w.ca.pool, MinVersion: tls.VersionTLS12}}
}

func (w *world) clients(party string, exceptions []registry.Exception, _ string) (*guard.Client, error) {
	if party != "partner" || len(exceptions) > 1 {
		w.Errorf("client for %s with %v, want the party's", party, exceptions)
	}
	policy := w.policy()
	policy.AllowHosts = nil
	for _, e := range exceptions {
		policy.AllowHosts = append(policy.AllowHosts, string(e))
	}
	return guard.New(policy)
}

// put sets a secret.
func (w *world) put(name, value string) {
	w.Helper()
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "---") {
			w.secrets = append(w.secrets, line)
		}
	}
	if _, err := w.vault.Put(w.Context(), name, vault.NewValue([]byte(value)), "root", work.Effects{}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.Helper()
	if err := w.vault.Delete(w.Context(), vault.Reference{Name: name}, work.Effects{}); err != nil {
		w.Fatal(err)
	}
}

// uses are the records of uses of a secret, newest first.
func (w *world) uses(name string) []vault.Use {
	w.Helper()
	records, err := w.vault.Uses(w.Context(), name, 0, 100)
	if err != nil {
		w.Fatal(err)
	}
	var uses []vault.Use
	for _, record := range records {
		uses = append(uses, record.Use)
	}
	return uses
}

var exceptions = []registry.Exception{"127.0.0.1"}

func (w *world) source(spec registry.Credential) *credential.Source {
	w.Helper()
	source, err := w.keeper.For("partner", 1, w.agent.server.URL, spec, exceptions)
	if err != nil {
		w.Fatal(err)
	}
	return source
}

// dial returns a client of the agent that proves itself with a source.
func (w *world) dial(source *credential.Source) *client.Client {
	w.Helper()
	card := testkit.Card(w.agent.server.URL + "/")
	card.SecuritySchemes, card.SecurityRequirements = w.agent.schemes, nil
	for name := range w.agent.schemes {
		card.SecurityRequirements = append(card.SecurityRequirements, a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{name: {}}})
	}
	parsed, err := client.ParseCard([]byte(testkit.CardJSON(card)), w.agent.server.URL)
	if err != nil {
		w.Fatal(err)
	}
	policy := w.policy()
	policy.TLSConfig.GetClientCertificate = source.Certificate()
	guarded, err := guard.New(policy)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(guarded.Close)
	c, err := client.New(parsed, client.Config{
		Guard: guarded, Credentials: func(ctx context.Context, renew bool) (http.Header, error) {
			return source.Headers(ctx, "alice", renew)
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// silent makes sure that texts and the log show nothing secret, in any of the
// forms in which it travels. REQ-GEN-04, REQ-GEN-09.
func (w *world) silent(texts ...string) {
	w.Helper()
	all := strings.Join(append(texts, w.logs.String()), "\n")
	for _, secret := range append(w.secrets, w.issuer.tokens()...) {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(clientID + ":" + secret))} {
			if strings.Contains(all, form) {
				w.Errorf("something secret is shown: %s", all)
				return
			}
		}
	}
}

// agent answers over TLS, and checks who asks.
type agent struct {
	server  *httptest.Server
	schemes map[string]a2a.SecurityScheme

	mu       sync.Mutex
	check    func(*http.Request) bool
	status   int // of a refusal
	requests []*http.Request
}

func newAgent(w *world) *agent {
	a := &agent{check: func(*http.Request) bool { return true }, status: http.StatusUnauthorized}
	a.server = w.serve(a)
	return a
}

// serve starts a server with a certificate of the authority, that takes client
// certificates of it where they are given.
func (w *world) serve(handler http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{w.ca.pair(w.T, w.ca.issue(w.T, "127.0.0.1", time.Hour))},
		ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: w.ca.pool,
	}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.Config.SetKeepAlivesEnabled(false) // a connection for each request
	server.StartTLS()
	w.Cleanup(server.Close)
	return server
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
	if !a.check(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="agent"`)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(a.status)
		return
	}
	var request struct {
		ID jsontext.Value `json:"id"`
	}
	if err := json.UnmarshalRead(r.Body, &request); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	state := "TASK_STATE_WORKING"
	if len(a.requests) >= 3 {
		state = "TASK_STATE_COMPLETED"
	}
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(request.ID) +
		`,"result":{"id":"t-1","contextId":"c-1","status":{"state":"` + state + `"}}}`))
}

// asks sets who is let in, and what the card says of it.
func (a *agent) asks(scheme a2a.SecuritySchemeVariant, check func(*http.Request) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.schemes, a.check = map[string]a2a.SecurityScheme{"asked": {Scheme: scheme}}, check
}

// seen returns the requests so far, and forgets them.
func (a *agent) seen() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.requests = nil }()
	return a.requests
}

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(data)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{certificate: certificate, key: key, pool: x509.NewCertPool()}
	a.pool.AddCert(certificate)
	return a
}

// issue returns a certificate for a name, and its key, in PEM. It ends after a
// time, which may be past.
func (a *authority) issue(t *testing.T, name string, ends time.Duration) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-12 * time.Hour), NotAfter: time.Now().Add(ends), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if address := net.ParseIP(name); address != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{address}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

func (a *authority) pair(t *testing.T, text string) tls.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(text), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
