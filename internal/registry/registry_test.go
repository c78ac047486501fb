package registry_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// node is a registry over a real store.
type node struct {
	*testing.T
	*registry.Registry
	store *sqlite.Store
	log   *bytes.Buffer
}

func newNode(t *testing.T) *node {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Config{Sync: sqlite.Off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return open(t, store, store, registry.Host{})
}

// open opens a registry over a store, through something that may stand between.
func open(t *testing.T, store *sqlite.Store, through registry.Store, host registry.Host) *node {
	t.Helper()
	n := &node{T: t, store: store, log: new(bytes.Buffer)}
	var err error
	n.Registry, err = registry.Open(t.Context(), through, registry.Config{
		Host: host, Now: func() time.Time { return noon }, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// again is another registry over the same store: after a start, or of another
// node.
func (n *node) again() *node {
	n.Helper()
	return open(n.T, n.store, n.store, registry.Host{})
}

// apply applies a text that must be accepted.
func (n *node) apply(text string, opts registry.Options) registry.Plan {
	n.Helper()
	plan, err := n.Apply(n.Context(), "ada", decode(n.T, text), opts)
	if err != nil {
		n.Fatalf("Apply() error = %v", err)
	}
	return plan
}

// refused makes sure that an error is problems with these words, and that
// nothing was changed.
func (n *node) refused(before registry.Set, err error, want string) {
	n.Helper()
	var problems registry.Problems
	if !errors.As(err, &problems) || !strings.Contains(err.Error(), want) {
		n.Errorf("error = %v, want problems with %q", err, want)
	}
	n.same(before, n.Set())
	n.same(before, n.again().Set())
}

func (n *node) same(want, got registry.Set) {
	n.Helper()
	sameWords := cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(registry.Document{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[error]() }, sameWords)); diff != "" {
		n.Errorf("registered (-want +got):\n%s", diff)
	}
}

// told is what is registered, in a line.
func told(set registry.Set) string {
	line := fmt.Sprintf("%d:", set.Revision)
	for _, doc := range set.Documents {
		line += fmt.Sprintf(" %s@%d", doc.ID(), doc.Generation)
	}
	return line
}

func (n *node) tells(want string) {
	n.Helper()
	for _, set := range []registry.Set{n.Set(), n.again().Set()} {
		if got := told(set); got != want {
			n.Errorf("registered is %s, want %s", got, want)
		}
	}
}

func (n *node) audit() []audit.Entry {
	n.Helper()
	recorded, err := n.store.Audit(n.Context(), audit.Query{Limit: 1000})
	if err != nil {
		n.Fatal(err)
	}
	var entries []audit.Entry
	for _, one := range recorded.Entries { // newest first
		entries = append([]audit.Entry{one.Entry}, entries...)
	}
	return entries
}

// between stands before a store.
type between struct {
	registry.Store
	commit func(ctx context.Context, plan registry.Plan, effects work.Effects) error
}

func (b between) Commit(ctx context.Context, plan registry.Plan, effects work.Effects) error {
	return b.commit(ctx, plan, effects)
}

func hashOf(doc registry.Document) string {
	sum := sha256.Sum256(registry.EncodeJSON(doc))
	return hex.EncodeToString(sum[:])
}

// secret is a document that needs no other.
func secret(name string) string { return "kind: Secret\nname: " + name + "\n" }

func TestChangesAreStoredWithTheirEvidence(t *testing.T) {
	n := newNode(t)
	n.tells("0:")
	n.apply(base, registry.Options{})
	n.tells("1: Provider/p@1 Configuration/c@1 Agent/a@1 RemoteClient/r@1")
	before := n.Set().Documents

	n.apply("kind: Configuration\nname: c\nspec: {provider: p, systemPrompt: marker}", registry.Options{
		Delete: []registry.ID{{Kind: registry.KindRemoteClient, Name: "r"}, {Kind: registry.KindAgent, Name: "never"}},
	})
	n.tells("2: Provider/p@1 Configuration/c@2 Agent/a@1")
	n.same(n.Set(), n.again().Set())

	entry := func(operation string, doc registry.Document) audit.Entry {
		return audit.Entry{At: noon, Who: "ada", Operation: operation, Party: doc.ID().String(), Outcome: audit.Done, Hash: hashOf(doc)}
	}
	want := []audit.Entry{
		entry("apply", before[0]), entry("apply", before[1]), entry("apply", before[2]), entry("apply", before[3]),
		entry("apply", n.Set().Documents[1]), entry("delete", before[3]),
	}
	if diff := cmp.Diff(want, n.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestWhatChangesNothingLeavesNothing(t *testing.T) {
	n := newNode(t)
	n.apply(base, registry.Options{})
	entries := len(n.audit())
	n.Watch(func(set registry.Set) {
		if set.Revision != 1 {
			t.Errorf("a watcher was told of revision %d", set.Revision)
		}
	})
	if plan := n.apply(base, registry.Options{Prune: true}); plan.Changed() || len(plan.Changes) != 4 {
		t.Errorf("the same documents again: %s", tell(plan))
	}
	plan, err := n.Plan(t.Context(), decode(t, secret("s")), registry.Options{})
	if err != nil || !plan.Changed() || plan.Revision != 2 {
		t.Errorf("Plan() = %s, %v", tell(plan), err)
	}
	n.tells("1: Provider/p@1 Configuration/c@1 Agent/a@1 RemoteClient/r@1")
	if got := len(n.audit()); got != entries {
		t.Errorf("%d audit entries after nothing was changed, want %d", got, entries)
	}
}

func TestWhatIsWrongIsRefused(t *testing.T) {
	n := newNode(t)
	n.apply(base, registry.Options{})
	before := n.Set()
	_, err := n.Apply(t.Context(), "ada", nil, registry.Options{Delete: []registry.ID{{Kind: registry.KindProvider, Name: "p"}}})
	n.refused(before, err, `needs Provider/p, which would be gone`)
	for _, author := range []string{"", "a\nb", "a\x00", strings.Repeat("a", 257)} {
		if _, err := n.Apply(t.Context(), author, decode(t, secret("s")), registry.Options{}); err == nil {
			t.Errorf("Apply() by %q succeeded", author)
		}
	}
	n.same(before, n.again().Set())
}

func TestThereAreSoManyDocumentsAndNoMore(t *testing.T) {
	var set registry.Set
	for i := range 10_000 {
		set.Documents = append(set.Documents, registry.Document{Kind: registry.KindSecret, Name: registry.Name(fmt.Sprint("s", i)), Spec: new(registry.Secret)})
	}
	if _, err := registry.NewPlan(set, decode(t, secret("s9")), registry.Options{}); err != nil {
		t.Errorf("NewPlan() of as many as there may be: %v", err)
	}
	if _, err := registry.NewPlan(set, decode(t, secret("more")), registry.Options{}); err == nil || !strings.Contains(err.Error(), "more than 10000 documents") {
		t.Errorf("NewPlan() of one more: %v", err)
	}
}

func TestTheStoreFails(t *testing.T) {
	n := newNode(t)
	broken := errors.New("broken")
	faulty := open(t, n.store, between{n.store, func(context.Context, registry.Plan, work.Effects) error { return broken }}, registry.Host{})
	if _, err := faulty.Apply(t.Context(), "ada", decode(t, secret("s")), registry.Options{}); !errors.Is(err, broken) {
		t.Errorf("Apply() error = %v, want that of the store", err)
	}
	faulty.tells("0:")
	n.store.Close()
	if _, err := registry.Open(t.Context(), n.store, registry.Config{}); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Open() error = %v, want that of the store", err)
	}
	if err := n.Refresh(t.Context()); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Refresh() error = %v, want that of the store", err)
	}
}

// A commit that fails may be stored all the same, and then it counts.
func TestWhatIsStoredIsTold(t *testing.T) {
	n := newNode(t)
	lost := errors.New("the answer was lost")
	ctx, cancel := context.WithCancel(t.Context())
	faulty := open(t, n.store, between{n.store, func(ctx context.Context, plan registry.Plan, effects work.Effects) error {
		cancel()
		return errors.Join(n.store.Commit(ctx, plan, effects), lost)
	}}, registry.Host{})
	var told watched
	faulty.Watch(told.told)
	if _, err := faulty.Apply(ctx, "ada", decode(t, secret("s")), registry.Options{}); !errors.Is(err, lost) {
		t.Errorf("Apply() error = %v, want that of the store", err)
	}
	faulty.tells("1: Secret/s@1")
	told.want(t, "0:", "1: Secret/s@1")
}

func TestEditsAreOfADocumentAsItIs(t *testing.T) {
	n := newNode(t)
	n.apply(base, registry.Options{})
	id := registry.ID{Kind: registry.KindRemoteClient, Name: "r"}
	before := n.Set()

	// What was changed and not returned changes nothing.
	broken := errors.New("broken")
	_, err := n.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys[0].Revoked = true
		return doc, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("Edit() error = %v, want that of the function", err)
	}
	n.same(before, n.Set())

	// A time of another zone is afterwards what the store gives back, in UTC, so
	// that a document equals itself.
	ends := noon.In(time.FixedZone("", 3600)).Add(time.Hour)
	plan, err := n.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		keys := &doc.Spec.(*registry.RemoteClient).Credentials.APIKeys
		(*keys)[0].NotAfter = ends
		return doc, nil
	})
	if err != nil || plan.Revision != 2 {
		t.Fatalf("Edit() = revision %d, %v", plan.Revision, err)
	}

	// What is told of an edit is stored with it, and only then.
	told := audit.Entry{Who: "ada", Operation: "key revoke", Outcome: audit.Done, KeyID: "k"}
	revoke := func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys[0].Revoked = true
		return doc, nil
	}
	for range 2 { // the second time there is nothing to be changed
		if _, err := n.Edit(t.Context(), "ada", id, revoke, told); err != nil {
			t.Fatal(err)
		}
	}
	failing := open(t, n.store, between{n.store, func(context.Context, registry.Plan, work.Effects) error { return broken }}, registry.Host{})
	if _, err := failing.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys = nil
		return doc, nil
	}, told); !errors.Is(err, broken) {
		t.Errorf("Edit() error = %v, want that of the store", err)
	}
	entries := n.audit()
	var operations []string
	for _, e := range entries[len(entries)-3:] {
		operations = append(operations, e.Operation+" "+e.KeyID)
	}
	if diff := cmp.Diff([]string{"apply ", "key revoke k", "apply "}, operations); diff != "" {
		t.Errorf("the audit ends with (-want +got):\n%s", diff)
	}
	n.same(n.Set(), n.again().Set())
	if again, err := n.Plan(t.Context(), n.Set().Documents, registry.Options{}); err != nil || again.Changed() {
		t.Errorf("what is registered is a change of itself: %s, %v", tell(again), err)
	}

	// Unlike with Apply, keys that are left out are gone.
	if _, err := n.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Credentials.APIKeys = nil
		return doc, nil
	}); err != nil {
		t.Fatal(err)
	}
	doc, _ := n.Set().Document(id)
	if keys := doc.Spec.(*registry.RemoteClient).Credentials.APIKeys; keys != nil {
		t.Errorf("%d keys are left", len(keys))
	}

	_, err = n.Edit(t.Context(), "ada", registry.ID{Kind: registry.KindAgent, Name: "never"}, nil)
	if !errors.Is(err, registry.ErrNotFound) {
		t.Errorf("Edit() of nothing: %v, want ErrNotFound", err)
	}
	if _, found := n.Set().Document(registry.ID{Kind: registry.KindAgent, Name: "never"}); found {
		t.Error("Document() found nothing")
	}
	before = n.Set()
	if _, err := n.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		doc.Name = "other"
		return doc, nil
	}); err == nil {
		t.Error("Edit() gave a document another name")
	}
	_, err = n.Edit(t.Context(), "ada", id, func(doc registry.Document) (registry.Document, error) {
		doc.Spec.(*registry.RemoteClient).Skills = []registry.SkillRef{"a/never"}
		return doc, nil
	})
	n.refused(before, err, `agent a has no skill "never"`)
}

