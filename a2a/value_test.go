package a2a_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

func TestNewValue(t *testing.T) {
	for want, v := range map[string]any{
		`null`:                  nil,
		`"a\nb<"`:               "a\nb<",
		`{"a":[1,true],"b":{}}`: map[string]any{"b": map[string]int{}, "a": []any{1, true}},
		`{"name":"x"}`: struct {
			Name string `json:"name"`
		}{"x"},
		`[1,2]`: json.RawMessage("[1,\n 2]"),
	} {
		got, err := a2a.NewValue(v)
		if err != nil || got.String() != want {
			t.Errorf("NewValue(%v) = %s, %v; want %s", v, got, err, want)
		}
	}
	for name, v := range map[string]any{
		"channel": make(chan int), "NaN": math.NaN(), "not UTF-8": "\xff",
		"beyond a double": json.RawMessage(`1e999`), "too deep": json.RawMessage(strings.Repeat("[", 101) + strings.Repeat("]", 101)),
	} {
		if got, err := a2a.NewValue(v); err == nil {
			t.Errorf("%s became %s", name, got)
		}
	}
}

func TestValueDecode(t *testing.T) {
	var got struct {
		N float64  `json:"n"`
		L []string `json:"l"`
	}
	if err := a2a.Value(`{"n":1.5,"l":["a"]}`).Decode(&got); err != nil || got.N != 1.5 || len(got.L) != 1 {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if err := a2a.PartData(`{"n":2}`).Decode(&got); err != nil || got.N != 2 {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if err := a2a.Struct(`{"n":3}`).Decode(&got); err != nil || got.N != 3 {
		t.Errorf("decoded %+v, %v", got, err)
	}
	if err := a2a.Value(`"text"`).Decode(&got); err == nil {
		t.Error("a string was decoded into a struct")
	}
	var to any = "something"
	if err := a2a.Value(nil).Decode(&to); err != nil || to != nil {
		t.Errorf("nil decoded to %v, %v", to, err)
	}
	if got := a2a.PartData(nil).String() + a2a.Value(nil).String() + a2a.Struct(nil).String(); got != "nullnull" {
		t.Errorf("nil values are written %s", got)
	}
}

func TestStruct(t *testing.T) {
	s, err := a2a.NewStruct(map[string]any{"urn:example:b": map[string]any{"id": 1}, "a": "x"})
	if err != nil || s.String() != `{"a":"x","urn:example:b":{"id":1}}` {
		t.Fatalf("NewStruct() = %s, %v", s, err)
	}
	if empty, err := a2a.NewStruct(nil); err != nil || string(empty) != `{}` {
		t.Errorf("NewStruct(nil) = %s, %v", empty, err)
	}
	if _, err := a2a.NewStruct(map[string]any{"a": math.Inf(1)}); err == nil {
		t.Error("infinity is accepted")
	}
	if got, ok := s.Get("urn:example:b"); !ok || got.String() != `{"id":1}` {
		t.Errorf("Get() = %s, %t", got, ok)
	}
	for _, s := range []a2a.Struct{s, nil, a2a.Struct(`[]`), a2a.Struct(`{"b":`), a2a.Struct(`{"b`), a2a.Struct(`{}`)} {
		if got, ok := s.Get("b"); ok {
			t.Errorf("%s.Get(b) = %s", s, got)
		}
	}
}

func TestStructWith(t *testing.T) {
	for _, tt := range []struct{ from, key, value, want string }{
		{``, "a", `1`, `{"a":1}`},
		{`{}`, "a", ``, `{"a":null}`},
		{`{"b":1,"a":[2]}`, "c", `{ "x" : 1 }`, `{"b":1,"a":[2],"c":{"x":1}}`},
		{`{"b":1,"a":[2]}`, "b", `"new"`, `{"b":"new","a":[2]}`},
		{`{"\u0062":1}`, "b", `2`, `{"b":2}`},
		{`{}`, "say \"hi\"\n", `2`, `{"say \"hi\"\n":2}`},
	} {
		from := a2a.Struct(tt.from)
		got, err := from.With(tt.key, a2a.Value(tt.value))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s.With(%s, %s) = %s, %v; want %s", tt.from, tt.key, tt.value, got, err, tt.want)
		}
		if string(from) != tt.from {
			t.Errorf("the receiver changed to %s", from)
		}
		if got, ok := got.Get(tt.key); !ok || len(tt.value) > 0 && got[0] != tt.value[0] {
			t.Errorf("the new member reads back as %s", got)
		}
	}
	for _, tt := range []struct{ from, key, value string }{
		{`{}`, "a", `{`}, {`{}`, "\xff", `1`}, {`[]`, "a", `1`}, {`{"a"`, "b", `1`}, {`{"a":`, "b", `1`}, {`{"a":1`, "b", `1`}, {`{}`, "a", `1e999`},
	} {
		if got, err := a2a.Struct(tt.from).With(tt.key, a2a.Value(tt.value)); err == nil {
			t.Errorf("%s.With(%q, %s) = %s", tt.from, tt.key, tt.value, got)
		}
	}
}

func TestValuesInOtherJSON(t *testing.T) {
	type holder struct {
		V a2a.Value  `json:"v"`
		S a2a.Struct `json:"s"`
	}
	for name, unmarshal := range map[string]func([]byte, any) error{
		"encoding/json": json.Unmarshal,
		"json":          func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
	} {
		var got holder
		if err := unmarshal([]byte(`{"v": [1, 2], "s": {"a": 1}}`), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(holder{V: a2a.Value(`[1,2]`), S: a2a.Struct(`{"a":1}`)}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if out, err := json.Marshal(got); err != nil || string(out) != `{"v":[1,2],"s":{"a":1}}` {
			t.Errorf("%s: %s, %v", name, out, err)
		}
		if err := unmarshal([]byte(`{"s":null}`), &got); err != nil || got.S != nil {
			t.Errorf("%s: null became %s, %v", name, got.S, err)
		}
		for _, bad := range []string{`{"s":[]}`, `{"v":1e999}`, `{"s":{"a":-1e999}}`} {
			if err := unmarshal([]byte(bad), &got); err == nil {
				t.Errorf("%s: %s is accepted", name, bad)
			}
		}
	}
	var v a2a.Value
	for _, bad := range []string{``, `{`, `1 2`, `{"a":1,"a":2}`, "\"\xff\""} {
		if err := v.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
