package a2a

import (
	"bytes"
	"errors"
	"io"
	"math/bits"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decoder walks one JSON text for the generated decoders. After a syntax error
// every method is a no-op and more answers false, so that generated code needs
// no error paths.
type decoder struct {
	json       jsontext.Decoder
	source     bytes.Buffer
	size       int // of the input
	err        error
	path       []step
	violations Violations
	overflow   bool // violations were left out
	scratch    []byte
}

// presence tells which fields of an object occurred, by bit.
type presence struct {
	seen     uint32 // null included
	have     uint32
	unknown  bool
	misnamed bool
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(data []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.source, d.size = *bytes.NewBuffer(data), len(data)
	d.json.Reset(&d.source)
	return d
}

// release forgets the input and returns the decoder to its pool. One that read
// a large input, and may have grown with it, is left to the collector.
func (d *decoder) release() {
	const keep = 64 << 10
	if d.size > keep {
		return
	}
	d.source = bytes.Buffer{}
	d.json.Reset(&d.source)
	d.err, d.violations, d.overflow = nil, nil, false
	d.path, d.scratch = d.path[:0], d.scratch[:0]
	decoders.Put(d)
}

// finish checks that nothing follows the value.
func (d *decoder) finish() {
	if d.err != nil {
		return
	}
	if _, err := d.json.ReadToken(); err == nil {
		d.fail(d.json.InputOffset(), "something follows the value")
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
}

func (d *decoder) fail(offset int64, problem string) {
	if d.err == nil {
		d.err = &SyntaxError{Offset: offset, Problem: problem}
	}
}

// syntax records an error of the tokenizer, in our words and without its
// excerpts of the input.
func (d *decoder) syntax(err error) {
	offset, problem := d.json.InputOffset(), "malformed JSON"
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = at.ByteOffset
		if at.Err != nil && strings.Contains(at.Err.Error(), "UTF-8") {
			problem = "invalid UTF-8"
		}
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		problem = "duplicate member name"
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		problem = "JSON ends too early"
	}
	d.fail(offset, problem)
}

// object reads the brace of an object, or reports what is there instead.
func (d *decoder) object() bool { return d.begin('{', "an object") }

// array reads the bracket of an array, or reports what is there instead.
func (d *decoder) array() bool { return d.begin('[', "an array") }

func (d *decoder) begin(kind jsontext.Kind, want string) bool {
	if d.err != nil {
		return false
	}
	if d.json.PeekKind() != kind {
		d.wrongType(want, d.read())
		return false
	}
	d.token()
	return d.err == nil
}

// more reports whether the object or array goes on, and reads its end if not.
func (d *decoder) more() bool {
	if d.err != nil {
		return false
	}
	switch d.json.PeekKind() {
	case '}', ']', 0:
		d.token()
		return false
	}
	return true
}

// token reads a token whose value is known.
func (d *decoder) token() {
	if _, err := d.json.ReadToken(); err != nil {
		d.syntax(err)
	}
}

// name reads a member's name. It is valid until the next call.
func (d *decoder) name() []byte {
	raw := d.read()
	if raw == nil {
		return nil
	}
	return d.unquote(raw)
}

// read reads a whole value, nil after an error. It stays valid, for the
// tokenizer works on the input itself.
func (d *decoder) read() []byte {
	if d.err != nil {
		return nil
	}
	raw, err := d.json.ReadValue()
	if err != nil {
		d.syntax(err)
		return nil
	}
	if c := raw[0]; (c == '{' || c == '[') && !CheckDepth(raw, MaxDepth-d.json.StackDepth()) {
		d.fail(d.json.InputOffset(), "JSON is nested too deep")
		return nil
	}
	return raw
}

// skip reads past a value and returns its first byte.
func (d *decoder) skip() byte {
	raw := d.read()
	if raw == nil {
		return 0
	}
	return raw[0]
}

// unquote returns the content of a JSON string, valid until the next call.
func (d *decoder) unquote(raw []byte) []byte {
	content := raw[1 : len(raw)-1]
	if bytes.IndexByte(content, '\\') < 0 {
		return content
	}
	d.scratch = appendUnescaped(d.scratch[:0], content)
	return d.scratch
}

// appendUnescaped appends the content of a JSON string that was read without
// error, so that all its escapes are whole and its surrogates paired (RFC 8259,
// section 7).
func appendUnescaped(b, content []byte) []byte {
	for {
		i := bytes.IndexByte(content, '\\')
		if i < 0 {
			return append(b, content...)
		}
		b = append(b, content[:i]...)
		escape := content[i+1]
		content = content[i+2:]
		switch escape {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			letter := hexRune(content)
			content = content[4:]
			if utf16.IsSurrogate(letter) {
				letter = utf16.DecodeRune(letter, hexRune(content[2:]))
				content = content[6:]
			}
			b = utf8.AppendRune(b, letter)
		default: // a quotation mark or a slash
			b = append(b, escape)
		}
	}
}

// hexRune is the value of the four hexadecimal digits that text begins with.
func hexRune(text []byte) (r rune) {
	for _, c := range text[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// enter steps into a field, unless it is null, which is as good as absent.
func (d *decoder) enter(p *presence, bit uint32, name string) bool {
	if !d.once(p, bit) {
		return false
	}
	if d.json.PeekKind() == 'n' {
		d.token()
		return false
	}
	return d.into(p, bit, name)
}

// enterAny steps into a field for which null is a value like any other.
func (d *decoder) enterAny(p *presence, bit uint32, name string) bool {
	return d.once(p, bit) && d.into(p, bit, name)
}

// once refuses the second occurrence of a field, in whichever spelling.
func (d *decoder) once(p *presence, bit uint32) bool {
	if p.seen&bit != 0 {
		d.fail(d.json.InputOffset(), "duplicate member name")
	}
	p.seen |= bit
	return d.err == nil
}

func (d *decoder) into(p *presence, bit uint32, name string) bool {
	p.have |= bit
	d.path = append(d.path, step{name: name})
	return true
}

// leave steps out of what enter, element or entry stepped into.
func (d *decoder) leave() { d.path = d.path[:len(d.path)-1] }

// element steps into an element of a list, unless it is null.
func (d *decoder) element(index int) bool {
	return d.inside(step{kind: stepIndex, index: index})
}

// entry steps into a value of a map, unless it is null.
func (d *decoder) entry(key string) bool {
	return d.inside(step{kind: stepKey, name: key})
}

func (d *decoder) inside(at step) bool {
	if d.err != nil {
		return false
	}
	d.path = append(d.path, at)
	if d.json.PeekKind() == 'n' {
		d.token()
		d.report(NullElement, "must not be null")
		d.leave()
		return false
	}
	return true
}

// required reports the REQUIRED fields that are not in have; names are those
// of the bits in mask, in order.
func (d *decoder) required(have, mask uint32, names ...string) bool {
	if d.err != nil {
		return false
	}
	for i := 0; mask != 0; i++ {
		bit := mask & -mask
		if have&bit == 0 {
			d.reportAt(names[i], Missing, "is required")
		}
		mask &^= bit
	}
	return false
}

// oneof reports an object that has none or several of the members in mask.
func (d *decoder) oneof(have, mask uint32, names string) bool {
	switch count := bits.OnesCount32(have & mask); {
	case count == 1 || d.err != nil:
		return true
	case count == 0:
		d.report(OneofMissing, "must have one of "+names)
	default:
		d.report(OneofConflict, "must have only one of "+names)
	}
	return false
}

func (d *decoder) misnamed(member, field string) {
	d.reportAt(member, Shape, "is not a member of this revision and would be lost; use "+field)
}

func (d *decoder) misshaped(field string) {
	d.report(Shape, "has members but names no scheme; the form is {\""+field+"\":{\"NAME\":{\"list\":[\"SCOPE\"]}}}")
}
