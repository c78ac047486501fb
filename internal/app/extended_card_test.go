package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/app"
)

// skillsOn are the ids of the skills on a card.
func skillsOn(t *testing.T, raw string) []string {
	t.Helper()
	form, violations, err := a2a.Decode[a2a.AgentCard]([]byte(raw))
	if err != nil || len(violations) > 0 {
		t.Fatalf("%s: %v %v", raw, violations, err)
	}
	var ids []string
	for _, s := range form.Skills {
		ids = append(ids, s.ID)
	}
	return ids
}

// TestExtendedCards is REQ-XCARD-06 and REQ-XCARD-07: each caller sees the
// private skills that it may use; REQ-XCARD-09: and nothing of what is behind them.
func TestExtendedCards(t *testing.T) {
	h := build(t,
		remoteClient("one", "", "desk/open, desk/vault-door", ""),
		remoteClient("two", "", "desk/back-office", ""),
		remoteClient("three", "", "desk/open", ""),
		remoteClient("elsewhere", "", "gate/gate", ""),
	)
	public := h.card("")
	if diff := cmp.Diff([]string{"open"}, skillsOn(t, public.body)); diff != "" {
		t.Errorf("skills of the public card (-want +got):\n%s", diff)
	}
	for _, private := range []string{"vault-door", "back-office", "For few.", "echo"} {
		if strings.Contains(public.body, private) {
			t.Errorf("the public card tells %q: %s", private, public.body)
		}
	}
	for name, want := range map[string][]string{
		"one": {"open", "vault-door"}, "two": {"open", "back-office"}, "three": {"open"},
	} {
		got := h.call(bearer(h.key(name).Key), "/", a2a.MethodGetExtendedAgentCard, `{}`)
		if diff := cmp.Diff(want, skillsOn(t, string(got.Result))); diff != "" {
			t.Errorf("skills of the card for %s (-want +got):\n%s", name, diff)
		}
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("caches are told %q", got.header.Get("Cache-Control"))
		}
		for _, inside := range []string{"configuration", "provider", h.cfg.Data, "partner"} {
			if strings.Contains(string(got.Result), inside) {
				t.Errorf("the card for %s tells %q: %s", name, inside, got.Result)
			}
		}
	}
	got := h.call(bearer(h.key("elsewhere").Key), "/", a2a.MethodGetExtendedAgentCard, `{}`)
	if got.status != 403 || got.Error.Message != "this client may use no skill of this agent" {
		t.Errorf("to who may use nothing of it: %d %s", got.status, got.body)
	}
}

// TestACardDeclaresWhatIsAccepted is REQ-XCARD-05: a scheme that the card of an
// agent does not declare opens nothing of that agent, though it is another's.
func TestACardDeclaresWhatIsAccepted(t *testing.T) {
	from := newIssuer(t)
	h := build(t,
		remoteClient("by-key", "", "desk/open", ""),
		remoteClient("by-token", "oidc: ["+from.identity("authorizedParty", "app")+"]", "gate/gate", ""),
	)
	key, token := bearer(h.key("by-key").Key), from.token(from.claims("app", ""))
	for path, want := range map[string][]string{"": {"apiKey", "bearerKey"}, "/agents/gate": {"oidc"}} {
		var form struct {
			Schemes      map[string]any `json:"securitySchemes"`
			Requirements []struct {
				Schemes map[string]any `json:"schemes"`
			} `json:"securityRequirements"`
		}
		decode(t, h.card(path).body, &form)
		var required []string
		for _, alternative := range form.Requirements {
			for name := range alternative.Schemes {
				required = append(required, name)
			}
		}
		slices.Sort(required)
		if diff := cmp.Diff(want, required); diff != "" || len(form.Schemes) != len(want) {
			t.Errorf("%s requires (-want +got):\n%s", path, diff)
		}
	}
	for path, foreign := range map[string]proof{"/": token, "/agents/gate": key} {
		for method, params := range map[string]string{
			a2a.MethodSendMessage: said("hello"), a2a.MethodSendStreamingMessage: said("hello"), a2a.MethodGetExtendedAgentCard: `{}`,
		} {
			if path != "/" && method == a2a.MethodGetExtendedAgentCard {
				continue // it has none
			}
			if got := h.call(foreign, path, method, params); got.status != 403 || len(got.Result) > 0 {
				t.Errorf("%s at %s: %d %s", method, path, got.status, got.body)
			}
		}
	}
}

