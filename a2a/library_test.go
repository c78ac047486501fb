package a2a_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
)

// The types work in both JSON libraries, as parts of other values too.
func TestUnmarshalJSON(t *testing.T) {
	type wrapper struct {
		Task a2a.Task `json:"task"`
	}
	text := `{"task":{"id":"t-1","status":{"state":"TASK_STATE_WORKING"}}}`
	want := wrapper{a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}}
	for name, lib := range map[string]struct {
		unmarshal func([]byte, any) error
		marshal   func(any) ([]byte, error)
	}{
		"encoding/json": {json.Unmarshal, json.Marshal},
		"json":          {func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) }, func(v any) ([]byte, error) { return jsonv2.Marshal(v) }},
	} {
		t.Run(name, func(t *testing.T) {
			var got wrapper
			if err := lib.unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("unmarshaled (-want +got):\n%s", diff)
			}
			for _, value := range []any{got, &got} {
				out, err := lib.marshal(value)
				if err != nil || string(out) != text {
					t.Errorf("marshaled %s, %v; want %s", out, err, text)
				}
			}
			for _, bad := range []string{`{"task":{"id":"t-1"}}`, `{"task":[]}`, `{"task":{"id":"","status":{"state":2}}}`} {
				if err := lib.unmarshal([]byte(bad), &got); err == nil {
					t.Errorf("%s is accepted", bad)
				}
			}
		})
	}
}

// However a string is escaped, it reads as the JSON library reads it.
func TestEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var literal strings.Builder
		literal.WriteByte('"')
		for _, letter := range rapid.SliceOf(rapid.Rune()).Draw(t, "letters") {
			switch form := rapid.IntRange(0, 3).Draw(t, "form"); {
			case form == 0 && strings.ContainsRune("\"\\/\b\f\n\r\t", letter):
				literal.WriteByte('\\')
				literal.WriteString(map[rune]string{'\b': "b", '\f': "f", '\n': "n", '\r': "r", '\t': "t"}[letter])
				if letter == '"' || letter == '\\' || letter == '/' {
					literal.WriteRune(letter)
				}
			case form <= 1 || letter < ' ' || letter == '"' || letter == '\\':
				for _, unit := range utf16.Encode([]rune{letter}) {
					fmt.Fprintf(&literal, []string{"\\u%04x", "\\u%04X"}[form%2], unit)
				}
			default:
				literal.WriteRune(letter)
			}
		}
		literal.WriteByte('"')
		var want string
		if err := jsonv2.Unmarshal([]byte(literal.String()), &want); err != nil {
			t.Skip(err)
		}
		part, violations, err := a2a.Decode[a2a.Part]([]byte(`{"text":` + literal.String() + `}`))
		if err != nil || len(violations) > 0 {
			t.Fatalf("%s: %v %v", literal.String(), err, violations)
		}
		if got := string(part.Content.(a2a.PartText)); got != want {
			t.Errorf("%s reads %q, want %q", literal.String(), got, want)
		}
	})
}
