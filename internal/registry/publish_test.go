package registry_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
)

const published = `
kind: Provider
name: p
spec: {type: echo}
---
kind: Configuration
name: c
spec: {provider: p}
`

func (n *node) publish(text string) registry.Plan {
	n.Helper()
	plan, err := n.Publish(n.Context(), decode(n.T, text), registry.Host{})
	if err != nil {
		n.Fatalf("Publish() error = %v", err)
	}
	return plan
}

func (n *node) published(want ...string) {
	n.Helper()
	for _, one := range []*node{n, n.again()} {
		var got []string
		for _, id := range one.Published() {
			got = append(got, id.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			n.Errorf("Published() (-want +got):\n%s", diff)
		}
	}
}

func TestPublishingReplacesWhatWasPublished(t *testing.T) {
	n := newNode(t)
	n.apply(secret("s"), registry.Options{})
	n.publish(published)
	n.published("Provider/p", "Configuration/c")
	if again := n.publish(published); again.Changed() {
		t.Errorf("publishing the same again: %s", tell(again))
	}
	n.publish("kind: Provider\nname: p\nspec: {type: echo, zone: public}\n---\nkind: Provider\nname: q\nspec: {type: echo}")
	n.published("Provider/p", "Provider/q")
	n.tells("3: Secret/s@1 Provider/p@3 Provider/q@3")
	n.publish("")
	n.published()
	n.tells("4: Secret/s@1")
	last := n.audit()[len(n.audit())-1]
	if last.Who != "command line" || last.Operation != "delete" || last.Party != "Provider/q" || last.Outcome != audit.Done {
		t.Errorf("the audit has %+v", last)
	}
}

// What is changed in one place is not changed in the other.
func TestPublishedAndAppliedDocumentsKeepApart(t *testing.T) {
	n := newNode(t)
	n.publish(published)
	n.apply("kind: Provider\nname: own\nspec: {type: echo}", registry.Options{})
	before := n.Set()
	apply := func(text string, opts registry.Options) error {
		_, err := n.Apply(t.Context(), "ada", decode(t, text), opts)
		return err
	}
	const words = "Provider/p: was published on the command line (--publish) (change it there)"
	n.refused(before, apply("kind: Provider\nname: p\nspec: {type: echo, zone: public}", registry.Options{}), words)
	n.refused(before, apply("kind: Provider\nname: p\nspec: {type: echo}", registry.Options{}), words)
	n.refused(before, apply("", registry.Options{Delete: []registry.ID{{Kind: registry.KindProvider, Name: "p"}}}), words)
	_, err := n.Edit(t.Context(), "ada", registry.ID{Kind: registry.KindProvider, Name: "p"}, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.Provider).Zone = registry.Public
		return doc, nil
	})
	n.refused(before, err, words)
	_, err = n.Publish(t.Context(), decode(t, "kind: Provider\nname: own\nspec: {type: echo}"), registry.Host{})
	n.refused(before, err, "Provider/own: is registered already, and not by the command line (publish under another name")

	// The place is told where the document was read.
	problems := apply("# a line\nkind: Provider\nname: p\nspec: {type: echo}", registry.Options{}).(registry.Problems)
	if problems[0].Source.Line != 2 {
		t.Errorf("the problem is in line %d, want 2", problems[0].Source.Line)
	}

	// Applied documents may name published ones, and pruning leaves those alone.
	n.apply("kind: Configuration\nname: mine\nspec: {provider: p}", registry.Options{Prune: true})
	n.tells("3: Provider/p@1 Configuration/c@1 Configuration/mine@3")
}

