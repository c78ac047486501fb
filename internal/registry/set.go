package registry

import (
	"errors"
	"slices"
)

// Set is what is registered. One that is in use is not changed.
type Set struct {
	// Revision counts the changes of the registry, from 0 for an empty one.
	Revision int64

	// Documents are in order of kind and name.
	Documents []Document

	// Unreadable are documents that the store keeps and this version cannot
	// read. They have no effect, though others may name them. They stay until
	// they are replaced or deleted.
	Unreadable []Unreadable
}

// Document returns a registered document.
func (s Set) Document(id ID) (Document, bool) {
	i := slices.IndexFunc(s.Documents, func(d Document) bool { return d.Kind == id.Kind && d.Name == id.Name })
	if i < 0 {
		return Document{}, false
	}
	return s.Documents[i], true
}

// Stored is a document as a store keeps it.
type Stored struct {
	ID         ID
	Generation int64
	Published  bool

	// Text is what [EncodeJSON] wrote.
	Text []byte
}

// Unreadable is a document that this version cannot read: a newer one wrote it,
// or its text was damaged.
type Unreadable struct {
	Stored

	// Err says why.
	Err error
}

// Restore makes a set of what a store keeps. What cannot be read is not lost and
// is no error: see [Set.Unreadable].
func Restore(revision int64, stored []Stored) Set {
	set := Set{Revision: revision}
	for _, one := range stored {
		doc, err := one.document()
		if err != nil {
			set.Unreadable = append(set.Unreadable, Unreadable{Stored: one, Err: err})
			continue
		}
		set.Documents = append(set.Documents, doc)
	}
	set.Documents = sorted(set.Documents)
	slices.SortFunc(set.Unreadable, func(a, b Unreadable) int { return a.ID.Compare(b.ID) })
	return set
}

func (s Stored) document() (Document, error) {
	docs, err := Decode("", s.Text)
	switch {
	case err != nil:
		return Document{}, err
	case len(docs) != 1 || docs[0].ID() != s.ID:
		return Document{}, errors.New("the text is not that of the document")
	}
	doc := docs[0]
	doc.Generation, doc.Published = s.Generation, s.Published
	doc.Source, doc.places = Source{}, nil // of a text that nobody wrote
	return doc, nil
}

// copied is a document of its own that says the same, as a store would give it
// back.
func (d Document) copied() (Document, error) {
	return Stored{ID: d.ID(), Generation: d.Generation, Published: d.Published, Text: EncodeJSON(d)}.document()
}
