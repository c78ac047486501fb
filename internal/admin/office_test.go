package admin_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"go.uber.org/goleak"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Markers of what must not be seen.
const (
	secretMarker  = "kept-in-the-vault-7f3a"
	contentMarker = "said-in-confidence-9c1e"
)

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// journal is a log that several write to.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// office is an installation with everything that is administered, and a server
// of its admin API on the loopback.
type office struct {
	*testing.T
	store    *sqlite.Store
	registry *registry.Registry
	vault    *vault.Vault
	people   *people.Directory
	agents   *agents
	clock    *clock
	log      *journal
	keys     string // the path of the master keys
	url      string
	client   *http.Client
	tokens   map[string]string // by name: that of the role is the same

	mu      sync.Mutex
	schemas map[string]*jsonschema.Resolved
}

// newOffice opens one. Change may change what is administered.
func newOffice(t *testing.T, change func(*admin.Config)) *office {
	t.Helper()
	o := &office{
		T: t, clock: &clock{at: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)}, log: new(journal),
		agents: &agents{}, tokens: map[string]string{}, schemas: map[string]*jsonschema.Resolved{},
	}
	var err error
	check := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	o.store, err = sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off, Now: o.clock.now})
	check()
	t.Cleanup(func() {
		if err := o.store.Close(); err != nil {
			t.Error(err)
		}
	})
	o.registry, err = registry.Open(t.Context(), o.store, registry.Config{Now: o.clock.now})
	check()
	o.keys = filepath.Join(t.TempDir(), "master-key")
	keys, _, err := vault.OpenKeys(t.Context(), o.store, o.keys)
	check()
	o.vault = vault.New(o.store, vault.NewSealer(keys), vault.Config{Now: o.clock.now})
	o.people, err = people.Open(t.Context(), o.store, people.Config{Now: o.clock.now})
	check()
	for _, role := range []people.Role{people.Admin, people.Approver, people.Operator, people.Viewer} {
		_, token, err := o.people.Put(t.Context(), "legation", string(role), role, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		o.tokens[string(role)] = token
	}
	cfg := admin.Config{
		Registry: o.registry, Vault: o.vault, People: o.people, Tasks: o.store, Audit: o.store, Agents: o.agents, Clients: o.agents,
		Cancel: func(ctx context.Context, owner task.Owner, id a2a.TaskID, effects work.Effects) (task.Record, error) {
			return o.store.Cancel(ctx, owner, id, o.clock.now(), effects)
		},
		Version: "1.2.3", StartedAt: o.clock.now(), Now: o.clock.now,
		Logger: slog.New(slog.NewTextHandler(o.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&cfg)
	}
	handler, err := admin.New(cfg)
	check()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.url, o.client = server.URL, server.Client()
	o.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() {
		for _, marker := range []string{secretMarker, contentMarker, base64.StdEncoding.EncodeToString([]byte(secretMarker))} {
			if strings.Contains(o.log.String(), marker) {
				t.Errorf("%s is in the log", marker)
			}
		}
		for name, token := range o.tokens {
			if strings.Contains(o.log.String(), token) {
				t.Errorf("the token of %s is in the log", name)
			}
		}
	})
	return o
}

// ask is a request. Its zero value is a GET by the admin.
type ask struct {
	who    string // whose token; "nobody" sends none
	token  string // in place of one that is known
	media  string
	host   string
	header http.Header
	shows  string // a marker that the answer may have
}

// answer is what was answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) refusal(t *testing.T) admin.Failure {
	t.Helper()
	var refusal admin.Refusal
	if err := json.Unmarshal(a.body, &refusal, json.RejectUnknownMembers(true)); err != nil || refusal.Error.Message == "" {
		t.Fatalf("%d %s is no refusal: %v", a.status, a.body, err)
	}
	return refusal.Error
}

// send asks, and checks what is true of every answer.
func (o *office) send(method, path, body string, as ask) answer {
	o.Helper()
	var text io.Reader
	if body != "" {
		text = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(o.Context(), method, o.url+path, text)
	if err != nil {
		o.Fatal(err)
	}
	if as.header != nil {
		r.Header = as.header.Clone()
	}
	token := cmp.Or(as.token, o.tokens[cmp.Or(as.who, "admin")])
	if token != "" && r.Header["Authorization"] == nil {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", cmp.Or(as.media, admin.TypeJSON))
	}
	r.Host = as.host
	response, err := o.client.Do(r)
	if err != nil {
		o.Fatal(err)
	}
	defer response.Body.Close()
	got := answer{status: response.StatusCode, header: response.Header}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		o.Fatal(err)
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": ""} {
		if got := response.Header.Get(name); got != want {
			o.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
		}
	}
	for _, marker := range []string{secretMarker, contentMarker} {
		if marker != as.shows && bytes.Contains(got.body, []byte(marker)) {
			o.Errorf("%s %s shows %s", method, path, marker)
		}
	}
	if response.StatusCode >= 400 {
		got.refusal(o.T)
	}
	o.described(method, strings.SplitN(path, "?", 2)[0], got)
	return got
}

