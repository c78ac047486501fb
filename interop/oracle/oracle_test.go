package oracle_test

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/interop/oracle"
)

// table is the wire table, member by member, so that two of them compare.
type table struct {
	Specification string         `json:"specification"`
	ProtoSHA256   string         `json:"protoSha256"`
	Package       string         `json:"package"`
	Enums         []tableEnum    `json:"enums"`
	Messages      []tableMessage `json:"messages"`
	Service       string         `json:"service"`
	Methods       []tableMethod  `json:"methods"`
}

type tableEnum struct {
	Name   string       `json:"name"`
	Values []tableValue `json:"values"`
}

type tableValue struct {
	Name   string `json:"name"`
	Number int32  `json:"number"`
}

type tableMessage struct {
	Name   string       `json:"name"`
	Fields []tableField `json:"fields"`
}

type tableField struct {
	Name       string `json:"name"`
	JSON       string `json:"json"`
	Number     int32  `json:"number"`
	Type       string `json:"type"`
	MapValue   string `json:"mapValue"`
	Repeated   bool   `json:"repeated"`
	Presence   string `json:"presence"`
	Oneof      string `json:"oneof"`
	Required   bool   `json:"required"`
	Deprecated bool   `json:"deprecated"`
}

type tableMethod struct {
	Name            string `json:"name"`
	Input           string `json:"input"`
	Output          string `json:"output"`
	ServerStreaming bool   `json:"serverStreaming"`
}

func readTable(t *testing.T) table {
	t.Helper()
	data, err := os.ReadFile("../../specification/wire-v1.0.1.json")
	if err != nil {
		t.Fatal(err)
	}
	var read table
	if err := json.Unmarshal(data, &read, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	return read
}

// The wire table, from which the package a2a is generated, says what the
// oracle's descriptor says: every message, field, number, JSON name, type,
// presence, obligation, enum value and method.
func TestTableIsTheOracle(t *testing.T) {
	read := readTable(t)
	if read.Specification != a2a.SpecificationVersion || read.ProtoSHA256 != a2a.ProtoSHA256 || read.Package != a2a.ProtoPackage {
		t.Errorf("the code was generated from revision %s, %s, not from %s, %s",
			a2a.SpecificationVersion, a2a.ProtoSHA256, read.Specification, read.ProtoSHA256)
	}
	if got := string(oracle.File.Package()); got != read.Package {
		t.Errorf("package %s, want %s", got, read.Package)
	}
	compare(t, "enum", byName(read.Enums, func(e tableEnum) string { return e.Name }), oracleEnums())
	compare(t, "message", fieldsByName(read.Messages), oracleMessages())
	methods := oracle.File.Services().ByName(protoreflect.Name(read.Service)).Methods()
	var described []tableMethod
	for i := range methods.Len() {
		m := methods.Get(i)
		described = append(described, tableMethod{
			Name: string(m.Name()), Input: typeName(m.Input()), Output: typeName(m.Output()),
			ServerStreaming: m.IsStreamingServer(),
		})
	}
	if diff := cmp.Diff(described, read.Methods); diff != "" {
		t.Errorf("methods (-oracle +table):\n%s", diff)
	}
}

// compare reports what only one side has, and the differences of the rest.
func compare[V any](t *testing.T, what string, ours, theirs map[string]V) {
	t.Helper()
	names := slices.Sorted(maps.Keys(theirs))
	for name := range ours {
		if _, ok := theirs[name]; !ok {
			t.Errorf("%s %s is not in the oracle", what, name)
		}
	}
	for _, name := range names {
		own, ok := ours[name]
		if !ok {
			t.Errorf("%s %s is missing", what, name)
			continue
		}
		if diff := cmp.Diff(theirs[name], own); diff != "" {
			t.Errorf("%s %s (-oracle +ours):\n%s", what, name, diff)
		}
	}
}

func byName[V any](list []V, name func(V) string) map[string]V {
	named := make(map[string]V, len(list))
	for _, v := range list {
		named[name(v)] = v
	}
	return named
}

func fieldsByName(messages []tableMessage) map[string]map[string]tableField {
	named := map[string]map[string]tableField{}
	for _, m := range messages {
		named[m.Name] = byName(m.Fields, func(f tableField) string { return f.Name })
	}
	return named
}

func oracleEnums() map[string]tableEnum {
	enums := map[string]tableEnum{}
	for i := range oracle.File.Enums().Len() {
		e := oracle.File.Enums().Get(i)
		described := tableEnum{Name: string(e.Name())}
		for j := range e.Values().Len() {
			v := e.Values().Get(j)
			described.Values = append(described.Values, tableValue{string(v.Name()), int32(v.Number())})
		}
		enums[described.Name] = described
	}
	return enums
}

func oracleMessages() map[string]map[string]tableField {
	messages := map[string]map[string]tableField{}
	for i := range oracle.File.Messages().Len() {
		m := oracle.File.Messages().Get(i)
		fields := map[string]tableField{}
		for j := range m.Fields().Len() {
			f := m.Fields().Get(j)
			fields[string(f.Name())] = oracleField(f)
		}
		messages[string(m.Name())] = fields
	}
	return messages
}

func oracleField(f protoreflect.FieldDescriptor) tableField {
	field := tableField{
		Name: string(f.Name()), JSON: f.JSONName(), Number: int32(f.Number()),
		Type: kindName(f), Repeated: f.IsList(), Presence: presence(f), Required: oracle.Required(f),
		Deprecated: f.Options().(*descriptorpb.FieldOptions).GetDeprecated(),
	}
	if f.IsMap() {
		field.Type, field.MapValue = "map", kindName(f.MapValue())
	}
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		field.Oneof = string(o.Name())
	}
	return field
}

func presence(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "map"
	case f.IsList():
		return "list"
	case f.HasOptionalKeyword():
		return "optional"
	case f.ContainingOneof() != nil:
		return "oneof"
	case f.Message() != nil:
		return "message"
	}
	return "implicit"
}

func kindName(f protoreflect.FieldDescriptor) string {
	switch {
	case f.Message() != nil:
		return typeName(f.Message())
	case f.Enum() != nil:
		return typeName(f.Enum())
	}
	return f.Kind().String()
}

// typeName is a name as the table has it: bare if it is of the protocol.
func typeName(d protoreflect.Descriptor) string {
	if d.ParentFile().Package() == oracle.File.Package() {
		return string(d.Name())
	}
	return string(d.FullName())
}
