package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

// What callers could not use is refused at the start, in words; so is an
// extension without an identifier (PVP-27).
func TestNewRefuses(t *testing.T) {
	w := newWorld(t, options{})
	good := form("A", "a")
	with := func(change func(*server.Agent)) []server.Agent {
		agent := server.Agent{Name: "a", Card: form("A", "a", "b")}
		change(&agent)
		return []server.Agent{agent}
	}
	tests := []struct {
		name   string
		url    string
		agents []server.Agent
		want   string
	}{
		{"no URL", "", nil, "required"},
		{"relative URL", "/a", nil, "absolute"},
		{"other scheme", "ftp://a.example", nil, "absolute"},
		{"no host", "https:///a", nil, "absolute"},
		{"port without host", "https://:1", nil, "absolute"},
		// REQ-CARD-12, REQ-CARD-25, REQ-SEC-01
		{"plain http", "http://a.example", nil, "plain http is for this machine only; use https"},
		{"plain http to an address", "http://10.0.0.1:8080", nil, "plain http is for this machine only; use https"},
		{"plain http to a name that begins so", "http://localhost.example", nil, "plain http is for this machine only; use https"},
		{"query", "https://a.example/?x=1", nil, "no user, query"},
		{"user", "https://u@a.example/", nil, "no user, query"},
		{"not a URL", "https://a.example/%zz", nil, "parsed"},
		{"name", "", []server.Agent{{Name: "a/b", Card: good}}, "letters, digits"},
		{"name with dots first", "", []server.Agent{{Name: "..", Card: good}}, "letters, digits"},
		{"name too long", "", []server.Agent{{Name: strings.Repeat("a", 65), Card: good}}, "at most 64"},
		{"name twice", "", []server.Agent{{Name: "a", Card: good}, {Name: "a", Card: good}}, "is taken"},
		{"default twice", "", []server.Agent{{Card: good}, {Card: good}}, "the default agent"},
		// REQ-CARD-20
		{"no card name", "", with(func(a *server.Agent) { a.Card.Name = "" }), "name: must not be empty"},
		{"no description", "", with(func(a *server.Agent) { a.Card.Description = "" }), "description: must not be empty"},
		{"no version", "", with(func(a *server.Agent) { a.Card.Version = "" }), "version: must not be empty"},
		{"no input modes", "", with(func(a *server.Agent) { a.Card.DefaultInputModes = nil }), "defaultInputModes"},
		{"no output modes", "", with(func(a *server.Agent) { a.Card.DefaultOutputModes = nil }), "defaultOutputModes"},
		{"no skills", "", with(func(a *server.Agent) { a.Card.Skills = nil }), "skills"},
		{"skill without a name", "", with(func(a *server.Agent) { a.Card.Skills[1].Name = "" }), "skills[1].name"},
		{"skill twice", "", with(func(a *server.Agent) { a.Card.Skills[1].ID = "a" }), `two skills have the id "a"`},
		{"default skill", "", with(func(a *server.Agent) { a.DefaultSkill = "c" }), `default skill "c"`},
		{"provider without URL", "", with(func(a *server.Agent) { a.Card.Provider = &a2a.AgentProvider{Organization: "O"} }), "provider.url"},
		{"signed already", "", with(func(a *server.Agent) { a.Card.Signatures = []a2a.AgentCardSignature{{}} }), "signatures"},
		{"extension without URI", "", with(func(a *server.Agent) {
			a.Card.Capabilities.Extensions = []a2a.AgentExtension{{Required: true}}
		}), "an extension has no uri"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url := test.url
			if test.agents != nil {
				url = "https://a.example"
			}
			_, err := server.New(w.engine, test.agents, server.Config{PublicURL: url})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New() error = %v, want one with %q", err, test.want)
			}
		})
	}
	for _, url := range []string{"http://localhost", "http://127.0.0.1:8700/a", "http://[::1]:1", "HTTP://LOCALHOST:1"} {
		if _, err := server.New(w.engine, nil, server.Config{PublicURL: url}); err != nil {
			t.Errorf("New() with %s: %v", url, err)
		}
	}
	if _, err := server.New(nil, nil, server.Config{PublicURL: "https://a.example"}); err == nil {
		t.Error("New() without an engine succeeded")
	}
	_, err := server.New(w.engine, []server.Agent{{Card: good}}, server.Config{
		PublicURL: "https://a.example",
		CardSince: func(context.Context, string, string, time.Time) (time.Time, error) {
			return time.Time{}, errors.New("gone")
		},
	})
	if err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("New() error = %v, want the one of CardSince", err)
	}
}

