package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

const registered = `
kind: RemoteClient
name: partner
spec:
  enabled: true
  skills: [desk/one]
  credentials:
    apiKeys: [{id: k1, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, notAfter: 2027-01-31T12:00:00Z}]
---
kind: Agent
name: desk
spec:
  card: {description: "Ünïcode, \"quotes\" and\nlines"}
  skills: [{id: one, configuration: brief, description: first}]
---
kind: Configuration
name: brief
spec: {provider: local, systemPrompt: Be brief.}
---
kind: Provider
name: local
spec: {type: echo}
---
kind: Provider
name: another
spec: {type: echo}
`

var registryTests = map[string]func(*fixture){
	"an empty registry has revision 0": func(f *fixture) {
		f.registers(registry.Set{})
		f.reopen()
		f.registers(registry.Set{})
	},

	"what was committed is there, in order of kind and name": func(f *fixture) {
		plan := f.commit(f.planned(registered, registry.Options{}))
		f.registers(plan.Set())
		f.crash()
		f.registers(plan.Set())
		if diff := cmp.Diff("1: Provider/another@1 Provider/local@1 Configuration/brief@1 Agent/desk@1 RemoteClient/partner@1", f.told()); diff != "" {
			f.Errorf("(-want +got):\n%s", diff)
		}
	},

	"documents are changed, deleted and left alone": func(f *fixture) {
		f.commit(f.planned(registered, registry.Options{}))
		plan := f.commit(f.planned("kind: Provider\nname: local\nspec: {type: echo, zone: public}\n---\nkind: Configuration\nname: brief\nspec: {provider: local, dataClass: public}",
			registry.Options{Delete: []registry.ID{{Kind: registry.KindProvider, Name: "another"}}}))
		f.crash()
		f.registers(plan.Set())
		if diff := cmp.Diff("2: Provider/local@2 Configuration/brief@2 Agent/desk@1 RemoteClient/partner@1", f.told()); diff != "" {
			f.Errorf("(-want +got):\n%s", diff)
		}
	},

	"the revision only rises, over deletion and opening anew as well": func(f *fixture) {
		const one = "kind: Secret\nname: s"
		all := registry.Options{Prune: true}
		f.commit(f.planned(one, all))
		f.commit(f.planned("", all))
		f.reopen()
		f.registers(registry.Set{Revision: 2})
		f.commit(f.planned(one, all))
		if got := f.told(); got != "3: Secret/s@3" {
			f.Errorf("registered is %s", got)
		}
	},

	"a plan of another revision is refused, whole": func(f *fixture) {
		record, fence := f.working(alice)
		f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		early := f.planned("kind: Secret\nname: early", registry.Options{})
		f.commit(f.planned("kind: Secret\nname: s", registry.Options{}))
		late := f.planned("kind: Secret\nname: late", registry.Options{})
		late.Base, late.Revision = 2, 3
		effects := work.Effects{
			Wake:  []work.Key{runOf(record.ID)},
			Audit: []audit.Entry{{Who: "ada", Operation: "apply", Outcome: audit.Done}},
		}
		for _, plan := range []registry.Plan{early, late} {
			f.fails("Commit()", f.store.Commit(f.ctx(), plan, effects), registry.ErrConflict)
		}
		if got := f.told(); got != "1: Secret/s@1" {
			f.Errorf("registered is %s", got)
		}
		if got := f.audit(audit.Query{Limit: 1}); len(got) != 0 {
			f.Errorf("the audit has %v", got)
		}
		f.claimNone()
	},

	"effects are committed with the plan": func(f *fixture) {
		record, fence := f.working(alice)
		f.append(fence, f.status(record, a2a.TaskStateWorking, task.Suspend))
		effects := work.Effects{
			Wake:  []work.Key{runOf(record.ID)},
			Audit: []audit.Entry{{Who: "ada", Operation: "apply", Party: "Secret/s", Outcome: audit.Done}},
		}
		if err := f.store.Commit(f.ctx(), f.planned("kind: Secret\nname: s", registry.Options{}), effects); err != nil {
			f.Fatal(err)
		}
		f.claimOne(record.ID)
		got := f.audit(audit.Query{Limit: 10})
		if len(got) != 1 || got[0].Party != "Secret/s" || !got[0].At.Equal(f.clock.Now()) {
			f.Errorf("the audit has %+v, want the entry of the plan", got)
		}
	},

	"a plan whose evidence cannot be kept changes nothing": func(f *fixture) {
		plan := f.planned(registered, registry.Options{})
		if err := f.store.Commit(f.ctx(), plan, work.Effects{Audit: []audit.Entry{{Operation: "apply"}}}); err == nil {
			f.Error("Commit() with an entry without an outcome succeeded")
		}
		f.registers(registry.Set{})
		f.commit(plan)
	},

	"one of many plans of the same revision succeeds": func(f *fixture) {
		var committed, refused atomic.Int64
		var all sync.WaitGroup
		var plans []registry.Plan
		for i := range 16 {
			plans = append(plans, f.planned("kind: Secret\nname: "+numbered("s", i), registry.Options{}))
		}
		for _, plan := range plans {
			all.Go(func() {
				switch err := f.store.Commit(f.ctx(), plan, none); {
				case err == nil:
					committed.Add(1)
				case errors.Is(err, registry.ErrConflict):
					refused.Add(1)
				default:
					f.Errorf("Commit() error = %v", err)
				}
			})
		}
		all.Wait()
		if set := f.registry(); committed.Load() != 1 || refused.Load() != 15 || set.Revision != 1 || len(set.Documents) != 1 {
			f.Errorf("%d committed and %d refused, and then %s, want 1 and 15", committed.Load(), refused.Load(), f.told())
		}
	},

	"a plan that does not raise the revision is refused": func(f *fixture) {
		plan := f.planned("kind: Secret\nname: s", registry.Options{})
		for _, revision := range []int64{-1, 0} {
			plan.Revision = revision
			if err := f.store.Commit(f.ctx(), plan, none); err == nil {
				f.Errorf("Commit() of revision %d after 0 succeeded", revision)
			}
		}
		f.registers(registry.Set{})
	},

	"what the command line published is remembered": func(f *fixture) {
		f.commit(f.planned("kind: Secret\nname: s", registry.Options{}))
		published, err := registry.Open(f.ctx(), f.store, registry.Config{})
		if err != nil {
			f.Fatal(err)
		}
		docs := f.decode("kind: Provider\nname: p\nspec: {type: echo}\n---\nkind: Provider\nname: q\nspec: {type: echo}")
		if _, err := published.Publish(f.ctx(), docs, registry.Host{}); err != nil {
			f.Fatal(err)
		}
		f.crash()
		if got := f.told(); got != "2: Secret/s@1 Provider/p@2(published) Provider/q@2(published)" {
			f.Errorf("registered is %s", got)
		}
		f.commit(f.planned("kind: Secret\nname: t", registry.Options{}))
		if got := f.told(); got != "3: Secret/s@1 Secret/t@3 Provider/p@2(published) Provider/q@2(published)" {
			f.Errorf("registered is %s", got)
		}
	},

	"a document that cannot be read is kept, byte for byte, until it is replaced or deleted": func(f *fixture) {
		// Of a kind that this version does not know, and of one whose text is
		// not its own.
		doc := f.decode("kind: Secret\nname: s")[0]
		doc.Generation = 1
		unknown, damaged := registry.ID{Kind: "Policy", Name: "p"}, registry.ID{Kind: registry.KindProvider, Name: "p"}
		f.commit(registry.Plan{Revision: 1, Changes: []registry.Change{
			{ID: doc.ID(), Action: registry.Create, After: &doc},
			{ID: unknown, Action: registry.Create, After: &doc},
			{ID: damaged, Action: registry.Create, After: &doc},
		}})
		f.commit(f.planned("kind: Secret\nname: t", registry.Options{Prune: true}))
		f.crash()
		set := f.registry()
		if got := f.told(); got != "2: Secret/t@2 Policy/p@1(unreadable) Provider/p@1(unreadable)" {
			f.Errorf("registered is %s", got)
		}
		for _, one := range set.Unreadable {
			if string(one.Text) != string(registry.EncodeJSON(doc)) || one.Err == nil {
				f.Errorf("%s = %q, %v, want what was written and why it cannot be read", one.ID, one.Text, one.Err)
			}
		}
		f.commit(f.planned("kind: Provider\nname: p\nspec: {type: echo}", registry.Options{Delete: []registry.ID{unknown}}))
		if got := f.told(); got != "3: Secret/t@2 Provider/p@3" {
			f.Errorf("registered is %s", got)
		}
	},

	"two thousand documents": func(f *fixture) {
		var text strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&text, "{\"kind\":\"Provider\",\"name\":%q,\"spec\":{\"type\":\"openai\",\"baseURL\":\"https://p%d.example/v1\"}}\n", numbered("p", i), i)
		}
		plan := f.commit(f.planned(text.String(), registry.Options{}))
		f.reopen()
		f.registers(plan.Set())
		plan = f.commit(f.planned("", registry.Options{Prune: true}))
		f.registers(plan.Set())
	},
}

