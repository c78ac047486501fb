package registry

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// isJSON reports whether a text begins with an object of JSON.
func isJSON(data []byte) bool {
	const space = " \t\r\n"
	inside, found := bytes.CutPrefix(bytes.TrimLeft(data, space), []byte("{"))
	return found && bytes.HasPrefix(bytes.TrimLeft(inside, space), []byte(`"`))
}

// json reads values of JSON, one after the other.
func (d *decoder) json(data []byte) []node {
	r := &jsonReader{d: d, data: data, line: 1, column: 1, tokens: jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))}
	var nodes []node
	for {
		n, err := r.value()
		switch {
		case errors.Is(err, io.EOF):
			return nodes
		case err != nil:
			d.report(r.place(r.tokens.InputOffset()), "", "this is not JSON: "+why(err), "")
			return nodes
		case len(nodes) == maxDocuments:
			d.report(n.at, "", "there are more than 10,000 documents", "split the text")
			return nil
		}
		nodes = append(nodes, n)
	}
}

// why leaves out what an error repeats of the text.
func why(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the text ends too early"
	}
	if errors.Is(err, errTooDeep) {
		return errTooDeep.Error()
	}
	return "a value, a comma or a bracket is wrong here"
}

var errTooDeep = errors.New("it is nested deeper than 32")

type jsonReader struct {
	d      *decoder
	data   []byte
	tokens *jsontext.Decoder

	offset, line, column int // what place has counted so far
}

// place turns an offset, which never falls, into a place.
func (r *jsonReader) place(offset int64) Source {
	for ; r.offset < min(int(offset), len(r.data)); r.offset++ {
		switch c := r.data[r.offset]; {
		case c == '\n':
			r.line, r.column = r.line+1, 1
		case utf8.RuneStart(c):
			r.column++
		}
	}
	return r.d.at(r.line, r.column)
}

// next reads a token and says where it begins.
func (r *jsonReader) next() (jsontext.Token, Source, error) {
	r.tokens.PeekKind() // reads up to the token, and no further
	start := r.tokens.InputOffset()
	for int(start) < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[start]) >= 0 {
		start++
	}
	at := r.place(start)
	token, err := r.tokens.ReadToken()
	return token, at, err
}

func (r *jsonReader) value() (node, error) {
	token, at, err := r.next()
	if err != nil {
		return node{}, err
	}
	n := node{at: at}
	switch token.Kind() {
	case 'n':
		n.kind = nullNode
	case 't', 'f':
		n.kind, n.text = boolNode, token.String()
	case '"':
		n.kind, n.text = textNode, token.String()
	case '0':
		n.kind, n.text = numberNode, token.String()
	case '[':
		n.kind = listNode
		err = r.until(']', func() error {
			item, err := r.value()
			n.items = append(n.items, item)
			return err
		})
	case '{':
		n.kind = objectNode
		err = r.until('}', func() error {
			name, at, err := r.next()
			if err != nil {
				return err
			}
			m := member{name: name.String(), at: at}
			m.value, err = r.value()
			n.members = append(n.members, m)
			return err
		})
	}
	return n, err
}

// until reads to the end of a list or object.
func (r *jsonReader) until(end jsontext.Kind, one func() error) error {
	if r.tokens.StackDepth() > maxDepth {
		return errTooDeep
	}
	for r.tokens.PeekKind() != end {
		if err := one(); err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	_, err := r.tokens.ReadToken()
	return err
}
