package remotes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/trust"
)

func withTLS(s *httptest.Server) { s.StartTLS() }

// TestCheck meets what can lie between us and a remote agent, as an administrator
// sees it (F36; REQ-CARD-12, REQ-SIGN-14).
func TestCheck(t *testing.T) {
	at := func(url string) func(*registry.RemoteAgent) {
		return func(s *registry.RemoteAgent) { s.URL = registry.URL(url) }
	}
	page := func(status int, kind, body string) func(*partner) {
		return func(p *partner) {
			p.page = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(status)
				_, _ = fmt.Fprint(w, body)
			}
		}
	}
	says := func(code int, message string) func(*partner) {
		return func(p *partner) {
			p.call = func(w http.ResponseWriter, r *http.Request) {
				answer(w, r, fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message))
			}
		}
	}
	changed := func(f func(*a2a.AgentCard)) func(*partner) { return func(p *partner) { p.card = f } }
	asking := func(scheme a2a.SecurityScheme) func(*partner) {
		return changed(func(c *a2a.AgentCard) {
			c.SecuritySchemes = map[string]a2a.SecurityScheme{"s": scheme}
			c.SecurityRequirements = []a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"s": {}}}}
		})
	}
	closed := closedPort(t)
	oauth := func(url string) func(*registry.RemoteAgent) {
		return func(s *registry.RemoteAgent) {
			s.Credential = registry.Credential{OAuth2: &registry.OAuth2{TokenURL: registry.URL(url), ClientID: "us", Secret: "token"}}
		}
	}
	for name, tt := range map[string]struct {
		start   func(*httptest.Server)
		partner func(*partner)
		spec    func(*registry.RemoteAgent)
		config  func(*remotes.Config)
		secret  string // none: the right one

		warns remotes.Step // with what is to be done
		next  string
		fails remotes.Step // none: it is fine
		words string       // of what is to be mended first
	}{
		"nothing":               {},
		"nothing, with a token": {spec: bearer, partner: func(p *partner) { p.wants = "Bearer " + secret }},
		"nothing, with an extended card": {
			partner: func(p *partner) {
				p.card = func(c *a2a.AgentCard) { c.Capabilities.ExtendedAgentCard = new(true) }
				p.call = func(w http.ResponseWriter, r *http.Request) {
					answer(w, r, `"result":`+string((&a2a.AgentCard{Name: "Partner"}).AppendJSON(nil)))
				}
			},
		},
		"nothing, unsigned": {spec: func(s *registry.RemoteAgent) { s.Pin.Keys, s.Pin.AllowUnsigned = nil, true }},
		"nothing, with a card that needs the token": {
			spec: bearer, partner: func(p *partner) { p.wants, p.hides = "Bearer "+secret, true },
		},
		"other worries than who we are": {partner: says(-32601, "no such method")},

		"disabled":       {spec: func(s *registry.RemoteAgent) { s.Enabled = false }, fails: remotes.StepRegistration, words: "not enabled; set spec.enabled"},
		"not classified": {spec: func(s *registry.RemoteAgent) { s.Send = "" }, fails: remotes.StepRegistration, words: "nothing may be sent; set spec.send"},

		"a private address":       {spec: at("https://10.1.2.3"), fails: remotes.StepAddress, words: "spec.exceptions"},
		"a name that leads to it": {spec: at("https://partner.example"), fails: remotes.StepAddress, words: "leads to 127.0.0.1, a loopback address"},
		"plain http":              {spec: at("http://partner.example"), fails: remotes.StepAddress, words: "http"},
		"a card URL of an agent":  {spec: func(s *registry.RemoteAgent) { s.CardURL = s.URL + "/card" }, fails: remotes.StepAddress, words: "does not end in .json"},

		"no such host":    {spec: at("https://nowhere.test"), fails: remotes.StepConnection, words: `host "nowhere.test" cannot be resolved; check its spelling`},
		"nobody listens":  {spec: at("https://" + closed), fails: remotes.StepConnection, words: "nothing listens there"},
		"no TLS":          {start: (*httptest.Server).Start, spec: func(s *registry.RemoteAgent) { s.URL = "https" + s.URL[4:] }, fails: remotes.StepConnection, words: "does not speak TLS on this port; check the port in spec.url; or it speaks plain http here: try http in spec.url"},
		"TLS after all":   {spec: func(s *registry.RemoteAgent) { s.URL = "http" + s.URL[5:] }, fails: remotes.StepCard, words: "it may speak TLS here: try https in spec.url"},
		"an unknown root": {config: func(c *remotes.Config) { c.Roots = nil }, fails: remotes.StepConnection, words: "authority this server does not know; if that authority is to vouch for this agent, put its certificate into spec.roots"},
		"the wrong name": {spec: func(s *registry.RemoteAgent) {
			s.URL = registry.URL(strings.Replace(string(s.URL), "127.0.0.1", "wrong.test", 1))
			s.Exceptions = []registry.Exception{"wrong.test"}
		}, fails: remotes.StepConnection, words: `certificate that is for another host: "example.com`},
		"no answer":        {config: silent, fails: remotes.StepConnection, words: "does not answer at all"},
		"a broken proxy":   {config: func(c *remotes.Config) { c.EgressProxy = mustURL("http://" + closed) }, spec: at("https://8.8.8.8"), fails: remotes.StepConnection, words: "egress proxy"},
		"a redirect":       {partner: redirects, fails: remotes.StepCard, words: `redirect to host "elsewhere.test"`},
		"no card":          {partner: page(404, "text/plain", "not here"), fails: remotes.StepCard, words: `404 Not Found, saying "not here"; check the path`},
		"a forbidden card": {partner: page(403, "text/plain", "go away"), fails: remotes.StepCard, words: `403 Forbidden, saying "go away"`},
		"a page":           {partner: page(200, "text/html", "<!doctype html>"), fails: remotes.StepCard, words: "a page for people"},
		"an overload":      {partner: page(503, "text/plain", ""), fails: remotes.StepCard, words: "try again later"},
		"a gateway":        {partner: page(502, "text/plain", ""), fails: remotes.StepCard, words: "a proxy answered"},
		"a fault":          {partner: page(500, "text/plain", ""), fails: remotes.StepCard, words: "HTTP 500"},
		"no JSON":          {partner: page(200, "application/json", "{"), fails: remotes.StepCard, words: "breaks the protocol"},
		"too much":         {partner: page(200, "application/json", strings.Repeat(" ", 2<<10)), spec: func(s *registry.RemoteAgent) { s.Caps.Card = 1 << 10 }, fails: remotes.StepCard, words: "longer than 1024 bytes"},

		"a stranger's key": {partner: func(p *partner) { p.key = other(p, "key-2") }, fails: remotes.StepSignature, words: `key "key-2", which is not pinned`},
		"another name":     {partner: changed(func(c *a2a.AgentCard) { c.Name = "Some\x1b[1mbody" }), fails: remotes.StepIdentity, words: `"Some\x1b[1mbody", and "Partner" is expected`},
		"an old version":   {spec: func(s *registry.RemoteAgent) { s.MinVersion = "2.0.0" }, fails: remotes.StepVersion, words: `version "1.2.0", and at least "2.0.0"`},
		"another origin": {
			partner: changed(func(c *a2a.AgentCard) { c.SupportedInterfaces[0].URL = "https://elsewhere.test/" }),
			fails:   remotes.StepInterface, words: "is at another origin",
		},
		"another binding": {
			partner: changed(func(c *a2a.AgentCard) { c.SupportedInterfaces[0].ProtocolBinding = "GRPC" }),
			fails:   remotes.StepInterface, words: "JSONRPC",
		},
		"an older protocol": {
			partner: changed(func(c *a2a.AgentCard) { c.SupportedInterfaces[0].ProtocolVersion = "0.3" }),
			fails:   remotes.StepInterface, words: "ask the agent's operator for an interface of version 1.0",
		},
		"an unknown extension": {
			partner: changed(func(c *a2a.AgentCard) {
				c.Capabilities.Extensions = []a2a.AgentExtension{{URI: "urn:x", Required: true}}
			}),
			fails: remotes.StepExtensions, words: `requires the extension "urn:x"`,
		},
		"a missing extension": {spec: func(s *registry.RemoteAgent) { s.Extensions.Required = []registry.URI{"urn:y"} }, fails: remotes.StepExtensions, words: `"urn:y"`},
		"another credential": {
			partner: asking(a2a.SecurityScheme{Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Key"}}), spec: bearer,
			fails: remotes.StepSecurity, words: "spec.credential",
		},
		"another credential for a skill": {
			partner: changed(func(c *a2a.AgentCard) {
				c.SecuritySchemes = map[string]a2a.SecurityScheme{"s": {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Key"}}}
				c.Skills[0].SecurityRequirements = []a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"s": {}}}}
			}), warns: remotes.StepSecurity, next: `if they are to be used: set spec.credential.apiKey, with the header "X-Key"`,
		},
		"no token endpoint":        {spec: oauth("https://" + closed + "/token"), fails: remotes.StepCredential, words: `the token endpoint: host "127.0.0.1" refuses connections: nothing listens there; see spec.credential.oauth2`},
		"no name of one":           {spec: oauth("https://nowhere.test/token"), fails: remotes.StepCredential, words: `the token endpoint: host "nowhere.test" cannot be resolved; see spec.credential.oauth2`},
		"a private token endpoint": {spec: oauth("https://10.1.2.3/token"), fails: remotes.StepCredential, words: `the token endpoint: host "10.1.2.3" leads to 10.1.2.3, a private address, which is refused; see spec.credential.oauth2; if it is meant, name the host in spec.exceptions`},
		"no value of the secret":   {spec: func(s *registry.RemoteAgent) { bearer(s); s.Credential.Bearer.Secret = "gone" }, fails: remotes.StepCredential, words: "mend spec.credential"},
		"a wrong token":            {spec: bearer, partner: func(p *partner) { p.wants = "Bearer another" }, fails: remotes.StepCall, words: "check that the secret of spec.credential"},
		"an agent that allows us no skill": {spec: bearer, partner: func(p *partner) {
			p.call = func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				answer(w, r, `"error":{"code":-32600,"message":"this client may use no skill of this agent"}`)
			}
		}, fails: remotes.StepCall, words: "may use no skill of this agent\"; ask the agent's operator to allow this client a skill"},
		"an agent that refuses": {spec: bearer, partner: func(p *partner) {
			p.call = func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				answer(w, r, `"error":{"code":-32001,"message":"not `+secret+`"}`)
			}
		}, fails: remotes.StepCall, words: "check that the secret"},
		"a version refused": {partner: says(-32009, "only 0.3"), fails: remotes.StepCall, words: "its card promises otherwise"},
		"a broken answer":   {partner: func(p *partner) { p.call = func(w http.ResponseWriter, r *http.Request) { answer(w, r, `"result":7`) } }, fails: remotes.StepCall, words: "breaks the protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			start := withTLS
			if tt.start != nil {
				start = tt.start
			}
			p := newPartner(t, start)
			spec := p.spec()
			if tt.spec != nil {
				spec = p.spec(tt.spec)
			}
			if tt.partner != nil {
				p.with(func() { tt.partner(p) })
			}
			var config []func(*remotes.Config)
			if tt.config != nil {
				config = append(config, tt.config)
			}
			w := newWorld(t, p, config...)
			w.register(spec)
			report, err := w.remotes.Check(t.Context(), agentName, "alice")
			if err != nil {
				t.Fatalf("Check() error = %v", err)
			}
			var failed []remotes.Step
			var steps []remotes.Step
			for _, f := range report.Findings {
				if len(steps) == 0 || steps[len(steps)-1] != f.Step {
					steps = append(steps, f.Step)
				}
				if f.Outcome == remotes.Failed {
					failed = append(failed, f.Step)
				}
				if f.Step == tt.warns && (f.Outcome != remotes.Warning || f.Next != tt.next) {
					t.Errorf("%s: %+v", f.Step, f)
				}
				if f.Words == "" || strings.ContainsAny(f.Words+f.Next, "\n\x1b") || len(f.Words) > 1000 {
					t.Errorf("%s: %q is not a line of words", f.Step, f.Words)
				}
			}
			if diff := cmp.Diff(remotes.Steps(), steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if report.OK != (tt.fails == "") || report.OK != (len(failed) == 0) || report.OK != (report.First == "") {
				t.Errorf("OK = %v, failed %q, first: %s", report.OK, failed, report.First)
			}
			if tt.fails != "" && (len(failed) == 0 || failed[0] != tt.fails || !strings.Contains(report.First, tt.words)) {
				t.Errorf("failed %q, first: %s\nwant %s: %s", failed, report.First, tt.fails, tt.words)
			}
			if text := fmt.Sprintf("%+v", report) + w.logs.String(); strings.Contains(text, secret) {
				t.Errorf("a secret is in %s", text)
			}
			for _, use := range w.secrets.used() {
				if use.Party != agentName || use.Who != "alice" && use.Who != "legation" {
					t.Errorf("use = %+v", use)
				}
			}
		})
	}
}

