package registry

import (
	"cmp"
	"reflect"
	"slices"
)

// Kind is the kind of a document.
type Kind string

// The kinds, in the order in which documents are listed.
const (
	KindSecret        Kind = "Secret"
	KindProvider      Kind = "Provider"
	KindConfiguration Kind = "Configuration"
	KindAgent         Kind = "Agent"
	KindRemoteClient  Kind = "RemoteClient"
	KindRemoteAgent   Kind = "RemoteAgent"
)

// Kinds returns every kind, in the order in which documents are listed.
func Kinds() []Kind {
	return []Kind{KindSecret, KindProvider, KindConfiguration, KindAgent, KindRemoteClient, KindRemoteAgent}
}

func (Kind) values() []string { return texts(Kinds()) }

// NewSpec returns an empty spec of a kind, or nil if there is no such kind.
func NewSpec(kind Kind) Spec {
	switch kind {
	case KindSecret:
		return new(Secret)
	case KindProvider:
		return new(Provider)
	case KindConfiguration:
		return new(Configuration)
	case KindAgent:
		return new(Agent)
	case KindRemoteClient:
		return new(RemoteClient)
	case KindRemoteAgent:
		return new(RemoteAgent)
	default:
		return nil
	}
}

// Spec is what a document says: one of [*Secret], [*Provider],
// [*Configuration], [*Agent], [*RemoteClient] and [*RemoteAgent]. A field at its
// zero value is one that the document leaves out; [Effective] fills in what
// applies then. A spec is not changed once its document is in use.
type Spec interface {
	// Kind returns the kind of the document.
	Kind() Kind

	// rules adds what is wrong with the spec by itself, beyond what the types
	// and tags of its fields say.
	rules(*reporter)
}

// Document is one registered resource.
type Document struct {
	Kind Kind
	Name Name
	Spec Spec

	// Generation is the revision of the registry that last changed the
	// document. It only rises, over deletion and creation anew as well. Zero
	// means that the document was never stored.
	Generation int64

	// Published says that the document was published on the command line of the
	// server, and is changed there: see [Registry.Publish].
	Published bool

	// Source is where the document was read. The zero value means that it was
	// not read from a text.
	Source Source

	places map[string]Source // of fields, by path
}

// Source is a place in a text that was read.
type Source struct {
	File         string
	Line, Column int // from 1
}

// ID names a document.
type ID struct {
	Kind Kind
	Name Name
}

// ID returns the document's identity.
func (d Document) ID() ID { return ID{d.Kind, d.Name} }

// String returns the id as it is told to people: "Provider/local", or the kind
// alone where there is no name.
func (id ID) String() string {
	if id.Name == "" {
		return string(id.Kind)
	}
	return string(id.Kind) + "/" + string(id.Name)
}

// Compare orders ids by kind, then name.
func (id ID) Compare(other ID) int {
	return cmp.Or(
		cmp.Compare(slices.Index(Kinds(), id.Kind), slices.Index(Kinds(), other.Kind)),
		cmp.Compare(id.Name, other.Name),
	)
}

// Equal reports whether two documents say the same. Where they were read, their
// generations and how they came play no part.
func (d Document) Equal(other Document) bool {
	return d.ID() == other.ID() && reflect.DeepEqual(d.Spec, other.Spec)
}

// place returns where a field was read, or the nearest place around it.
func (d Document) place(path string) Source {
	for path != "" {
		if at, ok := d.places[path]; ok {
			return at
		}
		path = parent(path)
	}
	return d.Source
}

func sorted(docs []Document) []Document {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b Document) int { return a.ID().Compare(b.ID()) })
	return docs
}
