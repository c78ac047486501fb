package registry

import (
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeYAML writes documents as a YAML stream, in order of kind and name, with
// fields in the order of their types and nothing that is left out.
func EncodeYAML(docs ...Document) []byte {
	var out []byte
	for i, doc := range sorted(docs) {
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = appendYAML(out, doc.node(), 0)
	}
	return out
}

// EncodeJSON writes one document as JSON, with the same members in the same
// order. Equal documents have the same bytes.
func EncodeJSON(doc Document) []byte { return appendJSON(nil, doc.node()) }

func (d Document) node() node {
	n := node{kind: objectNode, members: []member{
		{name: "kind", value: textual(string(d.Kind))},
		{name: "name", value: textual(string(d.Name))},
	}}
	if spec := toNode(reflect.ValueOf(d.Spec).Elem()); len(spec.members) > 0 {
		n.members = append(n.members, member{name: "spec", value: spec})
	}
	return n
}

func textual(s string) node { return node{kind: textNode, text: s} }

// toNode makes a node of a value, without the fields that are left out.
func toNode(v reflect.Value) node {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	kind, _ := expected(v.Type())
	n := node{kind: kind}
	switch kind {
	case objectNode:
		for _, f := range fields(v.Type()) {
			value := v.Field(f.index)
			if value.IsZero() {
				continue
			}
			m := member{name: f.name, value: toNode(value)}
			m.value.hidden = f.hidden
			if f.key {
				n.key = written(value)
			}
			if m.value.kind != objectNode || len(m.value.members) > 0 || value.Kind() == reflect.Pointer {
				n.members = append(n.members, m)
			}
		}
	case listNode:
		for i := range v.Len() {
			n.items = append(n.items, toNode(v.Index(i)))
		}
	default:
		n.text = written(v)
	}
	return n
}

func appendJSON(out []byte, n node) []byte {
	switch n.kind {
	case textNode:
		out = appendQuoted(out, n.text)
	case listNode:
		out = append(out, '[')
		for i, item := range n.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendJSON(out, item)
		}
		out = append(out, ']')
	case objectNode:
		out = append(out, '{')
		for i, m := range n.members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendQuoted(out, m.name), ':')
			out = appendJSON(out, m.value)
		}
		out = append(out, '}')
	default:
		out = append(out, n.text...)
	}
	return out
}

// appendQuoted writes a text of JSON. A text of a document is UTF-8; elsewhere
// what is not is replaced.
func appendQuoted(out []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(out, s)
	if err != nil {
		return strconv.AppendQuoteToASCII(out, "")
	}
	return quoted
}
