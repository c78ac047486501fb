package app_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

// TestChangesTakeEffectAtOnce changes what is served and who may use it.
func TestChangesTakeEffectAtOnce(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	p := bearer(h.key("partner").Key)
	const shop = `kind: Agent
name: shop
spec:
  card: {description: Opens.}
  skills:
  - {id: sell, configuration: echo, description: Sells., public: true}
`
	if got := h.call(p, "/agents/shop", a2a.MethodSendMessage, said("hello")); got.status != 404 {
		t.Errorf("before: %d %s", got.status, got.body)
	}
	h.apply(shop)
	if got := h.card("/agents/shop"); got.status != 200 || !slices.Equal(skillsOn(t, got.body), []string{"sell"}) {
		t.Errorf("its card: %d %s", got.status, got.body)
	}
	if got := h.call(p, "/agents/shop", a2a.MethodSendMessage, said("hello")); got.status != 403 {
		t.Errorf("to who may not use it: %d %s", got.status, got.body)
	}
	h.apply(remoteClient("partner", "", "desk/open, shop/sell", ""))
	if got := h.call(p, "/agents/shop", a2a.MethodSendMessage, said("hello")); got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("to who may: %d %s", got.status, got.body)
	}
	h.apply(remoteClient("partner", "", "desk/open", ""))
	if status, body := h.manage("DELETE", "/admin/resources/Agent/shop", "", ""); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if got := h.card("/agents/shop"); got.status != 404 {
		t.Errorf("after it was deleted its card is answered with %d %s", got.status, got.body)
	}
}

// TestAWrongChangeChangesNothing sends good documents together with bad ones.
func TestAWrongChangeChangesNothing(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	p := bearer(h.key("partner").Key)
	before, status := h.card(""), managed[admin.Status](h, "GET", "/admin/status", "", "")
	for name, wrong := range map[string]string{
		"a name that leads nowhere": remoteClient("partner", "", "desk/no-such-skill", ""),
		"a member that is not":      "{kind: Provider, name: other, spec: {type: echo, colour: red}}",
		"no document":               "kind: [",
		"a second root":             "{kind: Agent, name: rival, spec: {root: true, card: {description: D.}, skills: [{id: s, configuration: echo, description: D.}]}}",
		"a credential of another":   remoteClient("rival", "oidc: [{issuer: 'https://id.example', audience: a, authorizedParty: x}]", "desk/open", "") + "\n---\n" + remoteClient("twin", "oidc: [{issuer: 'https://id.example', audience: a, authorizedParty: x}]", "desk/open", ""),
	} {
		good := strings.Replace(furniture, "Says back what it is told.", "Has changed.", 1)
		code, body := h.manage("POST", "/admin/apply", admin.TypeYAML, good+"\n---\n"+wrong)
		if code != 422 {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	after := managed[admin.Status](h, "GET", "/admin/status", "", "")
	if after.Revision != status.Revision || after.Resources != status.Resources {
		t.Errorf("before %+v\nafter %+v", status, after)
	}
	if got := h.card(""); got.body != before.body {
		t.Errorf("the card is\n%s\nand was\n%s", got.body, before.body)
	}
	if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestOneAgentIsNoTroubleToTheOthers registers agents that cannot be served: they
// say why, and the others are served, now and after a restart.
func TestOneAgentIsNoTroubleToTheOthers(t *testing.T) {
	cfg := settings(t)
	h := move(t, cfg, app.Options{})
	h.apply(furniture, remoteClient("partner", "", "desk/open", ""), `
{kind: Secret, name: unset}
---
{kind: Secret, name: garbage}
---
{kind: Configuration, name: asks, spec: {provider: echo, approval: always}}
---
{kind: Agent, name: unsigned, spec: {card: {description: D.}, signingKeys: [unset], skills: [{id: s, configuration: echo, description: D., public: true}]}}
---
{kind: Agent, name: garbled, spec: {card: {description: D.}, signingKeys: [garbage], skills: [{id: s, configuration: echo, description: D., public: true}]}}
---
{kind: Agent, name: unanswered, spec: {card: {description: D.}, skills: [{id: s, configuration: asks, description: D., public: true}]}}
`)
	managed[admin.Secret](h, "PUT", "/admin/secrets/garbage?force=true", admin.TypeBytes, "no key")
	p := bearer(h.key("partner").Key)
	for range 2 {
		for name, why := range map[string]string{
			"unsigned": "secret unset has no value", "garbled": "signingKeys[0]", "unanswered": "approval", "gate": "an agent written in Go has its name",
		} {
			got := h.resource("Agent", name)
			if got.State != "inert" || !strings.Contains(strings.Join(got.Reasons, " "), why) || strings.Contains(strings.Join(got.Reasons, " "), "no key") {
				t.Errorf("%s is %s, %q", name, got.State, got.Reasons)
			}
			if name == "gate" {
				continue // and the one written in Go is served
			}
			if card := h.card("/agents/" + name); card.status != 404 {
				t.Errorf("%s has a card: %d %s", name, card.status, card.body)
			}
		}
		if got := h.resource("Agent", "desk"); got.State != "ready" {
			t.Errorf("desk is %s, %q", got.State, got.Reasons)
		}
		if got := h.card("/agents/gate"); got.status != 200 {
			t.Errorf("gate has no card: %d %s", got.status, got.body)
		}
		if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.task().Status.State != a2a.TaskStateCompleted {
			t.Errorf("%d %s", got.status, got.body)
		}
		h.stop()
		h = move(t, cfg, app.Options{})
	}
}

// TestMasterKeysThatDoNotFit are refused in words, and nothing is touched.
func TestMasterKeysThatDoNotFit(t *testing.T) {
	cfg := settings(t)
	h := move(t, cfg, app.Options{})
	h.signing("key", card.EdDSA)
	h.stop()
	for name, spoil := range map[string]func(*config.Config){
		"garbage": func(c *config.Config) { c.MasterKeys = "garbage" },
		"missing": func(c *config.Config) { c.MasterKey = filepath.Join(t.TempDir(), "none") },
	} {
		spoiled := cfg
		spoil(&spoiled)
		if a, err := app.New(t.Context(), spoiled, app.Options{}); err == nil || !strings.Contains(err.Error(), "master key") {
			t.Errorf("%s: New() = %v, %v", name, a, err)
		}
	}
	if got := move(t, cfg, app.Options{}).resource("Secret", "key"); got.State != "ready" {
		t.Errorf("with the right one the secret is %s, %q", got.State, got.Reasons)
	}
}
