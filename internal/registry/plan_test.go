package registry_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/registry"
)

const base = `
kind: Provider
name: p
spec: {type: echo}
---
kind: Configuration
name: c
spec: {provider: p, systemPrompt: Be brief.}
---
kind: Agent
name: a
spec:
  card: {description: d}
  skills:
    - {id: one, configuration: c, description: first, tags: [x]}
    - {id: two, configuration: c, description: second}
---
kind: RemoteClient
name: r
spec:
  skills: [a/one]
  credentials:
    apiKeys: [{id: k1, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]
`

func plan(t *testing.T, current registry.Set, text string, opts registry.Options) registry.Plan {
	t.Helper()
	p, err := registry.NewPlan(current, decode(t, text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tell writes a plan as a person would read it.
func tell(p registry.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d → %d\n", p.Base, p.Revision)
	for _, c := range p.Changes {
		var before, after int64
		if c.Before != nil {
			before = c.Before.Generation
		}
		if c.After != nil {
			after = c.After.Generation
		}
		fmt.Fprintf(&b, "%s %s %d → %d\n", c.Action, c.ID, before, after)
		for _, f := range c.Fields {
			fmt.Fprintf(&b, "  %s\n", f)
		}
	}
	return b.String()
}

func TestPlans(t *testing.T) {
	first := plan(t, registry.Set{}, base, registry.Options{Prune: true})
	wantPlan(t, first, `
0 → 1
create Provider/p 0 → 1
create Configuration/c 0 → 1
create Agent/a 0 → 1
create RemoteClient/r 0 → 1
`)
	again := plan(t, first.Set(), base, registry.Options{Prune: true})
	wantPlan(t, again, `
1 → 1
unchanged Provider/p 1 → 1
unchanged Configuration/c 1 → 1
unchanged Agent/a 1 → 1
unchanged RemoteClient/r 1 → 1
`)
	if again.Changed() || again.Facts("x") != nil {
		t.Error("the same documents again are a change")
	}
	edited := plan(t, first.Set(), `
kind: Agent
name: a
spec:
  card: {description: d, name: A}
  skills:
    - {id: two, configuration: c, description: 2nd, public: true}
    - {id: one, configuration: c, description: first, tags: [x, y]}
    - {id: three, configuration: c, description: third}
---
kind: Configuration
name: other
spec: {provider: p}
`, registry.Options{})
	wantPlan(t, edited, `
1 → 2
unchanged Provider/p 1 → 1
unchanged Configuration/c 1 → 1
create Configuration/other 0 → 2
update Agent/a 1 → 2
  spec.card.name: (left out) → "A"
  spec.skills: ["one","two"] → ["two","one","three"]
  spec.skills[one].tags: ["x"] → ["x","y"]
  spec.skills[two].description: "second" → "2nd"
  spec.skills[two].public: (left out) → true
  spec.skills[three].id: (left out) → "three"
  spec.skills[three].configuration: (left out) → "c"
  spec.skills[three].description: (left out) → "third"
unchanged RemoteClient/r 1 → 1
`)
	removed := plan(t, edited.Set(), "", registry.Options{Delete: []registry.ID{{Kind: registry.KindConfiguration, Name: "other"}, {Kind: registry.KindAgent, Name: "never"}}})
	wantPlan(t, removed, `
2 → 3
unchanged Provider/p 1 → 1
unchanged Configuration/c 1 → 1
delete Configuration/other 2 → 0
unchanged Agent/a 2 → 2
unchanged RemoteClient/r 1 → 1
`)
	// A document that is made anew does not go back in generation.
	anew := plan(t, removed.Set(), "kind: Configuration\nname: other\nspec: {provider: p}", registry.Options{})
	if got := anew.Changes[2].After.Generation; got != 4 {
		t.Errorf("generation = %d, want 4", got)
	}
	pruned := plan(t, anew.Set(), "kind: Provider\nname: p\nspec: {type: echo}", registry.Options{Prune: true})
	wantPlan(t, pruned, `
4 → 5
unchanged Provider/p 1 → 1
delete Configuration/c 1 → 0
delete Configuration/other 4 → 0
delete Agent/a 2 → 0
delete RemoteClient/r 1 → 0
`)
}

func wantPlan(t *testing.T, p registry.Plan, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), tell(p)); diff != "" {
		t.Error(diff)
	}
}

// A secret that is to be deleted may be named: it is none of those that were
// pasted where a name belongs.
func TestWhoNeedsWhatIsDeleted(t *testing.T) {
	current := plan(t, registry.Set{}, `
kind: Secret
name: card-key
---
kind: Provider
name: p
spec: {type: openai, baseURL: "https://models.example", secret: card-key}`, registry.Options{}).Set()
	_, err := registry.NewPlan(current, nil, registry.Options{Delete: []registry.ID{{Kind: registry.KindSecret, Name: "card-key"}}})
	const want = `Provider/p: spec.secret: needs Secret/card-key, which would be gone (change that first, then delete it)`
	if err == nil || err.Error() != want {
		t.Errorf("NewPlan() error = %v, want %s", err, want)
	}
}

func TestAChangeThatLeavesSomethingBrokenIsRefused(t *testing.T) {
	current := plan(t, registry.Set{}, base, registry.Options{}).Set()
	tests := map[string]struct {
		text string
		opts registry.Options
		want string
	}{
		"delete what is used": {"", registry.Options{Delete: []registry.ID{{Kind: registry.KindProvider, Name: "p"}}}, `Configuration/c: spec.provider: needs Provider/p, which would be gone (change that first, then delete it)`},
		"prune what is used":  {"kind: RemoteClient\nname: r\nspec: {skills: [a/one]}", registry.Options{Prune: true}, `RemoteClient/r: spec.skills[0]: needs Agent/a, which would be gone`},
		"take a skill away":   {"kind: Agent\nname: a\nspec: {card: {description: d}, skills: [{id: two, configuration: c, description: d}]}", registry.Options{}, `RemoteClient/r: spec.skills[0]: agent a has no skill "one" (there are: two)`},
		"two texts":           {"kind: Secret\nname: s", registry.Options{}, "Secret/s: was given twice"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			desired := decode(t, test.text)
			if name == "two texts" {
				desired = append(desired, desired...)
			}
			p, err := registry.NewPlan(current, desired, test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) || p.Changes != nil {
				t.Errorf("NewPlan() = %v, %v, want %q", p.Changes, err, test.want)
			}
		})
	}
	if _, err := registry.NewPlan(current, []registry.Document{{Kind: registry.KindAgent, Name: "a"}}, registry.Options{}); err == nil {
		t.Error("a document without a spec was taken")
	}
}