// planned plans a change of what is registered now.
func (f *fixture) planned(text string, opts registry.Options) registry.Plan {
	f.Helper()
	plan, err := registry.NewPlan(f.registry(), f.decode(text), opts)
	if err != nil {
		f.Fatalf("NewPlan() error = %v", err)
	}
	return plan
}

func (f *fixture) decode(text string) []registry.Document {
	f.Helper()
	docs, err := registry.Decode("", []byte(text))
	if err != nil {
		f.Fatalf("Decode() error = %v", err)
	}
	return docs
}

// commit carries out a plan that must be accepted.
func (f *fixture) commit(plan registry.Plan) registry.Plan {
	f.Helper()
	if err := f.store.Commit(f.ctx(), plan, none); err != nil {
		f.Fatalf("Commit() error = %v", err)
	}
	return plan
}

func (f *fixture) registry() registry.Set {
	f.Helper()
	set, err := f.store.Registry(f.ctx())
	if err != nil {
		f.Fatalf("Registry() error = %v", err)
	}
	return set
}

// registers makes sure that this is what is registered, as nobody's text.
func (f *fixture) registers(want registry.Set) {
	f.Helper()
	if diff := cmp.Diff(want, f.registry(), cmpopts.IgnoreUnexported(registry.Document{})); diff != "" {
		f.Errorf("registered (-want +got):\n%s", diff)
	}
}

// told is what is registered, in a line.
func (f *fixture) told() string {
	f.Helper()
	set := f.registry()
	line := fmt.Sprintf("%d:", set.Revision)
	for _, doc := range set.Documents {
		line += fmt.Sprintf(" %s@%d", doc.ID(), doc.Generation)
		if doc.Published {
			line += "(published)"
		}
	}
	for _, doc := range set.Unreadable {
		line += fmt.Sprintf(" %s@%d(unreadable)", doc.ID, doc.Generation)
	}
	return line
}
