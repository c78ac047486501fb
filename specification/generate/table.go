package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
)

// table is the wire table: the protocol's messages as data.
type table struct {
	Specification string    `json:"specification"`
	ProtoSHA256   string    `json:"protoSha256"`
	Package       string    `json:"package"`
	Enums         []enum    `json:"enums"`
	Messages      []message `json:"messages"`
	Service       string    `json:"service"`
	Methods       []method  `json:"methods"`
}

type enum struct {
	Name   string      `json:"name"`
	Values []enumValue `json:"values"`
}

type enumValue struct {
	Name   string `json:"name"`
	Number int32  `json:"number"`
}

type message struct {
	Name   string  `json:"name"`
	Fields []field `json:"fields"`
}

type field struct {
	Name       string `json:"name"` // as in the proto, snake case
	JSON       string `json:"json"` // as on the wire, lower camel case
	Number     int    `json:"number"`
	Type       string `json:"type"`
	MapValue   string `json:"mapValue"`
	Repeated   bool   `json:"repeated"`
	Presence   string `json:"presence"`
	Required   bool   `json:"required"`
	Oneof      string `json:"oneof"`
	Deprecated bool   `json:"deprecated"`
}

type method struct {
	Name            string `json:"name"`
	Input           string `json:"input"`
	Output          string `json:"output"`
	ServerStreaming bool   `json:"serverStreaming"`
}

// readTable reads a table and refuses members this generator does not know,
// so that nothing of a later table is dropped in silence.
func readTable(path string) (*table, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t table
	if err := json.Unmarshal(data, &t, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &t, nil
}

// check refuses what the writers below could only get wrong.
func (t *table) check() error {
	for _, e := range t.Enums {
		for i, v := range e.Values {
			if int(v.Number) != i {
				return fmt.Errorf("the numbers of %s are not dense", e.Name)
			}
		}
	}
	for _, m := range t.Messages {
		if len(m.Fields) > 31 {
			return fmt.Errorf("%s has more fields than one presence mask holds", m.Name)
		}
		if name, _ := m.oneof(); name != "" && slices.ContainsFunc(m.Fields, func(f field) bool { return f.Required }) {
			return fmt.Errorf("%s has a oneof and REQUIRED fields", m.Name)
		}
		for _, f := range m.Fields {
			if err := t.checkField(f); err != nil {
				return fmt.Errorf("%s.%s: %w", m.Name, f.Name, err)
			}
		}
	}
	return nil
}

func (t *table) checkField(f field) error {
	element := f.Type
	if f.Type == "map" {
		element = f.MapValue
	}
	switch {
	case t.isMessage(element) || t.isEnum(element):
	case element == "string", element == "bytes", element == "bool", element == "int32":
	case element == typeStruct, element == typeValue, element == typeTimestamp:
	default:
		return fmt.Errorf("type %q is not supported", element)
	}
	switch f.Presence {
	case "implicit", "optional", "message", "oneof", "list", "map":
	default:
		return fmt.Errorf("presence %q is not supported", f.Presence)
	}
	if f.Repeated && element != "string" && !t.isMessage(element) {
		return fmt.Errorf("a list of %s is not supported", element)
	}
	if f.Type == "map" && element != "string" && !t.isMessage(element) {
		return fmt.Errorf("a map to %s is not supported", element)
	}
	return nil
}

func (t *table) isMessage(name string) bool {
	for _, m := range t.Messages {
		if m.Name == name {
			return true
		}
	}
	return false
}

func (t *table) isEnum(name string) bool {
	for _, e := range t.Enums {
		if e.Name == name {
			return true
		}
	}
	return false
}

// oneof returns the fields of m's oneof and its name, or nothing. No message
// of the protocol has two.
func (m message) oneof() (name string, fields []field) {
	for _, f := range m.Fields {
		if f.Oneof != "" {
			name, fields = f.Oneof, append(fields, f)
		}
	}
	return name, fields
}
