package app_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/store/sqlite"
)

// house is a running app, asked as callers and administrators ask it.
type house struct {
	*testing.T
	app   *app.App
	cfg   config.Config
	gate  *gate
	stop  func()
	token string         // of the administrator
	roots *x509.CertPool // of the server's certificate
}

// furniture is registered in every house: an agent at the root that says back
// what it is told, to everybody and to few. The agent of the name gate is written
// in Go; it is registered too, so that clients may be allowed to use it.
const furniture = `
{kind: Provider, name: echo, spec: {type: echo, zone: restricted}}
---
{kind: Configuration, name: echo, spec: {provider: echo}}
---
kind: Agent
name: desk
spec:
  root: true
  card: {description: Says back what it is told.}
  defaultSkill: open
  skills:
  - {id: open, configuration: echo, description: For everybody., public: true}
  - {id: vault-door, configuration: echo, description: For few.}
  - {id: back-office, configuration: echo, description: For others.}
---
kind: Agent
name: gate
spec:
  card: {description: Stands for the one that is written in Go.}
  skills:
  - {id: gate, configuration: echo, description: Waits., public: true}
`

// move brings up a house on settings, with what is registered there already.
func move(t *testing.T, cfg config.Config, opts app.Options) *house {
	t.Helper()
	h := &house{T: t, cfg: cfg, gate: newGate()}
	opts.Extra = append(opts.Extra, app.Published{
		Agent: "gate", Answer: h.gate,
		Skill: a2a.AgentSkill{ID: "gate", Name: "gate", Description: "Waits until it is let go.", Tags: []string{"test"}},
	})
	h.app, h.stop = serve(t, cfg, opts)
	token, err := os.ReadFile(filepath.Join(cfg.Data, "admin-token"))
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(string(token))
	return h
}

// build brings up a new house with documents, over plain HTTP.
func build(t *testing.T, documents ...string) *house {
	t.Helper()
	cfg := settings(t)
	cfg.Drain = 0
	h := move(t, cfg, app.Options{})
	h.apply(append([]string{furniture}, documents...)...)
	return h
}

// crash is what a house would find after it was ended without order: its data
// directory as it is at this moment, in which nothing is being written.
func (h *house) crash() config.Config {
	h.Helper()
	cfg := h.cfg
	cfg.Data = h.TempDir()
	if err := os.CopyFS(cfg.Data, os.DirFS(h.cfg.Data)); err != nil {
		h.Fatal(err)
	}
	// The copy is readable by others, which a master key must not be.
	if err := os.Chmod(filepath.Join(cfg.Data, "master.key"), 0o600); err != nil {
		h.Fatal(err)
	}
	return cfg
}

// remoteClient is the document of one that may use skills.
func remoteClient(name, credentials, skills, more string) string {
	if skills != "" {
		skills = "  skills: [" + skills + "]\n"
	}
	return fmt.Sprintf("kind: RemoteClient\nname: %s\nspec:\n  enabled: true\n  credentials: {%s}\n%s%s", name, credentials, skills, more)
}

// manage asks the admin API and returns the answer.
func (h *house) manage(method, path, media, body string) (int, []byte) {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), method, h.app.Admin()+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	return resp.StatusCode, text
}

// managed is a form of the admin API that must be answered well.
func managed[T any](h *house, method, path, media, body string) (form T) {
	h.Helper()
	status, text := h.manage(method, path, media, body)
	if status >= 300 {
		h.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &form); err != nil {
			h.Fatal(err)
		}
	}
	return form
}

func (h *house) apply(documents ...string) admin.Applied {
	h.Helper()
	return managed[admin.Applied](h, "POST", "/admin/apply", admin.TypeYAML, strings.Join(documents, "\n---\n"))
}

func (h *house) key(client string) admin.IssuedKey {
	h.Helper()
	return managed[admin.IssuedKey](h, "POST", "/admin/clients/"+client+"/keys", "", "")
}