// Nothing is sent to an agent whose card is not trusted, and a structure that
// changed is shown.
func TestCheckOfAChangedStructure(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	w.register(p.spec(bearer))
	w.refresh()
	p.with(func() {
		p.card = func(c *a2a.AgentCard) { c.DefaultInputModes = []string{"image/png"} }
		p.page = func(rw http.ResponseWriter, _ *http.Request) { // whatever the condition
			rw.Header().Set("Content-Type", "application/json")
			_, _ = rw.Write(p.body())
		}
	})
	report, err := w.remotes.Check(t.Context(), agentName, "alice")
	if err != nil || report.OK || !strings.Contains(report.First, "legation agent accept partner --digest sha256:") || !strings.Contains(report.First, "defaultInputModes") {
		t.Errorf("first: %s, %v", report.First, err)
	}
	for _, r := range p.seen() {
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
	}
	if last := report.Findings[len(report.Findings)-1]; last.Outcome != remotes.Skipped || !strings.Contains(last.Words, "not trusted") {
		t.Errorf("the call: %+v", last)
	}
}

func TestCheckOfNobody(t *testing.T) {
	p := newPartner(t, withTLS)
	w := newWorld(t, p)
	if _, err := w.remotes.Check(t.Context(), "nobody", "alice"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("Check() error = %v, want ErrUnknown", err)
	}
	w.register(p.spec())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := w.remotes.Check(ctx, agentName, "alice"); !errors.Is(err, context.Canceled) {
		t.Errorf("Check() error = %v, want canceled", err)
	}
}

func redirects(p *partner) {
	p.page = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.test/card.json", http.StatusFound)
	}
}

// closedPort is a port of this machine where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// silent leaves connections open that nobody ever answers.
func silent(c *remotes.Config) {
	c.CheckTimeout = 20 * time.Millisecond
	c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

func other(p *partner, id string) *card.PrivateKey {
	made, err := card.GenerateKey(card.ES256)
	if err == nil {
		made, err = made.WithID(id)
	}
	if err != nil {
		p.Fatal(err)
	}
	return made
}
