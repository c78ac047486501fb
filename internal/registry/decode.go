package registry

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of what is read at once.
const (
	maxBytes     = 4 << 20
	maxDocuments = 10_000
	maxDepth     = 32

	// Of one document, in YAML.
	maxDocument = 1 << 20
	maxValues   = 2500
)

const tooLarge = "the document is larger than 1 MiB or has more than 2,500 values"

// Decode reads a stream of documents in YAML or JSON; a text that begins with a
// brace and a quote is JSON. File is told in problems and not opened.
//
// It is strict. A key that is not known, a key or document given twice, a value
// of another type or out of range, an anchor, an alias, a tag: each is a
// problem with its place. The error is [Problems], with all of them, and then
// there are no documents; only where a document is not YAML or JSON at all does
// the first fault hide later ones. Each document was checked by itself; whether
// they fit together, [NewPlan] says. A text may have 4 MiB, 10,000 documents,
// and a depth of 32; a document in YAML 1 MiB and 2,500 values.
func Decode(file string, data []byte) ([]Document, error) {
	d := &decoder{file: file}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var nodes []node
	switch valid := validPrefix(data); {
	case len(data) > maxBytes:
		d.report(d.at(1, 1), "", "the text is longer than 4 MiB", "split it")
	case valid < len(data):
		d.report(d.at(1+bytes.Count(data[:valid], []byte("\n")), 1), "", "the text is not UTF-8", "save it as UTF-8")
	case isJSON(data):
		nodes = d.json(data)
	default:
		nodes = d.yaml(data)
	}
	docs := make([]Document, 0, len(nodes))
	first := make(map[ID]Source)
	for _, n := range nodes {
		if len(d.problems) > maxGathered {
			break
		}
		doc, ok := d.document(n)
		if earlier, found := first[doc.ID()]; found && doc.Name != "" {
			d.report(doc.place("name"), "", fmt.Sprintf("was given before, in line %d", earlier.Line), "keep one of them, or rename one")
		}
		first[doc.ID()] = doc.Source
		if ok {
			docs = append(docs, doc)
		}
	}
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return docs, nil
}

