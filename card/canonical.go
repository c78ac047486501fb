package card

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

const (
	// MaxBytes is how large a card may be.
	MaxBytes = 1 << 20

	// maxDepth is how deep a card may be nested.
	maxDepth = 64
)

// Canonical returns the form of a card that signatures cover: the card as it
// was received, without its signatures, by the presence rules of the
// specification (1.0.1, section 8.4.1), serialized by RFC 8785.
//
// Members the specification does not know are kept, members in snake_case are
// taken as the ones they are, and a member of the wrong type stays as it is.
// It fails on what is not one JSON object of at most MaxBytes and 64 levels
// with unique members, on text that is not Unicode, and on a number beyond
// what a double can hold. Errors do not quote the card.
func Canonical(raw []byte) ([]byte, error) { return canonical(raw, true) }

// CanonicalKnown is [Canonical] without the members the specification does not
// know. Some implementations sign only those they know.
func CanonicalKnown(raw []byte) ([]byte, error) { return canonical(raw, false) }

// Digest returns the SHA-256 of a canonical form as sha256:HEX. Two cards that
// say the same have the same digest, however they are signed and written.
func Digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func canonical(raw []byte, unknown bool) ([]byte, error) {
	if _, _, err := read(raw); err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	w := &walker{in: jsontext.NewDecoder(bytes.NewReader(raw)), unknown: unknown}
	if err := w.message("AgentCard"); err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	form := jsontext.Value(w.out)
	if err := form.Canonicalize(); err != nil {
		return nil, errors.New("card: there is no canonical form")
	}
	return form, nil
}

// read decodes a card within the bounds of this package.
func read(raw []byte) (a2a.AgentCard, a2a.Violations, error) {
	switch {
	case len(raw) > MaxBytes:
		return a2a.AgentCard{}, nil, fmt.Errorf("it has more than %d bytes", MaxBytes)
	case !a2a.CheckDepth(raw, maxDepth):
		return a2a.AgentCard{}, nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	}
	return a2a.Decode[a2a.AgentCard](raw)
}

// walker copies a card member by member and leaves out what the rules drop.
// Its input is valid JSON; the order of members and the spelling of scalars are
// left to RFC 8785.
type walker struct {
	in      *jsontext.Decoder
	out     []byte
	unknown bool // keep what the specification does not know
}

var (
	errTwice = errors.New("it has a member in both of its spellings")
	errRange = errors.New("it has a number beyond what a double can hold")
)

// message copies an object of the specification.
func (w *walker) message(name string) error {
	fields := messages[name]
	seen := make([]bool, len(fields))
	if _, err := w.in.ReadToken(); err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for w.in.PeekKind() == '"' {
		token, err := w.in.ReadToken()
		if err != nil {
			return err
		}
		i := lookup(fields, token.String())
		switch {
		case i < 0 && w.unknown:
			w.name(token.String())
			err = w.copy()
		case i < 0:
			err = w.in.SkipValue()
		case seen[i]:
			err = errTwice
		case w.in.PeekKind() == 'n', name == "AgentCard" && fields[i].name == "signatures":
			err = w.in.SkipValue() // null is absent
		default:
			seen[i] = true
			err = w.member(fields[i])
		}
		if err != nil {
			return err
		}
	}
	for i, f := range fields {
		if f.presence == always && !seen[i] {
			w.name(f.name)
			w.out = append(w.out, defaults[f.kind]...)
		}
	}
	w.out = append(w.out, '}')
	_, err := w.in.ReadToken()
	return err
}

// member copies a member, unless it has a default that is dropped.
func (w *walker) member(f field) error {
	before := len(w.out)
	w.name(f.name)
	start := len(w.out)
	if err := w.value(f); err != nil {
		return err
	}
	if f.presence == unlessDefault && string(w.out[start:]) == defaults[f.kind] {
		w.out = w.out[:before]
	}
	return nil
}

func (w *walker) value(f field) error {
	shape := w.in.PeekKind()
	switch {
	case f.message == "":
		return w.copy()
	case f.kind == object && shape == '{':
		return w.message(f.message)
	case f.kind == list && shape == '[', f.kind == dict && shape == '{':
		return w.elements(f.message)
	}
	return w.copy() // of the wrong type, and as such covered
}

// elements copies a list, or a map, of messages. None is ever dropped.
func (w *walker) elements(message string) error {
	open, err := w.in.ReadToken()
	if err != nil {
		return err
	}
	isMap := open.Kind() == '{'
	w.out = append(w.out, open.String()...)
	for first := true; w.in.PeekKind() != '}' && w.in.PeekKind() != ']'; first = false {
		switch {
		case isMap:
			key, err := w.in.ReadToken()
			if err != nil {
				return err
			}
			w.name(key.String())
		case !first:
			w.out = append(w.out, ',')
		}
		if w.in.PeekKind() == '{' {
			err = w.message(message)
		} else {
			err = w.copy()
		}
		if err != nil {
			return err
		}
	}
	end, err := w.in.ReadToken()
	w.out = append(w.out, end.String()...)
	return err
}

// name starts a member. It is called between complete members only.
func (w *walker) name(name string) {
	if last := w.out[len(w.out)-1]; last != '{' {
		w.out = append(w.out, ',')
	}
	w.out, _ = jsontext.AppendQuote(w.out, name) // a name that was read is Unicode
	w.out = append(w.out, ':')
}

// copy copies a value as it is, if its numbers can be written.
func (w *walker) copy() error {
	value, err := w.in.ReadValue()
	if err != nil {
		return err
	}
	w.out = append(w.out, value...)
	if bytes.IndexByte(value, 'e') < 0 && bytes.IndexByte(value, 'E') < 0 && len(value) < 300 {
		return nil // too short for a number that large
	}
	tokens := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		token, err := tokens.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case token.Kind() != '0':
			continue
		}
		if n, err := strconv.ParseFloat(token.String(), 64); err != nil || math.IsInf(n, 0) {
			return errRange
		}
	}
}