// Issued keys are not in the files of an administrator, and applying the files
// again does not take them away.
func TestIssuedKeysAreKept(t *testing.T) {
	current := plan(t, registry.Set{}, base, registry.Options{}).Set()
	silent := plan(t, current, "kind: RemoteClient\nname: r\nspec: {skills: [a/one]}", registry.Options{})
	if silent.Changed() {
		t.Errorf("keys that are not spoken of were changed:\n%s", tell(silent))
	}
	client := "kind: RemoteClient\nname: r\nspec: {skills: [a/one], credentials: {apiKeys: %s}}"
	rotated := plan(t, current, fmt.Sprintf(client, "[{id: k1, sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752}]"), registry.Options{})
	if got := tell(rotated); !strings.Contains(got, "  spec.credentials.apiKeys[k1].sha256: (not shown) → (not shown)\n") || strings.Contains(got, "60303ae") {
		t.Error(got)
	}
	emptied := plan(t, current, fmt.Sprintf(client, "[]"), registry.Options{})
	if got := len(emptied.Set().Documents[3].Spec.(*registry.RemoteClient).Credentials.APIKeys); !emptied.Changed() || got != 0 {
		t.Errorf("%d keys are left:\n%s", got, tell(emptied))
	}
	if again := plan(t, emptied.Set(), fmt.Sprintf(client, "[]"), registry.Options{}); again.Changed() {
		t.Errorf("taking all keys away twice is a change:\n%s", tell(again))
	}
}

// The audit learns what changed, never to what.
func TestFactsHaveNoContent(t *testing.T) {
	current := plan(t, registry.Set{Revision: 6}, base, registry.Options{}).Set()
	p := plan(t, current, "kind: Configuration\nname: c\nspec: {provider: p, systemPrompt: marker}\n---\nkind: Secret\nname: s\n", registry.Options{})
	facts := p.Facts("ada")
	if len(facts) != 2 {
		t.Fatalf("%d facts, want 2", len(facts))
	}
	created, updated := facts[0], facts[1]
	if created.Action != registry.Create || created.ID.String() != "Secret/s" || created.Before != "" || len(created.After) != 64 {
		t.Errorf("fact = %+v", created)
	}
	if updated.Author != "ada" || updated.Revision != 8 || cmp.Diff([]string{"spec.systemPrompt"}, updated.Paths) != "" ||
		len(updated.Before) != 64 || updated.Before == updated.After {
		t.Errorf("fact = %+v", updated)
	}
	if strings.Contains(fmt.Sprintf("%+v", facts), "marker") {
		t.Error("a fact has content")
	}
}

func TestLongValuesAreCut(t *testing.T) {
	text := "kind: Secret\nname: s\nspec: {description: " + strings.Repeat("é", 200) + "}"
	current := plan(t, registry.Set{}, text, registry.Options{}).Set()
	p := plan(t, current, "kind: Secret\nname: s\nspec: {description: x}", registry.Options{})
	if f := p.Changes[0].Fields[0]; len(f.Old) > 170 || !strings.HasSuffix(f.Old, "…") || f.New != `"x"` {
		t.Errorf("field = %+v", f)
	}
}
