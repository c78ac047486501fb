package server_test

import (
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

// REQ-EXT-09: what the card requires, every method requires.
func TestRequiredExtensionOnEveryMethod(t *testing.T) {
	w := newWorld(t, options{})
	for _, method := range a2a.Methods() {
		for asked, required := range map[string]bool{"": true, "urn:example:may:v1": true, "urn:example:must:v1": false} {
			r := request("POST", "/agents/strict", rpc(method, "{}"))
			r.Header.Set("A2A-Extensions", asked)
			code := codeOf(t, w.do(r).Body.Bytes())
			if (code == a2a.CodeExtensionSupportRequired) != required {
				t.Errorf("%s with %q: code %d, want -32008: %v", method, asked, code, required)
			}
		}
	}
}

// REQ-EXT-10, REQ-EXT-16: our extensions have their version in the URI, are on
// the card, and are required of nobody.
func TestOurExtensions(t *testing.T) {
	w := newWorld(t, options{})
	body := w.do(httptest.NewRequest("GET", "/agents/thrifty/.well-known/agent-card.json", nil)).Body.Bytes()
	card, violations, err := a2a.Decode[a2a.AgentCard](body)
	if err != nil || len(violations) > 0 {
		t.Fatalf("card %s: %v %v", body, err, violations)
	}
	versioned := regexp.MustCompile(`[:/]v[0-9]+$`)
	shown := map[string]bool{}
	for _, e := range card.Capabilities.Extensions {
		if shown[e.URI] = true; !versioned.MatchString(e.URI) || e.Required {
			t.Errorf("extension %q, required %v", e.URI, e.Required)
		}
	}
	for _, e := range server.Extensions() {
		if !shown[e.URI] {
			t.Errorf("%s is not on the card", e.URI)
		}
	}
}
