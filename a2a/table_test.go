package a2a_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// wireTable is what these tests need of the wire table.
type wireTable struct {
	Specification string      `json:"specification"`
	ProtoSHA256   string      `json:"protoSha256"`
	Package       string      `json:"package"`
	Enums         []tableEnum `json:"enums"`
	Messages      []struct {
		Name   string       `json:"name"`
		Fields []tableField `json:"fields"`
	} `json:"messages"`
	Methods []struct {
		Name            string `json:"name"`
		ServerStreaming bool   `json:"serverStreaming"`
	} `json:"methods"`
}

type tableEnum struct {
	Name   string `json:"name"`
	Values []struct {
		Name   string `json:"name"`
		Number int32  `json:"number"`
	} `json:"values"`
}

type tableField struct {
	Name     string `json:"name"`
	JSON     string `json:"json"`
	Type     string `json:"type"`
	MapValue string `json:"mapValue"`
	Repeated bool   `json:"repeated"`
	Presence string `json:"presence"`
	Required bool   `json:"required"`
	Oneof    string `json:"oneof"`
}

func readTable(t *testing.T) wireTable {
	t.Helper()
	data, err := os.ReadFile("../specification/wire-v1.0.1.json")
	if err != nil {
		t.Fatal(err)
	}
	var table wireTable
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

func (w wireTable) fields(message string) []tableField {
	for _, m := range w.Messages {
		if m.Name == message {
			return m.Fields
		}
	}
	return nil
}

func (w wireTable) enum(name string) *tableEnum {
	for _, e := range w.Enums {
		if e.Name == name {
			return &e
		}
	}
	return nil
}

// sample builds a JSON object with every member of a message; of a oneof it
// takes the named one, or the first. Names are spelled by the given function.
func (w wireTable) sample(message, member string, spell func(tableField) string) map[string]any {
	object := map[string]any{}
	chosen := ""
	for _, f := range w.fields(message) {
		if f.Oneof != "" {
			if chosen != "" || member != "" && f.Name != member {
				continue
			}
			chosen = f.Name
		}
		typ := f.Type
		if typ == "map" {
			typ = f.MapValue
		}
		value := w.sampleValue(typ, spell)
		switch {
		case f.Repeated:
			value = []any{value, value}
		case f.Type == "map":
			value = map[string]any{"one": value, "two": value}
		}
		object[spell(f)] = value
	}
	return object
}

func (w wireTable) sampleValue(typ string, spell func(tableField) string) any {
	switch typ {
	case "string":
		return "text"
	case "bool":
		return true
	case "int32":
		return float64(7)
	case "bytes":
		return "aGk="
	case "google.protobuf.Struct":
		return map[string]any{"a_b": []any{nil, "x"}}
	case "google.protobuf.Value":
		return []any{float64(1), nil}
	case "google.protobuf.Timestamp":
		return "2026-01-01T10:00:00.500Z"
	}
	if e := w.enum(typ); e != nil {
		return e.Values[1].Name
	}
	return w.sample(typ, "", spell)
}

func camel(f tableField) string { return f.JSON }
func snake(f tableField) string { return f.Name }

// REQ-PJ-01, REQ-PJ-02, REQ-PJ-03, REQ-PJ-07, REQ-PJ-26: every member of every
// message is read in both spellings and written in the wire's. So the names of
// the prose mean nothing: PVP-03, PVP-04, PVP-05, PVP-08, PVP-14, PVP-18, PVP-25 (read),
// PVP-26, PVP-30, PVP-35, PVP-37, PVP-38, PVP-39.
func TestEveryMemberIsReadAndWritten(t *testing.T) {
	table := readTable(t)
	covered := map[string]bool{}
	for _, m := range table.Messages {
		covered[m.Name] = true
		members := []string{""}
		for _, f := range m.Fields {
			if f.Oneof != "" {
				members = append(members, f.Name)
			}
		}
		for _, member := range members {
			want := table.sample(m.Name, member, camel)
			for _, spell := range []func(tableField) string{camel, snake} {
				data, err := json.Marshal(table.sample(m.Name, member, spell))
				if err != nil {
					t.Fatal(err)
				}
				value, violations, err := codecs[m.Name].decode(data)
				if err != nil || len(violations) > 0 {
					t.Errorf("%s: error %v, violations %v\n%s", m.Name, err, violations, data)
					continue
				}
				var got map[string]any
				if err := json.Unmarshal(value.AppendJSON(nil), &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", m.Name, diff)
				}
				checkRoundTrip(t, m.Name, data)
			}
		}
	}
	if diff := cmp.Diff(covered, keySet(codecs)); diff != "" {
		t.Errorf("messages of the table and of the tests (-table +tests):\n%s", diff)
	}
}

func keySet[V any](m map[string]V) map[string]bool {
	set := map[string]bool{}
	for key := range m {
		set[key] = true
	}
	return set
}

// REQ-PJ-15, REQ-PJ-17, REQ-PJ-23: a value with nothing set is written with its
// REQUIRED members and no other.
func TestZeroValuesAreWrittenWithRequiredMembersOnly(t *testing.T) {
	table := readTable(t)
	for _, m := range table.Messages {
		var want []string
		for _, f := range m.Fields {
			if f.Required {
				want = append(want, f.JSON)
			}
		}
		var object map[string]any
		if err := json.Unmarshal(codecs[m.Name].zero().AppendJSON(nil), &object); err != nil {
			t.Fatal(err)
		}
		got := slices.Collect(maps.Keys(object))
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", m.Name, diff)
		}
		for name, value := range object {
			if value == nil {
				t.Errorf("%s.%s is written as null", m.Name, name)
			}
		}
	}
}

