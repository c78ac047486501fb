package a2a_test

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
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