// A server without remote clients is for this machine, and a name that was made
// to point at it does not open it to web pages.
func TestLocal(t *testing.T) {
	w := newWorld(t, options{config: func(cfg *server.Config) { cfg.Callers = nil }})
	tests := []struct {
		remote, host string
		served       bool
	}{
		{"127.0.0.1:5000", "localhost:8080", true},
		{"127.0.0.1:5000", "LOCALHOST", true},
		{"127.9.9.9:5000", "127.0.0.1:8080", true},
		{"[::1]:5000", "[::1]:8080", true},
		{"[::1]:5000", "[::1]", true},
		{"[::ffff:127.0.0.1]:5000", "127.1.2.3", true},
		{"127.0.0.1:5000", "evil.example:8080", false},
		{"127.0.0.1:5000", "localhost.evil.example", false},
		{"127.0.0.1:5000", "10.0.0.1", false},
		{"127.0.0.1:5000", "0.0.0.0", false},
		{"127.0.0.1:5000", "", false},
		{"10.0.0.1:5000", "localhost", false},
		{"[2001:db8::1]:5000", "[::1]", false},
		{"@", "localhost", false},
		{"", "localhost", false},
	}
	for _, test := range tests {
		for _, get := range []bool{false, true} {
			r := request("POST", "/", rpc("ListTasks", "{}"))
			if get {
				r = httptest.NewRequest("GET", "/.well-known/agent-card.json", nil)
			}
			r.RemoteAddr, r.Host = test.remote, test.host
			rec := w.do(r)
			if served := rec.Code == http.StatusOK; served != test.served {
				t.Errorf("%s from %q to %q: status %d, want served %v", r.Method, test.remote, test.host, rec.Code, test.served)
			}
			if test.served {
				r.Header.Set("X-Forwarded-For", "10.0.0.1")
				if rec := w.do(r); rec.Code != http.StatusForbidden {
					t.Errorf("%s passed on by a proxy: status %d", r.Method, rec.Code)
				}
			}
			if !test.served && (rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), "no registered remote client")) {
				t.Errorf("%s from %q to %q is refused with %d %s", r.Method, test.remote, test.host, rec.Code, rec.Body)
			}
		}
	}
}

// REQ-CARD-13: cards may be kept from strangers, and then from shared caches too.
func TestCardReaders(t *testing.T) {
	for _, test := range []struct {
		err        error
		status     int
		name, head string
	}{
		{nil, 200, "Cache-Control", "private, max-age=300"},
		{&server.Refusal{Status: 401, Reason: "r", Challenge: "Bearer"}, 401, "Www-Authenticate", "Bearer"},
		{&server.Refusal{Status: 429, Reason: "r", RetryAfter: time.Second}, 429, "Retry-After", "1"},
		{errors.New("away"), 503, "Www-Authenticate", ""},
	} {
		w := newWorld(t, options{config: func(cfg *server.Config) { cfg.Callers = guarded{err: test.err} }})
		rec := w.do(httptest.NewRequest("GET", "/.well-known/agent-card.json", nil))
		if rec.Code != test.status || rec.Header().Get(test.name) != test.head || strings.Contains(rec.Body.String(), "away") {
			t.Errorf("with %v: %d %v %s", test.err, rec.Code, rec.Header(), rec.Body)
		}
	}
}

type guarded struct {
	byHeader
	err error
}

func (g guarded) ReadCard(*http.Request) (bool, error) { return false, g.err }

// A path in the public URL is in cards, and is served whether or not a proxy
// takes it off. (REQ-CARD-23)
func TestPublicURLWithPath(t *testing.T) {
	w := newWorld(t, options{config: func(cfg *server.Config) { cfg.PublicURL = "https://a.example:8080/x/a2a//" }})
	for _, prefix := range []string{"", "/x/a2a"} {
		for path, want := range map[string]string{
			"/.well-known/agent-card.json":            `"url":"https://a.example:8080/x/a2a/",`,
			"/agents/ask/.well-known/agent-card.json": `"url":"https://a.example:8080/x/a2a/agents/ask",`,
		} {
			rec := w.do(httptest.NewRequest("GET", prefix+path, nil))
			if !strings.Contains(rec.Body.String(), want) {
				t.Errorf("%s: %d %s, want %s", prefix+path, rec.Code, rec.Body, want)
			}
		}
		for _, path := range []string{"/", "/agents/ask", "/agents/ask/"} {
			if rec := w.post(prefix+path, rpc("ListTasks", "{}")); rec.Code != 200 {
				t.Errorf("%s: %d %s", prefix+path, rec.Code, rec.Body)
			}
		}
	}
	if rec := w.post("/x", rpc("ListTasks", "{}")); rec.Code != 404 {
		t.Errorf("/x: %d", rec.Code)
	}
}

