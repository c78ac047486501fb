package trust_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

const agentName = "partner"

// world is a book with a store, a source that says what a test wants, and a
// registry.
type world struct {
	*testing.T
	store    *store
	source   *source
	cfg      trust.Config
	book     *trust.Book
	now      *clock
	mark     mark
	logs     *bytes.Buffer
	docs     map[registry.Name]registry.Document
	revision int64
}

func newWorld(t *testing.T, cfg trust.Config) *world {
	t.Helper()
	return newWorldOn(t, openStore(t), cfg)
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	opened, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

func newWorldOn(t *testing.T, opened *sqlite.Store, cfg trust.Config) *world {
	t.Helper()
	w := &world{
		T: t, store: &store{Store: opened}, source: &source{answers: map[registry.Name]answer{}},
		cfg: cfg, now: &clock{at: time.Now()}, logs: &bytes.Buffer{}, docs: map[registry.Name]registry.Document{},
	}
	if w.cfg.Now == nil {
		w.cfg.Now = w.now.Now
	}
	w.cfg.Settlement = &w.mark
	w.cfg.Logger = slog.New(slog.NewTextHandler(&locked{Buffer: w.logs}, nil))
	w.restart()
	return w
}

// restart goes on with a new book on the same store.
func (w *world) restart() {
	w.Helper()
	book, err := trust.NewBook(w.Context(), w.store, w.source, w.cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.book = book
	if len(w.docs) > 0 {
		w.set()
	}
}

// register puts a remote agent into the registry, with a new generation.
func (w *world) register(name registry.Name, spec registry.RemoteAgent) {
	w.Helper()
	w.revision++
	w.docs[name] = registry.Document{Kind: registry.KindRemoteAgent, Name: name, Spec: &spec, Generation: w.revision}
	w.set()
}

func (w *world) set() {
	w.Helper()
	if err := w.trySet(); err != nil {
		w.Fatalf("Set() error = %v", err)
	}
}

func (w *world) trySet() error {
	set := registry.Set{Revision: w.revision}
	for _, doc := range w.docs {
		set.Documents = append(set.Documents, doc)
	}
	return w.book.Set(w.Context(), set)
}

func (w *world) refresh() trust.Knowledge {
	w.Helper()
	known, err := w.book.RefreshNow(w.Context(), agentName)
	if err != nil {
		w.Fatalf("RefreshNow() error = %v", err)
	}
	return known
}

func (w *world) refreshFails() {
	w.Helper()
	if _, err := w.book.RefreshNow(w.Context(), agentName); err == nil {
		w.Fatal("RefreshNow() error = nil")
	}
}

// trusted asserts that there is a ticket.
func (w *world) trusted() trust.Ticket {
	w.Helper()
	ticket, err := w.book.Trust(agentName)
	if err != nil {
		w.Fatalf("Trust() error = %v", err)
	}
	if !w.book.Valid(ticket) {
		w.Error("a ticket that was just given is not valid")
	}
	return ticket
}

// untrusted asserts that there is none, and why.
func (w *world) untrusted(state trust.State, code trust.Code) {
	w.Helper()
	ticket, err := w.book.Trust(agentName)
	refused, ok := errors.AsType[*trust.NotTrustedError](err)
	if !ok || !errors.Is(err, trust.ErrNotTrusted) {
		w.Fatalf("Trust() = %+v, %v, want a *NotTrustedError", ticket.Name, err)
	}
	if refused.State != state || len(refused.Reasons) == 0 || refused.Reasons[0].Code != code {
		w.Errorf("Trust() error = %v (%s, %+v), want %s for %q", err, refused.State, refused.Reasons, state, code)
	}
}

// evidence is the audit of the agent, oldest first, as operation, outcome and
// reason.
func (w *world) evidence() []string {
	w.Helper()
	page, err := w.store.Audit(w.Context(), audit.Query{Limit: 100})
	if err != nil {
		w.Fatal(err)
	}
	entries := page.Entries
	var all []string
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		all = append(all, e.Who+": "+e.Operation+" "+string(e.Outcome)+" "+e.Reason)
		if e.Party != "RemoteAgent/"+agentName {
			w.Errorf("entry %+v is of another party", e)
		}
	}
	return all
}

func (w *world) stored() trust.RemoteCard {
	w.Helper()
	all, err := w.store.RemoteCards(w.Context())
	if err != nil || len(all) != 1 {
		w.Fatalf("RemoteCards() = %d, %v, want one", len(all), err)
	}
	return all[0]
}

// store fails when it is told to.
type store struct {
	*sqlite.Store
	mu   sync.Mutex
	fail error
}

func (s *store) failing(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *store) PutRemoteCard(ctx context.Context, kept trust.RemoteCard, effects work.Effects) error {
	s.mu.Lock()
	err := s.fail
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.Store.PutRemoteCard(ctx, kept, effects)
}

// mark is a settlement that outlives a restart.
type mark struct {
	mu      sync.Mutex
	settled bool
	fail    error
}

func (m *mark) Settled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settled
}