func (h *house) revoke(client, id string) {
	h.Helper()
	managed[admin.ClientKey](h, "DELETE", "/admin/clients/"+client+"/keys/"+id, "", "")
}

func (h *house) resource(kind, name string) admin.Resource {
	h.Helper()
	return managed[admin.Resource](h, "GET", "/admin/resources/"+kind+"/"+name, "", "")
}

// evidence waits until the audit has so many refusals to let somebody in, or of
// another operation, and returns them, the oldest first.
func (h *house) evidence(operation, outcome string, n int) []admin.AuditEntry {
	h.Helper()
	query := url.Values{"operation": {operation}, "outcome": {outcome}, "limit": {"1000"}}
	var entries []admin.AuditEntry
	await(h.T, func() bool {
		entries = managed[admin.Audit](h, "GET", "/admin/audit?"+query.Encode(), "", "").Entries
		return len(entries) >= n
	})
	for i, j := 0, len(entries)-1; i < j; i, j = i+1, j-1 {
		entries[i], entries[j] = entries[j], entries[i]
	}
	return entries
}

// refusals ends the house in order, so that what is summed up is written down,
// and returns how often who was refused an operation, and why. The audit has no
// more than two entries of each.
func (h *house) refusals(operation string) map[string]int64 {
	h.Helper()
	h.stop()
	store, err := sqlite.Open(h.Context(), h.cfg.Data, sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		h.Fatal(err)
	}
	defer store.Close()
	found, err := store.Audit(h.Context(), audit.Query{Operation: operation, Outcome: audit.Refused, Limit: audit.MaxPage})
	if err != nil {
		h.Fatal(err)
	}
	times, entries := map[string]int64{}, map[string]int{}
	for _, e := range found.Entries {
		of := strings.TrimSpace(e.Who + " " + e.Reason)
		times[of] += max(e.Count, 1)
		if entries[of]++; entries[of] > 2 {
			h.Errorf("the audit has %d entries of %q", entries[of], of)
		}
	}
	return times
}

// proof is what a caller proves itself with.
type proof struct {
	header      http.Header
	certificate *tls.Certificate
}

func headed(name, value string) proof { return proof{header: http.Header{name: {value}}} }
func bearer(text string) proof        { return headed("Authorization", "Bearer "+text) }

// reply is an answer of the server.
type reply struct {
	status int
	header http.Header
	body   string
	envelope
}

// envelope is that of JSON-RPC.
type envelope struct {
	ID     jsontext.Value `json:"id"`
	Result jsontext.Value `json:"result"`
	Error  struct {
		Code    a2a.Code `json:"code"`
		Message string   `json:"message"`
	} `json:"error"`
}

// task is the task of the result.
func (r *reply) task() a2a.Task {
	var sent struct {
		Task jsontext.Value `json:"task"`
	}
	raw := r.Result
	if json.Unmarshal(raw, &sent) == nil && len(sent.Task) > 0 {
		raw = sent.Task
	}
	task, _, _ := a2a.Decode[a2a.Task](raw) // an empty task shows in what is compared with it
	return task
}

// url is where the server is, whatever its cards say.
func (h *house) url() string {
	if h.roots != nil {
		return "https://" + h.app.Addr()
	}
	return "http://" + h.app.Addr()
}

