package registry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
)

var lost = registry.ID{Kind: registry.KindProvider, Name: "lost"}

// newNodeWithout is a node with a document in its store that cannot be read:
// somebody put another's text in its place.
func newNodeWithout(t *testing.T) (*node, string) {
	t.Helper()
	n := newNode(t)
	n.apply(base, registry.Options{})
	doc := decode(t, "kind: Secret\nname: s\nspec: {description: marker}")[0]
	doc.Generation = 2
	plan := registry.Plan{Base: 1, Revision: 2, Changes: []registry.Change{{ID: lost, Action: registry.Create, After: &doc}}}
	if err := n.store.Commit(t.Context(), plan, work.Effects{}); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(registry.EncodeJSON(doc))
	return n.again(), hex.EncodeToString(sum[:])
}

func (n *node) unreadable(want ...registry.ID) {
	n.Helper()
	for _, one := range []*node{n, n.again()} {
		if diff := cmp.Diff(want, one.Unreadable()); diff != "" {
			n.Errorf("Unreadable() (-want +got):\n%s", diff)
		}
	}
}

func TestADocumentThatCannotBeReadStopsNothing(t *testing.T) {
	n, _ := newNodeWithout(t)
	n.unreadable(lost)
	n.tells("2: Provider/p@1 Configuration/c@1 Agent/a@1 RemoteClient/r@1")
	if log := n.log.String(); !strings.Contains(log, "kind=Provider name=lost") || strings.Contains(log, "marker") || strings.Count(log, "\n") != 1 {
		t.Errorf("log = %s", log)
	}

	// Others are changed, and may name it; pruning does not drop it.
	n.apply(base+"---\nkind: Configuration\nname: d\nspec: {provider: lost}\n", registry.Options{Prune: true})
	n.unreadable(lost)
	n.tells("3: Provider/p@1 Configuration/c@1 Configuration/d@3 Agent/a@1 RemoteClient/r@1")
	n.publish("kind: Provider\nname: q\nspec: {type: echo}")
	n.unreadable(lost)
	if got := strings.Count(n.log.String(), "\n"); got != 1 {
		t.Errorf("%d lines in the log, want that of the start", got)
	}

	// It cannot go while it is named.
	before := n.Set()
	_, err := n.Apply(t.Context(), "ada", nil, registry.Options{Delete: []registry.ID{lost}})
	n.refused(before, err, `Configuration/d: spec.provider: needs Provider/lost, which would be gone`)
	_, err = n.Edit(t.Context(), "ada", lost, nil)
	n.refused(before, err, "Provider/lost: cannot be read by this version of legation (apply the whole document, or delete it)")
}

func TestADocumentThatCannotBeReadIsDeleted(t *testing.T) {
	n, hash := newNodeWithout(t)
	plan := n.apply("", registry.Options{Delete: []registry.ID{lost}})
	if got := tell(plan); !strings.Contains(got, "delete Provider/lost 0 → 0\n") {
		t.Errorf("plan: %s", got)
	}
	n.unreadable()
	n.tells("3: Provider/p@1 Configuration/c@1 Agent/a@1 RemoteClient/r@1")
	if last := n.audit()[len(n.audit())-1]; last.Operation != "delete" || last.Party != "Provider/lost" || last.Hash != hash {
		t.Errorf("the audit has %+v, want the hash of what was there", last)
	}
}

func TestADocumentThatCannotBeReadIsReplaced(t *testing.T) {
	n, hash := newNodeWithout(t)
	plan := n.apply("kind: Provider\nname: lost\nspec: {type: echo}", registry.Options{})
	if got := tell(plan); !strings.Contains(got, "update Provider/lost 0 → 3\n") {
		t.Errorf("plan: %s", got)
	}
	if facts := plan.Facts("ada"); len(facts) != 1 || facts[0].Before != hash || facts[0].After == hash {
		t.Errorf("facts = %+v", facts)
	}
	n.unreadable()
	n.tells("3: Provider/lost@3 Provider/p@1 Configuration/c@1 Agent/a@1 RemoteClient/r@1")
}

// What the command line published goes with it, readable or not.
func TestAPublishedDocumentThatCannotBeReadIsThePublishers(t *testing.T) {
	set := registry.Restore(7, []registry.Stored{{ID: lost, Generation: 3, Published: true, Text: []byte("{")}})
	if len(set.Unreadable) != 1 || set.Unreadable[0].Err == nil || string(set.Unreadable[0].Text) != "{" {
		t.Fatalf("Restore() = %+v", set)
	}
	const words = "was published on the command line"
	_, err := registry.NewPlan(set, nil, registry.Options{Delete: []registry.ID{lost}})
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("deleting it: %v", err)
	}
	_, err = registry.NewPlan(set, decode(t, "kind: Provider\nname: lost\nspec: {type: echo}"), registry.Options{})
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("replacing it: %v", err)
	}
}