// do asks for what must succeed, and reads the answer.
func (o *office) do(method, path, body string, into any, as ask) answer {
	o.Helper()
	got := o.send(method, path, body, as)
	if got.status >= 300 {
		o.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
	if into != nil {
		if err := json.Unmarshal(got.body, into, json.RejectUnknownMembers(true)); err != nil {
			o.Fatalf("%s %s: %v in %s", method, path, err, got.body)
		}
	}
	return got
}

// get asks for what must be there.
func get[T any](o *office, path string) (form T) {
	o.Helper()
	o.do("GET", path, "", &form, ask{})
	return form
}

// refuses makes sure that something is refused with a status and code.
func (o *office) refuses(method, path, body string, as ask, status int, code admin.Code) admin.Failure {
	o.Helper()
	got := o.send(method, path, body, as)
	refusal := got.refusal(o.T)
	if got.status != status || refusal.Code != code {
		o.Errorf("%s %s: %d %s, want %d %s", method, path, got.status, got.body, status, code)
	}
	return refusal
}

// described makes sure that an answer is what the description says.
func number(n int64) string { return strconv.FormatInt(n, 10) }

func (o *office) described(method, path string, got answer) {
	o.Helper()
	one, found := description.find(method, path)
	if !found {
		return // refused, which tests of paths look at
	}
	response, found := one.Responses[fmt.Sprint(got.status)]
	media, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	switch {
	case !found && got.status < 400:
		o.Errorf("%s %s: %d is not described", method, path, got.status)
	case !found:
		o.validate("Refusal", got.body)
	case len(response.Content) == 0:
		if len(got.body) > 0 {
			o.Errorf("%s %s: a body that is not described: %s", method, path, got.body)
		}
	default:
		content, found := response.Content[media]
		if !found {
			o.Errorf("%s %s: the media type %q is not described", method, path, media)
		} else if name := strings.TrimPrefix(content.Schema.Ref, defs); name != "" {
			o.validate(name, got.body)
		}
	}
}

func (o *office) validate(name string, text []byte) {
	o.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	schema, ok := o.schemas[name]
	if !ok {
		var err error
		if schema, err = description.schema(name).Resolve(nil); err != nil {
			o.Errorf("schema %s: %v", name, err)
			return
		}
		o.schemas[name] = schema
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		o.Errorf("%s is not JSON: %v", text, err)
	} else if err := schema.Validate(value); err != nil {
		o.Errorf("%s is not what %s should be: %v", text, name, err)
	}
}

// agents is one remote agent, and one remote client, whatever is registered.
type agents struct {
	mu       sync.Mutex
	accepted []string
	entered  chan struct{} // if set, a check says that it has begun
	leave    chan struct{} // and waits until it may end
	err      error
}

var theAgent = admin.Agent{
	Name: "partner", State: "quarantined", Reasons: []string{"the structure of its card has changed: accept it"}, CardURL: "https://partner.example/card",
	KeyID: "k1", Algorithm: "ES256", Version: "1.0.0", Digest: "aa", FetchedAt: time.Unix(1, 0).UTC(), VerifiedAt: time.Unix(2, 0).UTC(),
	ExpiresAt: time.Unix(3, 0).UTC(), Drift: &admin.Drift{Digest: "bb", Structure: []string{"a skill is gone"}}, LastError: "none",
}

func (a *agents) Agents(context.Context) ([]admin.Agent, error) {
	return []admin.Agent{theAgent, {Name: "other", State: "unknown"}}, a.err
}

func (a *agents) Agent(_ context.Context, name string) (admin.Agent, error) {
	if name != theAgent.Name {
		return admin.Agent{}, registry.ErrNotFound
	}
	return theAgent, a.err
}

func (a *agents) Check(ctx context.Context, name, who string) (admin.Report, error) {
	if a.entered != nil {
		a.entered <- struct{}{}
		select {
		case <-a.leave:
		case <-ctx.Done():
			return admin.Report{}, ctx.Err()
		}
	}
	if name != theAgent.Name {
		return admin.Report{}, registry.ErrNotFound
	}
	return admin.Report{Name: name, Findings: []admin.Finding{{Step: "asked by " + who, Outcome: admin.OutcomeProblem, Words: "no", Next: "mend it"}}, First: "no"}, a.err
}

func (a *agents) Accept(_ context.Context, name, digest, author string) (admin.Agent, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case name != theAgent.Name:
		return admin.Agent{}, registry.ErrNotFound
	case digest != theAgent.Drift.Digest:
		return admin.Agent{}, &admin.Failure{Status: http.StatusConflict, Code: admin.CodeConflict, Message: "the card has changed again"}
	}
	a.accepted = append(a.accepted, author+" "+digest)
	return theAgent, nil
}

func (a *agents) CheckClient(_ context.Context, name string) (admin.Report, error) {
	return admin.Report{Name: name, OK: true}, a.err
}

// noPrograms is a host that declares none.
var noPrograms registry.Host

func decode(t *testing.T, text string) []registry.Document {
	t.Helper()
	docs, err := registry.Decode("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}