// With nothing published there is no card, and that is said in words.
func TestNothingPublished(t *testing.T) {
	w := newWorld(t, options{agents: []server.Agent{}})
	rec := w.do(httptest.NewRequest("GET", "/.well-known/agent-card.json", nil))
	if rec.Code != 404 || !strings.Contains(rec.Body.String(), "no agent is published here") {
		t.Errorf("card: %d %s", rec.Code, rec.Body)
	}
	if rec := w.post("/", rpc("ListTasks", "{}")); rec.Code != 404 || codeOf(t, rec.Body.Bytes()) != a2a.CodeInvalidRequest {
		t.Errorf("endpoint: %d %s", rec.Code, rec.Body)
	}
}

// The retry promise can be made for another time, or left out.
func TestRetryWindow(t *testing.T) {
	for window, want := range map[time.Duration]string{
		90 * time.Minute: `"params":{"window":"1h30m"}`,
		24 * time.Hour:   `"params":{"window":"24h"}`,
		90 * time.Second: `"params":{"window":"1m30s"}`,
		-1:               ``,
	} {
		w := newWorld(t, options{config: func(cfg *server.Config) { cfg.RetryWindow = window }})
		body := w.do(httptest.NewRequest("GET", "/.well-known/agent-card.json", nil)).Body.String()
		if !strings.Contains(body, want) || strings.Contains(body, server.RetryExtension) != (want != "") {
			t.Errorf("window %v: %s", window, body)
		}
	}
}

// A card that carries one of our extensions already keeps it as it is; what the
// server does not have is not offered (REQ-OPS-06).
func TestOwnFormOfAnExtension(t *testing.T) {
	card := form("A", "echo")
	card.Capabilities.Extensions = []a2a.AgentExtension{{URI: server.SkillExtension, Required: true}}
	card.Capabilities.PushNotifications = new(true)
	w := newWorld(t, options{agents: []server.Agent{{Card: card}}})
	body := w.do(httptest.NewRequest("GET", "/.well-known/agent-card.json", nil)).Body.String()
	if strings.Count(body, server.SkillExtension) != 1 {
		t.Errorf("card: %s", body)
	}
	if strings.Contains(body, "pushNotifications") {
		t.Error("the card offers pushNotifications, which are not there")
	}
	if rec := w.post("/", rpc("ListTasks", "{}")); codeOf(t, rec.Body.Bytes()) != a2a.CodeExtensionSupportRequired {
		t.Errorf("without the extension: %s", rec.Body)
	}
}

// The tag is a hash of the canonical card: it stays over restarts, changes with
// the content, and saves the transfer in every form of the condition.
// REQ-CARD-05, REQ-CARD-06, REQ-CARD-07
func TestCardTag(t *testing.T) {
	get := func(w *world, condition string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/.well-known/agent-card.json", nil)
		if condition != "" {
			r.Header.Set("If-None-Match", condition)
		}
		return w.do(r)
	}
	since := func(_ context.Context, agent, digest string, now time.Time) (time.Time, error) {
		if agent != "" || len(digest) != 64 || !now.Equal(epoch) {
			t.Errorf("CardSince(%q, %q, %v)", agent, digest, now)
		}
		return now.Add(-48*time.Hour + 700*time.Millisecond), nil
	}
	alone := []server.Agent{{Card: form("A", "a")}}
	first := newWorld(t, options{agents: alone, config: func(cfg *server.Config) { cfg.CardSince = since }})
	again := newWorld(t, options{agents: alone})
	other := newWorld(t, options{agents: []server.Agent{{Card: form("B", "a")}}})

	tag := get(first, "").Header().Get("ETag")
	if tag == "" || tag != get(again, "").Header().Get("ETag") || tag == get(other, "").Header().Get("ETag") {
		t.Errorf("tag %s does not follow the content", tag)
	}
	if got := get(first, "").Header().Get("Last-Modified"); got != "Tue, 30 Dec 2025 10:00:00 GMT" {
		t.Errorf("Last-Modified = %s", got)
	}
	for condition, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"a", ` + tag + `, "b"`: 304, "*": 304, `"a"`: 200, strings.Trim(tag, `"`): 200,
	} {
		rec := get(first, condition)
		if rec.Code != want || want == 304 && rec.Body.Len() > 0 {
			t.Errorf("If-None-Match %s: %d with %d bytes, want %d", condition, rec.Code, rec.Body.Len(), want)
		}
	}
}