// Who was not quick enough plans again, upon what the other made.
func TestAConflictIsPlannedAgain(t *testing.T) {
	n := newNode(t)
	n.apply(base, registry.Options{})
	id := registry.ID{Kind: registry.KindConfiguration, Name: "c"}
	prompt := func(add string) func(registry.Document) (registry.Document, error) {
		return func(doc registry.Document) (registry.Document, error) {
			doc.Spec.(*registry.Configuration).SystemPrompt += add
			return doc, nil
		}
	}
	first := true
	slow := open(t, n.store, between{n.store, func(ctx context.Context, plan registry.Plan, effects work.Effects) error {
		if first {
			first = false
			if _, err := n.Edit(ctx, "bob", id, prompt(" Be quick.")); err != nil {
				return err
			}
		}
		return n.store.Commit(ctx, plan, effects)
	}}, registry.Host{})
	var revisions []int64
	slow.Watch(func(set registry.Set) { revisions = append(revisions, set.Revision) })
	plan, err := slow.Edit(t.Context(), "ada", id, prompt(" Be kind."))
	if err != nil || plan.Base != 2 || plan.Revision != 3 {
		t.Fatalf("Edit() = %d → %d, %v, want 2 → 3", plan.Base, plan.Revision, err)
	}
	doc, _ := slow.Set().Document(id)
	if got := doc.Spec.(*registry.Configuration).SystemPrompt; got != "Be brief. Be quick. Be kind." {
		t.Errorf("the prompt is %q", got)
	}
	if diff := cmp.Diff([]int64{1, 2, 3}, revisions); diff != "" {
		t.Errorf("revisions that were told (-want +got):\n%s", diff)
	}
}

