package registry

import (
	"fmt"
	"slices"
)

// planner makes a plan of what is registered and what is desired.
type planner struct {
	current Set
	opts    Options

	was     map[ID]Document
	unread  map[ID]Unreadable
	remove  map[ID]bool
	desired map[ID]bool

	changes []Change
	future  []Document // all there will be
	left    []Unreadable
	wrong   Problems
}

func newPlanner(current Set, opts Options) *planner {
	p := &planner{
		current: current, opts: opts,
		was: make(map[ID]Document, len(current.Documents)), unread: make(map[ID]Unreadable),
		remove: make(map[ID]bool), desired: make(map[ID]bool),
	}
	for _, doc := range current.Documents {
		p.was[doc.ID()] = doc
	}
	for _, doc := range current.Unreadable {
		p.unread[doc.ID] = doc
	}
	for _, id := range opts.Delete {
		p.remove[id] = true
	}
	return p
}

// desire takes a document that is to be.
func (p *planner) desire(doc Document) {
	id := doc.ID()
	before, found := p.was[id]
	broken, unread := p.unread[id]
	if found || unread {
		p.owned(id, doc.Source, before.Published || broken.Published)
	}
	doc = normal(doc)
	if !p.opts.whole {
		doc = keepKeys(before, doc)
	}
	doc.Published = p.opts.publish
	change := Change{ID: id, Action: Create, After: &doc}
	switch {
	case p.desired[id]: // resolve tells that it was given twice
	case found && before.Equal(doc):
		doc.Generation = before.Generation
		change.Action, change.Before = Unchanged, &before
	case found:
		change.Action, change.Before = Update, &before
	case unread:
		change.Action, change.unread = Update, broken.Text
	}
	p.desired[id] = true
	p.changes = append(p.changes, change)
	p.future = append(p.future, doc)
}

// keep decides about a document that is registered.
func (p *planner) keep(doc Document) {
	id := doc.ID()
	switch {
	case p.desired[id]:
	case p.remove[id], p.opts.Prune && doc.Published == p.opts.publish:
		p.owned(id, Source{}, doc.Published)
		p.changes = append(p.changes, Change{ID: id, Action: Delete, Before: &doc})
	default:
		p.changes = append(p.changes, Change{ID: id, Action: Unchanged, Before: &doc, After: &doc})
		p.future = append(p.future, doc)
	}
}

// keepUnreadable decides about one that cannot be read. Only the command line
// prunes what it published itself.
func (p *planner) keepUnreadable(doc Unreadable) {
	switch {
	case p.desired[doc.ID]:
	case p.remove[doc.ID], p.opts.publish && doc.Published:
		p.owned(doc.ID, Source{}, doc.Published)
		p.changes = append(p.changes, Change{ID: doc.ID, Action: Delete, unread: doc.Text})
	default:
		p.left = append(p.left, doc)
	}
}

// owned reports a registered document that is not for this change to touch.
func (p *planner) owned(id ID, at Source, published bool) {
	problem := Problem{Source: at, Document: id.String()}
	switch {
	case published == p.opts.publish:
		return
	case published:
		problem.Words, problem.Next = "was published on the command line (--publish)", "change it there"
	default:
		problem.Words, problem.Next = "is registered already, and not by the command line", "publish under another name, or delete the document first"
	}
	p.wrong = append(p.wrong, problem)
}

// plan checks all there will be, and returns the plan.
func (p *planner) plan() (Plan, error) {
	if err := p.problems().err(); err != nil {
		return Plan{}, err
	}
	slices.SortFunc(p.changes, func(a, b Change) int { return a.ID.Compare(b.ID) })
	plan := Plan{Base: p.current.Revision, Revision: p.current.Revision, Changes: p.changes, Unreadable: p.left}
	if plan.Changed() {
		plan.Revision++
	}
	for i, change := range plan.Changes {
		if change.Action == Create || change.Action == Update {
			change.After.Generation = plan.Revision
		}
		if change.Action == Update && change.Before != nil {
			plan.Changes[i].Fields = Differences(*change.Before, *change.After)
		}
	}
	return plan, nil
}

func (p *planner) problems() Problems {
	gone := make(map[ID]bool)
	for _, change := range p.changes {
		if change.Action == Delete {
			gone[change.ID] = true
		}
	}
	wrong := append(p.wrong, resolve(p.future, p.left, gone, p.opts.Host)...)
	if len(p.future)+len(p.left) > maxRegistered && len(p.future)+len(p.left) > len(p.was)+len(p.unread) {
		wrong = append(wrong, Problem{Words: fmt.Sprintf("there would be more than %d documents", maxRegistered), Next: "delete some first"})
	}
	if len(wrong) == 0 {
		return nil
	}
	touched := make(map[string]bool)
	for _, change := range p.changes {
		touched[change.ID.String()] = change.Action != Unchanged || p.desired[change.ID]
	}
	// What was wrong before does not keep anybody from another change, such as
	// the revocation of a key, of the very document too.
	type fault struct{ document, path, words string }
	before := make(map[fault]bool)
	for _, one := range resolve(p.current.Documents, p.current.Unreadable, nil, p.opts.Host) {
		before[fault{one.Document, one.Path, one.Words}] = p.opts.whole || !touched[one.Document]
	}
	return slices.DeleteFunc(wrong, func(one Problem) bool {
		// A server must start though somebody uses what it publishes no more;
		// Faults tells of it. Who shall be at the root is another question.
		if p.opts.publish && !touched[one.Document] && one.Path != "spec.root" {
			return one.Document != ""
		}
		return before[fault{one.Document, one.Path, one.Words}]
	})
}

// normal is a document as the store will give it back, so that one that was made
// by hand equals itself when it is read again.
func normal(doc Document) Document {
	if doc.places != nil || doc.Check() != nil {
		return doc // it was read, or it will be refused
	}
	same, err := doc.copied()
	if err != nil {
		return doc
	}
	same.Source = doc.Source
	return same
}

// keepKeys carries issued API keys over to a document that does not speak of
// them.
func keepKeys(before, doc Document) Document {
	old, _ := before.Spec.(*RemoteClient)
	client, _ := doc.Spec.(*RemoteClient)
	if old == nil || client == nil || client.Credentials.APIKeys != nil || old.Credentials.APIKeys == nil {
		return doc
	}
	kept := *client
	kept.Credentials.APIKeys = old.Credentials.APIKeys
	doc.Spec = &kept
	return doc
}