// A server starts though somebody uses what it publishes no more, and everything
// can be changed but what would keep the fault.
func TestWhatIsPublishedNoMoreMayBeNamed(t *testing.T) {
	n := newNode(t)
	mine := registry.ID{Kind: registry.KindConfiguration, Name: "mine"}
	client := registry.ID{Kind: registry.KindRemoteClient, Name: "r"}
	n.publish(base)
	const text = "kind: Configuration\nname: mine\nspec: {provider: p}"
	const keyed = "kind: RemoteClient\nname: r2\nspec: {skills: [a/one, a/two], credentials: {apiKeys: [{id: k2, sha256: 60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752}]}}"
	n.apply(text+"\n---\n"+keyed, registry.Options{})
	client.Name = "r2"
	if got := append(n.Faults(mine), n.Faults(client)...); len(got) > 0 {
		t.Errorf("faults before: %q", got)
	}
	n.publish("kind: Secret\nname: s")
	n.tells("3: Secret/s@3 Configuration/mine@2 RemoteClient/r2@2")
	want := []string{
		`spec.provider: there is no provider "p" (there is none at all)`,
		`spec.skills[0]: there is no agent "a" (there is none at all)`, `spec.skills[1]: there is no agent "a" (there is none at all)`,
	}
	for _, one := range []*node{n, n.again()} {
		if diff := cmp.Diff(want, append(one.Faults(mine), one.Faults(client)...)); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
	}
	if again := n.publish("kind: Secret\nname: s"); again.Changed() {
		t.Errorf("at the next start: %s", tell(again))
	}
	before := n.Set()
	for text, want := range map[string]string{
		text:  `Configuration/mine: spec.provider: there is no provider "p"`,
		keyed: `RemoteClient/r2: spec.skills[0]: there is no agent "a"`,
	} {
		_, err := n.Apply(t.Context(), "ada", decode(t, text), registry.Options{})
		n.refused(before, err, want)
	}
	n.apply(secret("another"), registry.Options{})
	if _, err := n.Edit(t.Context(), "ada", client, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys[0].Revoked = true
		return doc, nil
	}); err != nil {
		t.Errorf("revoking a key of a client with a fault: %v", err)
	}
	before = n.Set()
	_, err := n.Edit(t.Context(), "ada", client, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Skills = []registry.SkillRef{"b/new"}
		return doc, nil
	})
	n.refused(before, err, `there is no agent "b"`)
	n.publish(base)
	if got := append(n.Faults(mine), n.Faults(client)...); len(got) > 0 {
		t.Errorf("faults after it was published again: %q", got)
	}
}

// Two agents at the root are a question that a start does not answer.
func TestPublishingASecondRootIsRefused(t *testing.T) {
	n := newNode(t)
	const root = "kind: Agent\nname: %s\nspec: {root: true, card: {description: d}, skills: [{id: one, configuration: %s, description: d}]}"
	n.apply("kind: Provider\nname: own\nspec: {type: echo}\n---\nkind: Configuration\nname: own\nspec: {provider: own}\n---\n"+fmt.Sprintf(root, "zoo", "own"), registry.Options{})
	before := n.Set()
	_, err := n.Publish(t.Context(), decode(t, published+"---\n"+fmt.Sprintf(root, "a", "c")), registry.Host{})
	n.refused(before, err, "agent a is at the root already")
}

// What the server's own configuration declares comes with what it publishes.
func TestPublishedProgramsMayBeNamedFromThenOn(t *testing.T) {
	n := newNode(t)
	program := func(name string) []registry.Document {
		return decode(t, "kind: Provider\nname: "+name+"\nspec: {type: command, program: wordcount}")
	}
	before := n.Set()
	_, err := n.Apply(t.Context(), "ada", program("p"), registry.Options{Host: host})
	n.refused(before, err, `the server's configuration declares no program "wordcount"`)
	if _, err := n.Publish(t.Context(), program("p"), host); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Apply(t.Context(), "ada", program("q"), registry.Options{}); err != nil {
		t.Error(err)
	}
	n.tells("2: Provider/p@1 Provider/q@2")
}

// Where no server runs its programs are not known.
func TestAnyProgramMayBeNamedWhereTheyAreNotKnown(t *testing.T) {
	n := newNode(t)
	offline := open(t, n.store, n.store, registry.Host{AnyProgram: true})
	offline.apply("kind: Provider\nname: p\nspec: {type: command, program: wordcount}", registry.Options{})
	doc := n.again().Set().Documents[0]
	for _, declared := range []bool{true, false} {
		state, reasons := registry.Readiness(doc, registry.Refs{HasProgram: func(name registry.Name) bool { return declared && name == "wordcount" }})
		if (state == registry.Ready) != declared || (len(reasons) == 0) != declared {
			t.Errorf("declared %v: state %s, reasons %q", declared, state, reasons)
		}
	}
}

// What was wrong before with what is not touched is no reason to refuse a
// change: a key can be revoked though a program has gone.
func TestAnOldFaultRefusesNoOtherChange(t *testing.T) {
	n := newNode(t)
	before := open(t, n.store, n.store, host)
	before.apply(base+"---\nkind: Provider\nname: gone\nspec: {type: command, program: wordcount}\n", registry.Options{})
	now := n.again() // without the program
	if _, err := now.Edit(t.Context(), "ada", registry.ID{Kind: registry.KindRemoteClient, Name: "r"}, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys[0].Revoked = true
		return doc, nil
	}); err != nil {
		t.Errorf("revoking a key: %v", err)
	}
	set := now.Set()
	_, err := now.Apply(t.Context(), "ada", decode(t, "kind: Provider\nname: gone\nspec: {type: command, program: wordcount, zone: public}"), registry.Options{})
	now.refused(set, err, "Provider/gone: spec.program: the server's configuration declares no program")
	_, err = now.Apply(t.Context(), "ada", decode(t, "kind: Provider\nname: new\nspec: {type: command, program: wordcount}"), registry.Options{})
	now.refused(set, err, "Provider/new: spec.program")
}
