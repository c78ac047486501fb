package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Set is what is registered.
type Set struct {
	// Revision counts the changes of the registry, from 0 for an empty one.
	Revision int64

	Documents []Document
}

// Options tune a [Plan]. The zero value deletes nothing.
type Options struct {
	// Prune deletes the documents that are not among the desired ones.
	Prune bool

	// Delete are documents to delete, unless they are desired. Those that are
	// not there are ignored.
	Delete []ID

	// Host is what the server's own configuration declares.
	Host Host
}

// Plan is what a change would do, as data for the store: it carries out Changes
// and writes Facts down in one atomic change, and refuses if its own revision is
// not Base.
type Plan struct {
	// Base is the revision that the plan was made from; Revision the one it
	// leads to. They are the same if nothing changes.
	Base, Revision int64

	// Changes has every document, changed or not, in order of kind and name.
	Changes []Change
}

// NewPlan compares what is registered with what is desired, and checks all
// documents as they will be. If anything is wrong with them the error is
// [Problems] and nothing may be changed. Documents that are not desired stay as
// they are, unless they are pruned or deleted. A remote client that is desired
// without apiKeys keeps the ones it has.
func NewPlan(current Set, desired []Document, opts Options) (Plan, error) {
	was := make(map[ID]Document)
	for _, doc := range current.Documents {
		was[doc.ID()] = doc
	}
	plan := Plan{Base: current.Revision, Revision: current.Revision}
	var future []Document
	wanted := make(map[ID]bool)
	for _, doc := range desired {
		before, found := was[doc.ID()]
		doc = keepKeys(before, doc)
		change := Change{ID: doc.ID(), Action: Create, After: &doc}
		switch {
		case wanted[doc.ID()]: // Resolve tells that it was given twice
		case found && before.Equal(doc):
			doc.Generation = before.Generation
			change.Action, change.Before = Unchanged, &before
		case found:
			change.Action, change.Before = Update, &before
		}
		wanted[doc.ID()] = true
		plan.Changes = append(plan.Changes, change)
		future = append(future, doc)
	}
	for _, doc := range current.Documents {
		switch {
		case wanted[doc.ID()]:
		case opts.Prune || slices.Contains(opts.Delete, doc.ID()):
			plan.Changes = append(plan.Changes, Change{ID: doc.ID(), Action: Delete, Before: &doc})
		default:
			plan.Changes = append(plan.Changes, Change{ID: doc.ID(), Action: Unchanged, Before: &doc, After: &doc})
			future = append(future, doc)
		}
	}
	if err := Resolve(future, opts.Host); err != nil {
		return Plan{}, err
	}
	slices.SortFunc(plan.Changes, func(a, b Change) int { return a.ID.Compare(b.ID) })
	if plan.Changed() {
		plan.Revision++
	}
	for i, change := range plan.Changes {
		if change.Action == Create || change.Action == Update {
			change.After.Generation = plan.Revision
		}
		if change.Action == Update {
			plan.Changes[i].Fields = Differences(*change.Before, *change.After)
		}
	}
	return plan, nil
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

// Changed reports whether the plan changes anything.
func (p Plan) Changed() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Unchanged })
}

// Set returns what will be registered.
func (p Plan) Set() Set {
	after := Set{Revision: p.Revision}
	for _, change := range p.Changes {
		if change.After != nil {
			after.Documents = append(after.Documents, *change.After)
		}
	}
	return after
}

// Fact is one change of the registry for the audit: what changed, never to what.
type Fact struct {
	Author string
	Action Action
	ID     ID

	// Revision is the registry's after the change.
	Revision int64

	// Paths are the fields that an update changes.
	Paths []string

	// Before and After are SHA-256 of the document in the form of
	// [EncodeJSON], in hexadecimal. Empty where there is no document.
	Before, After string
}

// Facts returns a fact for every document that the plan changes.
func (p Plan) Facts(author string) []Fact {
	var facts []Fact
	for _, change := range p.Changes {
		if change.Action == Unchanged {
			continue
		}
		fact := Fact{
			Author: author, Action: change.Action, ID: change.ID, Revision: p.Revision,
			Before: digest(change.Before), After: digest(change.After),
		}
		for _, f := range change.Fields {
			fact.Paths = append(fact.Paths, f.Path)
		}
		facts = append(facts, fact)
	}
	return facts
}

func digest(doc *Document) string {
	if doc == nil {
		return ""
	}
	sum := sha256.Sum256(EncodeJSON(*doc))
	return hex.EncodeToString(sum[:])
}