func TestConflictsWithoutEndAreGivenUp(t *testing.T) {
	n := newNode(t)
	tries := 0
	unlucky := open(t, n.store, between{n.store, func(context.Context, registry.Plan, work.Effects) error {
		tries++
		n.apply(secret(fmt.Sprint("s", tries)), registry.Options{})
		return registry.ErrConflict
	}}, registry.Host{})
	_, err := unlucky.Apply(t.Context(), "ada", decode(t, secret("mine")), registry.Options{})
	if !errors.Is(err, registry.ErrConflict) || tries != 4 {
		t.Errorf("Apply() error = %v after %d tries, want ErrConflict after 4", err, tries)
	}
	unlucky.tells("4: Secret/s1@1 Secret/s2@2 Secret/s3@3 Secret/s4@4")
}

// keyed adds a key to a remote client.
func keyed(id string) func(registry.Document) (registry.Document, error) {
	return func(doc registry.Document) (registry.Document, error) {
		keys := &doc.Spec.(*registry.RemoteClient).Credentials.APIKeys
		sum := sha256.Sum256([]byte(id))
		*keys = append(*keys, registry.APIKey{ID: registry.KeyID(id), SHA256: registry.SHA256(hex.EncodeToString(sum[:]))})
		return doc, nil
	}
}