// signing stores a key that signs cards and returns its public half.
func (h *house) signing(secret string, algorithm card.Algorithm) card.PublicKey {
	h.Helper()
	key, err := card.GenerateKey(algorithm)
	if err != nil {
		h.Fatal(err)
	}
	text, err := key.JWK()
	if err != nil {
		h.Fatal(err)
	}
	h.apply("{kind: Secret, name: " + secret + "}")
	managed[admin.Secret](h, "PUT", "/admin/secrets/"+secret, admin.TypeBytes, string(text))
	return key.Public()
}

// signedDesk is the agent at the root, signed.
func signedDesk(description, keys string) string {
	return fmt.Sprintf(`kind: Agent
name: desk
spec:
  root: true
  card: {name: Desk, description: %s}
  organization: {name: Example, url: "https://example.com"}
  signingKeys: [%s]
  skills:
  - {id: open, configuration: echo, description: For everybody., public: true}
  - {id: vault-door, configuration: echo, description: For few.}
`, description, keys)
}

// TestSignedCards verifies both cards while keys are rotated (REQ-SIGN-14): with
// the old key, with both, with the new one.
func TestSignedCards(t *testing.T) {
	h := build(t)
	old, next := h.signing("old", card.ES256), h.signing("next", card.EdDSA)
	h.apply(signedDesk("Signs.", "old"), remoteClient("partner", "", "desk/vault-door", ""))
	p := bearer(h.key("partner").Key)
	for _, step := range []struct {
		keys     string
		old, new bool
	}{{"old", true, false}, {"old, next", true, true}, {"next", false, true}} {
		h.apply(signedDesk("Signs.", step.keys))
		extended := string(h.call(p, "/", a2a.MethodGetExtendedAgentCard, `{}`).Result)
		for which, raw := range map[string]string{"public": h.card("").body, "extended": extended} {
			for name, key := range map[string]struct {
				card.PublicKey
				good bool
			}{"old": {old, step.old}, "new": {next, step.new}} {
				pin := card.Pin{Keys: []card.PublicKey{key.PublicKey}, Name: "Desk", Organization: "Example"}
				_, err := card.Verify([]byte(raw), pin)
				if key.good && err != nil || !key.good && !errors.Is(err, card.ErrUntrusted) {
					t.Errorf("signed with %s, the %s card and the %s key: %v", step.keys, which, name, err)
				}
			}
		}
		if got := skillsOn(t, extended); !slices.Equal(got, []string{"open", "vault-door"}) {
			t.Errorf("the extended card has %q", got)
		}
	}
	replaced := h.signing("next", card.EdDSA) // another value under the same name
	if _, err := card.Verify([]byte(h.card("").body), card.Pin{Keys: []card.PublicKey{replaced}}); err != nil {
		t.Errorf("after the secret was replaced: %v", err)
	}
}

// TestCardsForCaches asks again for a card that was read before, as caches do.
func TestCardsForCaches(t *testing.T) {
	cfg := settings(t)
	cfg.PublicURL = "https://agents.example.com" // or else the port is on the card
	h := move(t, cfg, app.Options{})
	h.apply(furniture, remoteClient("partner", "", "desk/vault-door", ""))
	h.signing("key", card.EdDSA)
	h.apply(signedDesk("First.", "key"))
	first := h.card("")
	tag, since := first.header.Get("ETag"), first.header.Get("Last-Modified")
	if tag == "" || since == "" || first.header.Get("Cache-Control") != "public, max-age=300" {
		t.Fatalf("%v", first.header)
	}
	for _, condition := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", since}} {
		if got := h.card("", condition...); got.status != http.StatusNotModified || got.body != "" {
			t.Errorf("%q: %d %s", condition, got.status, got.body)
		}
	}
	h.apply(remoteClient("another", "", "desk/open", "")) // which proves itself in no other way
	if got := h.card("", "If-None-Match", tag); got.status != http.StatusNotModified {
		t.Errorf("with another client: %d %s", got.status, got.body)
	}

	h.stop()
	h = move(t, cfg, app.Options{})
	if got := h.card(""); got.header.Get("ETag") != tag || got.header.Get("Last-Modified") != since {
		t.Errorf("after a restart: %v, before it was %v", got.header, first.header)
	}

	h.apply(signedDesk("Second.", "key"))
	changed := h.card("", "If-None-Match", tag)
	if changed.status != 200 || changed.header.Get("ETag") == tag || !strings.Contains(changed.body, "Second.") {
		t.Errorf("after a change: %d %v", changed.status, changed.header)
	}
	before, err := http.ParseTime(since)
	after, wrong := http.ParseTime(changed.header.Get("Last-Modified"))
	if err != nil || wrong != nil || after.Before(before) || time.Until(after) > time.Minute {
		t.Errorf("Last-Modified goes from %s to %s", since, changed.header.Get("Last-Modified"))
	}
}
