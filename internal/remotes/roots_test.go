package remotes_test

import (
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
)

// A partner's own authority vouches for the partner, and for nobody else.
func TestOwnAuthority(t *testing.T) {
	p := newPartner(t, withTLS)
	tokens := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"t0ken","token_type":"Bearer","expires_in":60}`))
	}))
	tokens.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	tokens.StartTLS()
	t.Cleanup(tokens.Close)
	w := newWorld(t, p, func(c *remotes.Config) { c.Roots = nil })
	own := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw}))
	oauth := func(s *registry.RemoteAgent) {
		s.Roots = own
		s.Credential = registry.Credential{OAuth2: &registry.OAuth2{TokenURL: registry.URL(tokens.URL), ClientID: "us", Secret: "token"}}
	}
	for _, tt := range []struct {
		name  string
		spec  func(*registry.RemoteAgent)
		fails remotes.Step // none: it is fine
	}{
		{"of nobody", func(*registry.RemoteAgent) {}, remotes.StepConnection},
		{"of the agent", func(s *registry.RemoteAgent) { s.Roots = own }, ""},
		{"of the agent, and not of its token endpoint", oauth, remotes.StepCredential},
		{"of both", func(s *registry.RemoteAgent) { oauth(s); s.Credential.OAuth2.Roots = own }, ""},
		{"of nobody any more", func(*registry.RemoteAgent) {}, remotes.StepConnection},
	} {
		w.register(p.spec(tt.spec))
		report, err := w.remotes.Check(t.Context(), agentName, "alice")
		if err != nil {
			t.Fatal(err)
		}
		failed := remotes.Step("")
		for _, f := range report.Findings {
			if f.Outcome == remotes.Failed && failed == "" {
				failed = f.Step
			}
		}
		if failed != tt.fails || report.OK != (tt.fails == "") {
			t.Errorf("%s: fails at %q, want %q: %+v", tt.name, failed, tt.fails, report)
		}
		if tt.fails == remotes.StepCredential && !strings.Contains(report.First, "authority this server does not know") {
			t.Errorf("%s: %q", tt.name, report.First)
		}
	}
}
