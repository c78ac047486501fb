package oracle_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/interop/oracle"
)

// The exported API has a type for every message of the oracle, a constant for
// every enum value and method, and a member for every field or oneof.
func TestTypesAreTheOracles(t *testing.T) {
	messages := map[string]int{}
	for i := range oracle.File.Messages().Len() {
		m := oracle.File.Messages().Get(i)
		members := m.Fields().Len()
		for j := range m.Oneofs().Len() {
			if o := m.Oneofs().Get(j); !o.IsSynthetic() {
				members -= o.Fields().Len() - 1
			}
		}
		messages[string(m.Name())] = members
	}
	ours := map[string]int{}
	for name, c := range codecs {
		ours[name] = c.typ.NumField()
		if got := c.typ.Name(); got != name {
			t.Errorf("codec of %s is for %s", name, got)
		}
	}
	compare(t, "members of message", ours, messages)

	for i := range oracle.File.Messages().Len() {
		m := oracle.File.Messages().Get(i)
		for j := range m.Fields().Len() {
			checkGoType(t, m.Fields().Get(j))
		}
	}
	service := oracle.File.Services().Get(0)
	var names []string
	for i := range service.Methods().Len() {
		m := service.Methods().Get(i)
		names = append(names, string(m.Name()))
		if got := a2a.Streams(string(m.Name())); got != m.IsStreamingServer() {
			t.Errorf("Streams(%s) = %v", m.Name(), got)
		}
	}
	if diff := cmp.Diff(names, a2a.Methods()); diff != "" {
		t.Errorf("methods (-oracle +ours):\n%s", diff)
	}
}

// Every enum value of the oracle is known under its name and its number.
func TestEnumsAreTheOracles(t *testing.T) {
	for name, enum := range oracleEnums() {
		for _, v := range enum.Values {
			var number int32
			var known bool
			var text string
			unspecified := v.Number == 0
			switch name {
			case "Role":
				r := a2a.Role(v.Name)
				if unspecified {
					r = ""
				}
				number, known = r.Number()
				text = r.String()
			case "TaskState":
				s := a2a.TaskState(v.Name)
				if unspecified {
					s = ""
				}
				number, known = s.Number()
				text = s.String()
			default:
				t.Errorf("enum %s is missing", name)
				continue
			}
			if !known || number != v.Number || text != v.Name {
				t.Errorf("%s: %d %q, known %v; want %d", v.Name, number, text, known, v.Number)
			}
		}
	}
}

// checkGoType holds the Go type of a member against type, presence and
// cardinality of its field.
func checkGoType(t *testing.T, f protoreflect.FieldDescriptor) {
	t.Helper()
	typ := codecs[string(f.ContainingMessage().Name())].typ
	if typ == nil {
		return // reported as missing
	}
	var member *reflect.StructField
	want := f.Name()
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		want = o.Name()
	}
	for i := range typ.NumField() {
		if sf := typ.Field(i); sameName(sf.Name, string(want)) {
			member = &sf
		}
	}
	if member == nil {
		t.Errorf("%s: no Go member", f.FullName())
		return
	}
	wantKinds := map[string][]reflect.Kind{
		"map": {reflect.Map}, "list": {reflect.Slice}, "optional": {reflect.Pointer}, "oneof": {reflect.Interface},
	}[presence(f)]
	if wantKinds == nil {
		wantKinds = singular(f)
	}
	if got := member.Type.Kind(); !slices.Contains(wantKinds, got) {
		t.Errorf("%s: Go member %s is a %s, want one of %v", f.FullName(), member.Name, got, wantKinds)
	}
}

func singular(f protoreflect.FieldDescriptor) []reflect.Kind {
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.EnumKind:
		return []reflect.Kind{reflect.String}
	case protoreflect.BoolKind:
		return []reflect.Kind{reflect.Bool}
	case protoreflect.Int32Kind:
		return []reflect.Kind{reflect.Int32}
	case protoreflect.BytesKind:
		return []reflect.Kind{reflect.Slice}
	}
	switch {
	case f.Message().FullName() == "google.protobuf.Struct":
		return []reflect.Kind{reflect.Slice} // JSON text
	case f.Message().FullName() == "google.protobuf.Timestamp":
		return []reflect.Kind{reflect.Struct}
	case oracle.Required(f):
		return []reflect.Kind{reflect.Struct}
	}
	return []reflect.Kind{reflect.Pointer}
}

// sameName compares a Go name with a proto name, whatever its spelling.
func sameName(goName, protoName string) bool {
	return strings.EqualFold(goName, strings.ReplaceAll(protoName, "_", ""))
}