func validPrefix(data []byte) int {
	at := 0
	for at < len(data) {
		c, size := utf8.DecodeRune(data[at:])
		if c == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}

// decoder gathers what is wrong with a text.
type decoder struct {
	file     string
	problems Problems
	effort   int // of parsing YAML

	about  string            // the document that problems are about, once it is known
	places map[string]Source // of its fields
}

func (d *decoder) at(line, column int) Source { return Source{d.file, line, column} }

func (d *decoder) report(at Source, path, words, next string) {
	d.problems = append(d.problems, Problem{Source: at, Document: d.about, Path: path, Words: words, Next: next})
}

// head is a document whose spec was not looked at yet.
type head struct {
	Kind Kind `json:"kind"`
	Name Name `json:"name"`
	Spec node `json:"spec,omitzero"`
}

// document makes a document of a node, and reports whether nothing is wrong
// with it by itself.
func (d *decoder) document(n node) (Document, bool) {
	d.about, d.places = "", make(map[string]Source)
	before := len(d.problems)
	h := head{Spec: node{kind: objectNode, at: n.at}}
	d.value("", field{}, n, reflect.ValueOf(&h).Elem())
	doc := Document{Kind: h.Kind, Name: h.Name, Source: n.at, places: d.places}
	if doc.Spec = NewSpec(h.Kind); doc.Spec == nil {
		return doc, false
	}
	d.about = doc.ID().String()
	for i := range d.problems[before:] {
		d.problems[before+i].Document = d.about
	}
	d.value("spec", field{}, h.Spec, reflect.ValueOf(doc.Spec).Elem())
	if len(d.problems) == before {
		d.problems = append(d.problems, doc.check()...)
	}
	return doc, len(d.problems) == before
}

// value puts a node into a value, and reports what does not fit.
func (d *decoder) value(path string, f field, n node, v reflect.Value) {
	d.places[path] = n.at
	if v.Type() == reflect.TypeFor[node]() {
		v.Set(reflect.ValueOf(n))
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	want, called := expected(v.Type())
	if n.kind != want {
		next := ""
		switch {
		case n.kind == nullNode:
			next = "leave it out, or fill it in"
		case want == textNode && (n.kind == numberNode || n.kind == boolNode):
			next = "put it in quotes"
		case want == boolNode && n.kind == textNode:
			next = map[string]string{"yes": "write true", "on": "write true", "no": "write false", "off": "write false"}[strings.ToLower(n.text)]
		}
		d.report(n.at, path, "expected "+called+", found "+n.kind.String(), next)
		return
	}
	switch want {
	case objectNode:
		d.object(path, n, v)
	case listNode:
		d.list(path, f, n, v)
	default:
		if err := set(v, n.text); err != nil {
			d.report(n.at, path, err.Error(), "")
		} else if words, next := f.wrong(v); words != "" {
			d.report(n.at, path, words, next)
		}
	}
}

// expected is the kind of node that a type is written as, and what people call
// it.
func expected(t reflect.Type) (nodeKind, string) {
	switch {
	case t == timeType:
		return textNode, "a time such as 2027-01-31T12:00:00Z"
	case t == reflect.TypeFor[Duration]():
		return textNode, "a duration such as 10m"
	case t == reflect.TypeFor[Size]():
		return textNode, "a size such as 4MiB"
	case t.Kind() == reflect.Struct:
		return objectNode, "an object"
	case t.Kind() == reflect.Slice:
		return listNode, "a list"
	case t.Kind() == reflect.Bool:
		return boolNode, "true or false"
	case t.Kind() == reflect.String:
		return textNode, "a text"
	default:
		return numberNode, "a number"
	}
}

func (d *decoder) list(path string, f field, n node, v reflect.Value) {
	switch most := orElse(f.max, maxItems); {
	case len(n.items) == 0 && !f.empty:
		d.report(n.at, path, "is an empty list", f.leaveOut())
	case len(n.items) > most:
		d.report(n.at, path, "has more than "+strconv.Itoa(most)+" items", "")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		d.value(index(path, i), field{}, item, v.Index(i))
	}
}

func (d *decoder) object(path string, n node, v reflect.Value) {
	all := fields(v.Type())
	seen := make(map[string]int)
	for _, m := range n.members {
		at := join(path, m.name)
		f, found := findField(all, m.name)
		if !found {
			if len(d.problems) <= maxGathered {
				words, next := unknown(v.Type(), m.name, all)
				d.report(m.at, path, words, next)
			}
			continue
		}
		if line, twice := seen[m.name]; twice {
			d.report(m.at, at, fmt.Sprintf("was given before, in line %d", line), "keep one of them")
			continue
		}
		seen[m.name] = m.at.Line
		d.value(at, f, m.value, v.Field(f.index))
	}
	for _, f := range all {
		if _, given := seen[f.name]; f.required && !given {
			d.report(n.at, join(path, f.name), "is required", "")
		}
	}
}

func findField(all []field, name string) (field, bool) {
	for _, f := range all {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// unknown says what to do about a key that is not known.
func unknown(t reflect.Type, name string, all []field) (words, next string) {
	words = "there is no key " + quoted(name)
	if next := hint(t, name); next != "" {
		return words, next
	}
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.name
	}
	if near := nearest(name, names); near != "" {
		return words, "did you mean " + near + "?"
	}
	return words, "the keys here are: " + list(names)
}

// hint is for keys that people look for and that are left out on purpose.
func hint(t reflect.Type, name string) string {
	switch t {
	case reflect.TypeFor[Secret]():
		if name == "value" || name == "data" || name == "key" || name == "password" || name == "token" {
			return "the value of a secret is never written in a document; take it out and set the secret by itself"
		}
	case reflect.TypeFor[JWK]():
		if name == "d" || name == "p" || name == "q" || name == "dp" || name == "dq" || name == "qi" || name == "k" {
			return "this is the private part of a key; register the public key only, and replace this one if it was shared"
		}
	case reflect.TypeFor[APIKey]():
		if name == "key" || name == "value" || name == "secret" || name == "token" {
			return "only the digest of a key is registered"
		}
	case reflect.TypeFor[Provider]():
		if name == "command" || name == "args" {
			return "a program is declared in the server's own configuration; name it with program"
		}
	}
	return ""
}
