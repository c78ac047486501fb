package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// maxRegistered is how many documents there may be.
const maxRegistered = 10_000

// Options tune a [Plan]. The zero value deletes nothing.
type Options struct {
	// Prune deletes the documents that are not among the desired ones, save
	// those that were published on the command line and those that cannot be
	// read.
	Prune bool

	// Delete are documents to delete, unless they are desired. Those that are
	// not there are ignored.
	Delete []ID

	// Host is what the server's own configuration declares. A [Registry] puts
	// its own in place of it.
	Host Host

	publish bool // by the command line
	whole   bool // the desired documents keep nothing that they do not speak of
}

// Plan is what a change would do, as data for the store: it carries out Changes
// and writes Facts down in one atomic change, and refuses if its own revision is
// not Base.
type Plan struct {
	// Base is the revision that the plan was made from; Revision the one it
	// leads to. They are the same if nothing changes.
	Base, Revision int64

	// Changes has every document that can be read or is changed, in order of
	// kind and name.
	Changes []Change

	// Unreadable are the documents that cannot be read and stay as they are.
	Unreadable []Unreadable
}

// NewPlan compares what is registered with what is desired, and checks all
// documents as they will be. If anything is wrong with them the error is
// [Problems] and nothing may be changed; what was wrong before, with a document
// that is not desired, is no reason. Documents that are not desired stay as they
// are, unless they are pruned or deleted. A remote client that is desired
// without apiKeys keeps the ones it has. Documents that were published on the
// command line are not changed.
func NewPlan(current Set, desired []Document, opts Options) (Plan, error) {
	p := newPlanner(current, opts)
	for _, doc := range desired {
		p.desire(doc)
	}
	for _, doc := range current.Documents {
		p.keep(doc)
	}
	for _, doc := range current.Unreadable {
		p.keepUnreadable(doc)
	}
	return p.plan()
}

// Changed reports whether the plan changes anything.
func (p Plan) Changed() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Action != Unchanged })
}

// Set returns what will be registered.
func (p Plan) Set() Set {
	after := Set{Revision: p.Revision, Unreadable: p.Unreadable}
	for _, change := range p.Changes {
		if change.After != nil {
			doc := *change.After
			doc.Source, doc.places = Source{}, nil // of a text that is gone
			after.Documents = append(after.Documents, doc)
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
		if change.unread != nil {
			fact.Before = digestOf(change.unread)
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
	return digestOf(EncodeJSON(*doc))
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
