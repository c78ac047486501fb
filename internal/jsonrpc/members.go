package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// errNotObject is a sound document that is no envelope.
var errNotObject = errors.New("not an object")

// members walks the whole of a document that must be one object, and hands
// every member to visit as a slice of the body. An error other than
// errNotObject means that the document is not sound JSON.
func members(body []byte, maxDepth int, visit func(name string, value []byte)) error {
	if TooDeep(body, maxDepth) {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	// The decoder reads from a bytes.Buffer in place.
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != jsontext.KindBeginObject {
		if err := dec.SkipValue(); err != nil {
			return syntax(err)
		}
		if err := atEnd(dec); err != nil {
			return err
		}
		return errNotObject
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(err)
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		token, err := dec.ReadToken()
		if err != nil {
			return syntax(err)
		}
		name := token.String()
		if err := value(dec, body, func(v []byte) { visit(name, v) }); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntax(err)
	}
	return atEnd(dec)
}

func value(dec *jsontext.Decoder, body []byte, visit func([]byte)) error {
	v, err := dec.ReadValue()
	if err != nil {
		return syntax(err)
	}
	// The decoder's slice is only lent until its next call; ours stays.
	end := int(dec.InputOffset())
	visit(body[end-len(v) : end : end])
	return nil
}

func atEnd(dec *jsontext.Decoder) error {
	switch _, err := dec.ReadToken(); {
	case err == io.EOF:
		return nil
	case err == nil:
		return fmt.Errorf("more than one document, the second before byte %d", dec.InputOffset())
	default:
		return syntax(err)
	}
}

// syntax says where a document breaks. The decoder's own words would repeat
// parts of it.
func syntax(err error) error {
	why := "malformed"
	broken, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = "cut off"
	case errors.Is(err, jsontext.ErrDuplicateName):
		why = "a member name occurs twice"
	}
	if !ok {
		return errors.New(why)
	}
	return fmt.Errorf("%s at byte %d", why, broken.ByteOffset)
}

// The kinds of a value that has passed the decoder are told by its first byte.

func isString(v []byte) bool { return len(v) > 0 && v[0] == '"' }
func isObject(v []byte) bool { return len(v) > 0 && v[0] == '{' }
func isNull(v []byte) bool   { return string(v) == "null" }
