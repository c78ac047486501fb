package app_test

import (
	"bytes"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/app"
)

// TestWhatIsPublishedNoMoreKeepsNobodyDown starts without a skill that a client
// may use and a configuration that names what was published.
func TestWhatIsPublishedNoMoreKeepsNobodyDown(t *testing.T) {
	cfg := settings(t, "up=tr a-z A-Z", "same=echo:")
	cfg.DefaultSkills = []string{"same"}
	h := move(t, cfg, app.Options{})
	h.apply(remoteClient("partner", "", "default/up, default/same", ""))
	h.apply("{kind: Configuration, name: mine, spec: {provider: default-up}}\n---\n" +
		"{kind: Agent, name: mine, spec: {card: {description: D.}, skills: [{id: s, configuration: mine, description: D.}]}}")
	p := bearer(h.key("partner").Key)
	h.stop()

	cfg.Publish = []string{"same=echo:"}
	var log bytes.Buffer
	h = move(t, cfg, app.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("what is still there: %d %s", got.status, got.body)
	}
	if got := h.card("/agents/mine"); got.status != 404 {
		t.Errorf("an agent without its program has the card %d %s", got.status, got.body)
	}
	for _, test := range []struct {
		kind, name string
		reasons    []string
	}{
		{"RemoteClient", "partner", []string{`spec.skills[0]: agent default has no skill "up" (there are: same)`}},
		{"Configuration", "mine", []string{`spec.provider: there is no provider "default-up" (there are: echo)`}},
		{"Agent", "mine", []string{`skill "s": there is no provider "default-up"`, "none of its skills can be served"}},
	} {
		got := h.resource(test.kind, test.name)
		if diff := cmp.Diff(test.reasons, got.Reasons); got.State != "inert" || diff != "" {
			t.Errorf("%s/%s is %s (-want +got):\n%s", test.kind, test.name, got.State, diff)
		}
	}
	report := managed[admin.Report](h, "POST", "/admin/clients/partner/check", "", "")
	if report.OK || !strings.Contains(report.First, "default/up: the agent has no such skill") {
		t.Errorf("the check says %+v", report)
	}
	code, body := h.manage("POST", "/admin/apply", admin.TypeYAML, remoteClient("partner", "", "default/up, default/same", ""))
	if code != 422 || !strings.Contains(string(body), `agent default has no skill \"up\"`) {
		t.Errorf("applied again: %d %s", code, body)
	}
	h.revoke("partner", strings.Split(h.key("partner").ID, " ")[0])
	h.stop()
	if text := log.String(); strings.Count(text, "names what is not there any more") != 2 || !strings.Contains(text, "RemoteClient/partner") {
		t.Errorf("log:\n%s", text)
	}
}

// TestTwoAgentsOfOneAddress does not start where the command line asks for it,
// and leaves out what is registered where it is in the way.
func TestTwoAgentsOfOneAddress(t *testing.T) {
	cfg := settings(t, "same=echo:", "slow/same=echo:")
	cfg.PublicURL = "https://agents.example/agents/slow"
	const words = "agent Agent/slow: its address /agents/slow/ is taken by agent \"default\""
	a, err := app.New(t.Context(), cfg, app.Options{Unsynced: true})
	if err == nil {
		a.Close()
	}
	if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(words, "agent ")) {
		t.Fatalf("New() error = %v, want %q", err, words)
	}

	cfg.Publish = []string{"same=echo:"}
	h := move(t, cfg, app.Options{})
	for range 2 { // also at the start after that
		h.apply("{kind: Configuration, name: mine, spec: {provider: echo}}",
			"{kind: Agent, name: slow, spec: {card: {description: D.}, skills: [{id: s, configuration: mine, description: D.}]}}")
		got := h.resource("Agent", "slow")
		if got.State != "inert" || len(got.Reasons) != 1 || !strings.Contains(got.Reasons[0], "its address /agents/slow/ is taken by agent \"default\"") {
			t.Errorf("the agent is %s: %q", got.State, got.Reasons)
		}
		if got := h.card("/agents/slow"); got.status != 200 || !strings.Contains(got.body, `"name":"Legation"`) {
			t.Errorf("the card there is %d %s", got.status, got.body)
		}
		h.stop()
		h = move(t, cfg, app.Options{})
	}
}

// TestAdministrationFromElsewhere serves the admin API to other machines over
// TLS, and to commands on this one where they find it, whatever the certificate
// names.
func TestAdministrationFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	cfg := settings(t)
	cfg.TLSCert, cfg.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	cert, key := issue(t, "admin.example")
	for name, text := range map[string][]byte{cfg.TLSCert: cert, cfg.TLSKey: key} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range []string{"0.0.0.0:0", ":0"} {
		cfg.AdminListen = address
		h := move(t, cfg, app.Options{})
		if status := managed[admin.Status](h, "GET", "/admin/status", "", ""); status.Version == "" {
			t.Errorf("%s: as a command on this machine: %+v", address, status)
		}
		text, err := os.ReadFile(filepath.Join(cfg.Data, "admin.json"))
		if err != nil || string(text) != `{"url":"`+h.app.Admin()+`"}` || !strings.HasPrefix(h.app.Admin(), "http://127.0.0.1:") {
			t.Errorf("%s: admin.json says %s, error %v", address, text, err)
		}
		_, port, err := net.SplitHostPort(h.app.AdminAddr())
		if err != nil || port == "0" {
			t.Fatalf("%s: AdminAddr() = %s", address, h.app.AdminAddr())
		}
		h.roots = x509.NewCertPool()
		h.roots.AppendCertsFromPEM(cert)
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://127.0.0.1:"+port+"/admin/status", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+h.token)
		resp, err := h.web(proof{}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: as from elsewhere: %d", address, resp.StatusCode)
		}
		h.stop()
		if _, err := os.Stat(filepath.Join(cfg.Data, "admin.json")); err == nil {
			t.Errorf("%s: admin.json is left", address)
		}
	}
	cfg.AdminListen = "127.0.0.1:0"
	if a, _ := serve(t, cfg, app.Options{}); a.AdminAddr() != "" || a.Admin() == "" {
		t.Errorf("on this machine alone: %q, %q", a.Admin(), a.AdminAddr())
	}
}