func (m *mark) Settle(settled bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.settled = settled
	return nil
}

// answer is what a source answers.
type answer func(ctx context.Context) (trust.Fetched, error)

type source struct {
	mu      sync.Mutex
	answers map[registry.Name]answer
	reads   []read
}

type read struct {
	name registry.Name
	at   time.Time
}

func (s *source) Read(ctx context.Context, of trust.Registration) (trust.Fetched, error) {
	s.mu.Lock()
	s.reads = append(s.reads, read{of.Name, time.Now()})
	give := s.answers[of.Name]
	s.mu.Unlock()
	if give == nil {
		return trust.Fetched{}, errors.New("nobody is there")
	}
	return give(ctx)
}

func (s *source) on(name registry.Name, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = a
}

// times returns when a card was read, from a time on.
func (s *source) times(name registry.Name, since time.Time) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []time.Duration
	for _, r := range s.reads {
		if r.name == name {
			all = append(all, r.at.Sub(since))
		}
	}
	return all
}

// serves answers with a card.
func serves(raw []byte) answer {
	return func(context.Context) (trust.Fetched, error) {
		return trust.Fetched{Raw: raw, URL: "https://partner.example/.well-known/agent-card.json", ETag: `"1"`, MaxAge: 10 * time.Minute}, nil
	}
}

// fails answers with an error.
func fails(err error) answer {
	return func(context.Context) (trust.Fetched, error) { return trust.Fetched{}, err }
}

var unreachable = &trust.ReadError{Code: "connect", Words: "its card could not be read: nobody listens"}

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type locked struct {
	mu sync.Mutex
	*bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

// key makes a key with an id.
func key(t testing.TB, id string) *card.PrivateKey {
	t.Helper()
	made, err := card.GenerateKey(card.EdDSA)
	if err == nil {
		made, err = made.WithID(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// pinned are keys as a document has them.
func pinned(t testing.TB, keys ...*card.PrivateKey) []registry.JWK {
	t.Helper()
	var public []card.PublicKey
	for _, k := range keys {
		public = append(public, k.Public())
	}
	text, err := card.JWKS(public...)
	if err != nil {
		t.Fatal(err)
	}
	var set struct {
		Keys []registry.JWK `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	return set.Keys
}

func agentCard(change ...func(*a2a.AgentCard)) a2a.AgentCard {
	c := a2a.AgentCard{
		Name: "Partner", Description: "Answers.", Version: "1.2.0",
		Provider:            &a2a.AgentProvider{Organization: "Partner Inc", URL: "https://partner.example"},
		SupportedInterfaces: []a2a.AgentInterface{{URL: "https://partner.example/", ProtocolBinding: a2a.BindingJSONRPC, ProtocolVersion: a2a.ProtocolVersion}},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{ID: "answer", Name: "Answer", Description: "Answers.", Tags: []string{"answer"}}},
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// signed is a card as its agent serves it.
func signed(t testing.TB, c a2a.AgentCard, keys ...*card.PrivateKey) []byte {
	t.Helper()
	raw := c.AppendJSON(nil)
	for _, k := range keys {
		var err error
		if raw, err = card.Sign(raw, card.Signer{Key: k}); err != nil {
			t.Fatal(err)
		}
	}
	return raw
}

// ready is a registration with nothing missing.
func ready(keys []registry.JWK, change ...func(*registry.RemoteAgent)) registry.RemoteAgent {
	spec := registry.RemoteAgent{
		Enabled: true, URL: "https://partner.example", Pin: registry.Pin{Keys: keys},
		Credential: registry.Credential{None: true}, Send: registry.Internal, Returns: registry.Internal,
	}
	for _, f := range change {
		f(&spec)
	}
	return spec
}

func described(words string) func(*a2a.AgentCard) {
	return func(c *a2a.AgentCard) { c.Description = words }
}

func withSkill(id string) func(*a2a.AgentCard) {
	return func(c *a2a.AgentCard) {
		c.Skills = append(c.Skills, a2a.AgentSkill{ID: id, Name: id, Description: id, Tags: []string{id}})
	}
}

func announcing(uri string, required bool) func(*a2a.AgentCard) {
	return func(c *a2a.AgentCard) {
		c.Capabilities.Extensions = append(c.Capabilities.Extensions, a2a.AgentExtension{URI: uri, Required: required})
	}
}