func (h *house) web(p proof) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.roots}, MaxIdleConnsPerHost: 64}
	if p.certificate != nil {
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return p.certificate, nil }
	}
	h.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (h *house) request(ctx context.Context, p proof, path, method, params string) *http.Request {
	h.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
	req, err := http.NewRequestWithContext(ctx, "POST", h.url()+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for name, values := range p.header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	return req
}

// call calls an operation of the agent at a path.
func (h *house) call(p proof, path, method, params string) *reply {
	h.Helper()
	got, err := exchange(h.web(p), h.request(h.Context(), p, path, method, params))
	if err != nil {
		h.Fatal(err)
	}
	return got
}

func exchange(web *http.Client, req *http.Request) (*reply, error) {
	resp, err := web.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	got := &reply{status: resp.StatusCode, header: resp.Header, body: string(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(bytes.TrimSpace(body), &got.envelope)
	}
	return got, err
}

// card reads the public card of the agent at a path, with further headers.
func (h *house) card(path string, headers ...string) *reply {
	h.Helper()
	req, err := http.NewRequestWithContext(h.Context(), "GET", h.url()+path+a2a.WellKnownCardPath, nil)
	if err != nil {
		h.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	got, err := exchange(h.web(proof{}), req)
	if err != nil {
		h.Fatal(err)
	}
	return got
}

// said is the parameters of a message with a text, and perhaps metadata.
func said(text string, metadata ...string) string {
	return fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}],"metadata":{%s}}}`,
		a2a.NewID(), text, strings.Join(metadata, ","))
}

// asking names the skill that shall answer a message.
func asking(skill string) string { return fmt.Sprintf(`"urn:legation:skill:v1":{"skillId":%q}`, skill) }

// atOnce is the parameters without a wait for the task to end.
func atOnce(params string) string {
	return strings.TrimSuffix(params, "}") + `,"configuration":{"returnImmediately":true}}`
}

// stream is an answer in events.
type stream struct {
	h     *house
	body  io.ReadCloser
	lines *bufio.Scanner
	end   context.CancelFunc
}

// stream opens a stream of the agent at a path.
func (h *house) stream(p proof, path, method, params string) *stream {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 30*time.Second)
	h.Cleanup(cancel)
	resp, err := h.web(p).Do(h.request(ctx, p, path, method, params))
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		text, err := io.ReadAll(resp.Body)
		h.Fatalf("%s is answered with %d %s, %v", method, resp.StatusCode, text, err)
	}
	return &stream{h: h, body: resp.Body, lines: bufio.NewScanner(resp.Body), end: cancel}
}

// next is the next event, or nothing at the end of the stream.
func (s *stream) next() (event envelope, ok bool) {
	s.h.Helper()
	for s.lines.Scan() {
		data, ok := strings.CutPrefix(s.lines.Text(), "data:")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			s.h.Fatal(err)
		}
		return event, true
	}
	if err := s.lines.Err(); err != nil {
		s.h.Fatalf("the stream broke off: %v", err)
	}
	return event, false
}

// last is the last event of the stream.
func (s *stream) last() (last envelope) {
	s.h.Helper()
	for event, ok := s.next(); ok; event, ok = s.next() {
		last = event
	}
	return last
}

// gate is an agent written in Go, of which a turn waits until it is let go, can
// be entered again, and keeps to a budget. Told "fail" it fails, told "tokens"
// it has used 100 of them.
type gate struct {
	mu      sync.Mutex
	open    map[string]chan struct{}
	entered chan string
}

func newGate() *gate {
	return &gate{open: map[string]chan struct{}{}, entered: make(chan string, 1024)}
}

func (g *gate) door(text string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[text] == nil {
		g.open[text] = make(chan struct{})
	}
	return g.open[text]
}

// release lets the turn go that was told a text.
func (g *gate) release(text string) { close(g.door(text)) }

// wait waits until a turn has begun.
func (g *gate) wait(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	select {
	case text := <-g.entered:
		return text
	case <-ctx.Done():
		t.Fatal("no turn begins")
		return ""
	}
}

func (g *gate) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	text := turn.Message.Text()
	g.entered <- text
	switch text {
	case "fail":
		return agent.Failed("told so"), nil
	case "tokens":
		outcome := agent.Completed()
		outcome.Tokens = 100
		return outcome, nil
	}
	select {
	case <-g.door(text):
		return agent.Completed(), nil
	case <-ctx.Done():
		return agent.Outcome{}, ctx.Err()
	}
}

func (g *gate) Repeatable() bool { return true }
func (g *gate) Budgeted() bool   { return true }

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