// Many change the same document and documents of their own at once, on two
// nodes: no change is lost, and each node is told of each revision it meets once
// and in order.
func TestNoChangeIsLost(t *testing.T) {
	n := newNode(t)
	n.apply(base+"---\nkind: RemoteClient\nname: many\nspec: {}\n", registry.Options{})
	id := registry.ID{Kind: registry.KindRemoteClient, Name: "many"}
	nodes := []*node{n, n.again()}
	revisions := make([][]int64, len(nodes))
	for i, one := range nodes {
		one.Watch(func(set registry.Set) { revisions[i] = append(revisions[i], set.Revision) })
	}
	untilDone := func(change func() error) {
		for {
			err := change()
			if err == nil {
				return
			}
			if !errors.Is(err, registry.ErrConflict) {
				t.Error(err)
				return
			}
		}
	}
	const callers = 16
	var all sync.WaitGroup
	for i := range callers {
		one := nodes[i%len(nodes)]
		all.Go(func() {
			untilDone(func() error {
				_, err := one.Edit(t.Context(), "ada", id, keyed(fmt.Sprintf("key%d", i)))
				return err
			})
			docs, err := registry.Decode("", []byte(secret(fmt.Sprint("s", i))))
			if err != nil {
				t.Error(err)
				return
			}
			untilDone(func() error {
				_, err := one.Apply(t.Context(), "ada", docs, registry.Options{})
				return err
			})
		})
	}
	all.Wait()
	const last = 1 + 2*callers
	for i, one := range nodes {
		if err := one.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		set := one.Set()
		doc, _ := set.Document(id)
		if keys := doc.Spec.(*registry.RemoteClient).Credentials.APIKeys; len(keys) != callers || len(set.Documents) != 5+callers || set.Revision != last {
			t.Errorf("%d keys and %d documents at revision %d, want %d, %d and %d", len(keys), len(set.Documents), set.Revision, callers, 5+callers, last)
		}
		for j := 1; j < len(revisions[i]); j++ {
			if revisions[i][j] <= revisions[i][j-1] {
				t.Errorf("revisions were told out of order: %v", revisions[i])
			}
		}
		if got := revisions[i][len(revisions[i])-1]; got != last {
			t.Errorf("the last revision that was told is %d, want %d", got, last)
		}
	}
	if got := len(n.audit()); got != 5+2*callers {
		t.Errorf("%d audit entries, want %d", got, 5+2*callers)
	}
}

// A change that is on its way is finished, whatever becomes of who asked for it.
func TestAChangeThatHasBegunIsFinished(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	hasty := open(t, n.store, between{n.store, func(ctx context.Context, plan registry.Plan, effects work.Effects) error {
		cancel()
		return n.store.Commit(ctx, plan, effects)
	}}, registry.Host{})
	if _, err := hasty.Apply(ctx, "ada", decode(t, secret("s")), registry.Options{}); err != nil {
		t.Errorf("Apply() error = %v", err)
	}
	hasty.tells("1: Secret/s@1")
	if _, err := hasty.Apply(ctx, "ada", decode(t, secret("t")), registry.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply() of a caller who has gone: %v", err)
	}
	if _, err := hasty.Plan(ctx, nil, registry.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Plan() of a caller who has gone: %v", err)
	}
	hasty.tells("1: Secret/s@1")
}

// Who waits for another's change waits no longer than it may.
func TestWaitingForAnothersChangeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		ctx, cancel := context.WithCancel(t.Context())
		var slow *node
		slow = open(t, n.store, between{n.store, func(context.Context, registry.Plan, work.Effects) error {
			waited := make(chan error, 1)
			go func() { waited <- slow.Refresh(ctx) }()
			synctest.Wait()
			cancel()
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Errorf("Refresh() error = %v, want that of the context", err)
			}
			return nil
		}}, registry.Host{})
		slow.apply(secret("s"), registry.Options{})
	})
}