// REQ-PJ-16, PVP-24: each REQUIRED member that is absent is named.
func TestAbsentRequiredMembersAreNamed(t *testing.T) {
	table := readTable(t)
	for _, m := range table.Messages {
		var want []string
		for _, f := range m.Fields {
			if f.Required {
				want = append(want, f.JSON)
			}
		}
		for _, text := range []string{`{}`, `{"unknown":[{}]}`} {
			if m.Name == "SecurityRequirement" {
				continue // not a case of REQUIRED, see its own test
			}
			_, violations, err := codecs[m.Name].decode([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range violations {
				if v.Reason == a2a.Missing {
					got = append(got, v.Field)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", m.Name, text, diff)
			}
		}
	}
}

// REQ-PJ-22: null is as good as absent for everything but Part.data.
func TestNullIsAbsent(t *testing.T) {
	table := readTable(t)
	for _, m := range table.Messages {
		for _, f := range m.Fields {
			if f.Type == "google.protobuf.Value" {
				continue
			}
			got, _, err := codecs[m.Name].decode([]byte(`{"` + f.JSON + `":null}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(codecs[m.Name].zero(), got); diff != "" {
				t.Errorf("%s.%s: null left something (-want +got):\n%s", m.Name, f.JSON, diff)
			}
		}
	}
}

// Every member refuses JSON of another type, says where, and lets the rest of
// the object be read.
func TestWrongTypesAreNamed(t *testing.T) {
	table := readTable(t)
	wrong := map[string][]string{
		"string": {`5`, `true`, `{}`, `[]`}, "bool": {`"true"`, `1`, `{}`}, "int32": {`true`, `{}`, `[1]`, `"x"`},
		"bytes": {`5`, `[]`, `{}`}, "google.protobuf.Struct": {`[]`, `"x"`, `1`},
		"google.protobuf.Timestamp": {`5`, `{}`}, "list": {`{}`, `"x"`, `5`}, "map": {`[]`, `"x"`, `false`},
		"enum": {`true`, `{}`, `[]`}, "message": {`[]`, `"x"`, `3`},
	}
	for _, m := range table.Messages {
		for _, f := range m.Fields {
			kind := f.Type
			switch {
			case f.Repeated:
				kind = "list"
			case table.enum(f.Type) != nil:
				kind = "enum"
			case table.fields(f.Type) != nil:
				kind = "message"
			case f.Type == "google.protobuf.Value":
				continue
			}
			for _, value := range wrong[kind] {
				member := ""
				if f.Oneof != "" {
					member = f.Name
				}
				object := table.sample(m.Name, member, camel)
				delete(object, f.JSON)
				data, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				text := `{"` + f.JSON + `":` + value + `,` + strings.TrimPrefix(string(data), "{")
				text = strings.Replace(text, ",}", "}", 1)
				_, violations, err := codecs[m.Name].decode([]byte(text))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if len(violations) != 1 || violations[0].Reason != a2a.WrongType || violations[0].Field != f.JSON {
					t.Errorf("%s.%s = %s: violations %+v, want one WrongType on %s", m.Name, f.JSON, value, violations, f.JSON)
				}
			}
		}
	}
}

// The constants are the table's: REQ-PJ-03, REQ-RPC-03, PVP-40, PVX-14.
func TestConstantsAreTheTables(t *testing.T) {
	table := readTable(t)
	if a2a.SpecificationVersion != table.Specification || a2a.ProtoSHA256 != table.ProtoSHA256 || a2a.ProtoPackage != table.Package {
		t.Error("the revision differs from the table")
	}
	var methods []string
	for _, m := range table.Methods {
		methods = append(methods, m.Name)
		if got := a2a.Streams(m.Name); got != m.ServerStreaming {
			t.Errorf("Streams(%s) = %t", m.Name, got)
		}
	}
	if diff := cmp.Diff(methods, a2a.Methods()); diff != "" {
		t.Errorf("Methods() (-table +got):\n%s", diff)
	}
	for _, v := range table.enum("TaskState").Values {
		checkEnum(t, v.Name, v.Number, func(name string) (string, int32, bool, bool) {
			state := a2a.TaskState(name)
			number, ok := state.Number()
			return state.String(), number, ok, state.Known()
		})
	}
	for _, v := range table.enum("Role").Values {
		checkEnum(t, v.Name, v.Number, func(name string) (string, int32, bool, bool) {
			role := a2a.Role(name)
			number, ok := role.Number()
			return role.String(), number, ok, role.Known()
		})
	}
	for _, state := range []a2a.TaskState{"TASK_STATE_PAUSED", "99", "working"} {
		if _, ok := state.Number(); ok || state.Known() || state.String() != string(state) {
			t.Errorf("%q counts as known", state)
		}
	}
	if role := a2a.Role("user"); role.Known() {
		t.Error("user counts as a known role")
	}
}

func checkEnum(t *testing.T, name string, number int32, of func(string) (string, int32, bool, bool)) {
	t.Helper()
	value := name
	if number == 0 {
		value = ""
	}
	text, got, ok, known := of(value)
	if text != name || got != number || !ok || !known {
		t.Errorf("%s: String %q, Number %d %t, Known %t; want number %d", name, text, got, ok, known, number)
	}
}
