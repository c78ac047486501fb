package conformance

import (
	"context"
	"io/fs"
	"maps"
)

// ReadTree is the text files of a checkout by name.
func ReadTree(root fs.FS) (map[string][]byte, error) {
	t, err := readTree(root)
	return t.files, err
}

// Seen is what a running server shows.
type Seen = shown

// Show starts a server and looks at it as the claim of a checkout says.
func Show(ctx context.Context, root fs.FS) (*Seen, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	return show(ctx, in.claim)
}

// Card is the card that was served.
func (s *Seen) Card() string { return string(s.card) }

// WithCard is the same server with another card.
func (s *Seen) WithCard(card string) *Seen {
	other := *s
	other.card = []byte(card)
	return &other
}

// Compare is Check with a server that was looked at before.
func Compare(root fs.FS, seen *Seen) (*Report, error) {
	return CompareBuiltFrom("", root, seen)
}

// CompareBuiltFrom is Compare for a program that was built from a revision.
func CompareBuiltFrom(revision string, root fs.FS, seen *Seen) (*Report, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	in.revision = revision
	return in.compare(seen, nil), nil
}

// CompareWithout is Check where no server runs.
func CompareWithout(root fs.FS, why error) (*Report, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	return in.compare(nil, why), nil
}

// WithVersionRefused is the same server, but of another version.
func (s *Seen) WithVersionRefused() *Seen {
	other := *s
	other.stream.code = wrongVersion
	return &other
}

// WithAnswer is the same server with another answer to one operation.
func (s *Seen) WithAnswer(operation string, code int) *Seen {
	other := *s
	other.answers = maps.Clone(s.answers)
	one := other.answers[operation]
	one.code = code
	other.answers[operation] = one
	return &other
}

// Citations are the tests that cite requirements, by id, and the citations that
// no test reaches.
func Citations(root fs.FS) (tests map[string][]string, strays []string, err error) {
	t, err := readTree(root)
	if err != nil {
		return nil, nil, err
	}
	found := readCitations(t)
	for _, one := range found.stray {
		line := one.id + " in " + one.place
		if one.idle != "" {
			line += ": " + one.idle
		}
		strays = append(strays, line)
	}
	return found.tests, strays, nil
}
