package a2a_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// REQ-VER-06, REQ-VER-12: patch numbers play no part, all else does.
func TestVersionMatches(t *testing.T) {
	for version, want := range map[string]bool{
		"1.0": true, "1.0.0": true, "1.0.1": true, "1.0.17": true,
		"": false, "1": false, "1.": false, "1.0.": false, "1.0.x": false, "1.0.1.2": false, "1.0-rc": false, "1.00": false,
		"1.1": false, "1.10": false, "0.3": false, "2.0": false, "v1.0": false, " 1.0": false, "1.0 ": false, "1.0.-1": false, "99.0": false,
	} {
		if got := a2a.VersionMatches(version); got != want {
			t.Errorf("VersionMatches(%q) = %t", version, got)
		}
	}
}

// REQ-LIFE-11: the two sets, and nothing unknown in either.
func TestStates(t *testing.T) {
	for state, want := range map[a2a.TaskState]string{
		a2a.TaskStateUnspecified: "", a2a.TaskStateSubmitted: "", a2a.TaskStateWorking: "",
		a2a.TaskStateCompleted: "terminal", a2a.TaskStateFailed: "terminal", a2a.TaskStateCanceled: "terminal",
		a2a.TaskStateRejected: "terminal", a2a.TaskStateInputRequired: "interrupted", a2a.TaskStateAuthRequired: "interrupted",
		"TASK_STATE_PAUSED": "", "completed": "", "3": "",
	} {
		got := ""
		if state.Terminal() {
			got += "terminal"
		}
		if state.Interrupted() {
			got += "interrupted"
		}
		if got != want {
			t.Errorf("%q is %q, want %q", state, got, want)
		}
	}
}

func TestConstructors(t *testing.T) {
	data, err := a2a.DataPart(map[string]int{"b": 1, "a": 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a2a.DataPart(make(chan int)); err == nil {
		t.Error("DataPart took a channel")
	}
	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart("one "), data, a2a.TextPart("two"),
		a2a.RawPart([]byte("hi"), "hi.txt", "text/plain"), a2a.URLPart("https://files.example/7.pdf", "", "application/pdf"), a2a.Part{})
	want := `{"messageId":"ID","role":"ROLE_USER","parts":[{"text":"one "},{"data":{"a":2,"b":1}},{"text":"two"},` +
		`{"raw":"aGk=","filename":"hi.txt","mediaType":"text/plain"},` +
		`{"url":"https://files.example/7.pdf","mediaType":"application/pdf"},{}]}`
	// REQ-MOD-01: every message has an id of its own.
	if other := a2a.NewMessage(a2a.RoleUser); other.MessageID == message.MessageID || other.MessageID == "" {
		t.Errorf("two messages have the ids %q and %q", message.MessageID, other.MessageID)
	}
	message.MessageID = "ID"
	if diff := cmp.Diff(want, string(message.AppendJSON(nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	artifact := a2a.Artifact{Parts: message.Parts}
	if message.Text() != "one two" || artifact.Text() != "one two" {
		t.Errorf("Text() = %q and %q", message.Text(), artifact.Text())
	}
}

// REQ-LIFE-03: no id is made twice.
func TestIdsAreOrdered(t *testing.T) {
	last := a2a.NewID()
	for range 100 {
		id := a2a.NewID()
		if len(id) != 36 || id <= last {
			t.Fatalf("%s follows %s", id, last)
		}
		last = id
	}
}

func TestViolations(t *testing.T) {
	violations := a2a.Violations{
		{Field: "message.parts", Reason: a2a.Empty, Description: "must have at least one element"},
		{Reason: a2a.TooMany, Description: "there are more violations"},
	}
	if got, want := violations.String(), "message.parts: must have at least one element; there are more violations"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if v, ok := violations.Find(a2a.Empty); !ok || v.Field != "message.parts" {
		t.Errorf("Find(Empty) = %+v, %t", v, ok)
	}
	if _, ok := violations.Find(a2a.Missing); ok {
		t.Error("Find(Missing) found something")
	}
	if violations.Only(a2a.Empty) || !violations.Only(a2a.TooMany, a2a.Empty) || !a2a.Violations(nil).Only() {
		t.Error("Only() is wrong")
	}
	if got := a2a.Reason(0).String() + a2a.Reason(99).String() + a2a.Reason(-1).String(); got != "unknownunknownunknown" {
		t.Errorf("reasons out of range are %q", got)
	}
	seen := map[string]bool{}
	for r := a2a.Missing; r <= a2a.TooMany; r++ {
		if seen[r.String()] || r.String() == "" || r.String() == "unknown" {
			t.Errorf("reason %d is %q", r, r)
		}
		seen[r.String()] = true
	}
}
