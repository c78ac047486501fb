package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

func event(t *testing.T, text string) a2a.StreamResponse {
	t.Helper()
	e, violations, err := a2a.Decode[a2a.StreamResponse]([]byte(text))
	if err != nil || len(violations) > 0 {
		t.Fatalf("event %s: %v %v", text, violations, err)
	}
	return e
}

// REQ-STRM-16, DEC-09, DEC-19: what the events of a stream add up to.
func TestAssembly(t *testing.T) {
	said := func(state, id string) string {
		return `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"` + state + `","message":{"messageId":"` + id + `","role":"ROLE_AGENT","parts":[{"text":"` + id + `"}]}}}}`
	}
	artifact := func(id, members, flags string) string {
		return `{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"` + id + `",` + members + `}` + flags + `}}`
	}
	for _, tt := range []struct {
		name    string
		events  []string
		want    string
		orphans int
	}{
		{"status and chunks", []string{submitted, inWork, chunkOne, chunkTwo, done},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"Grüße "},{"text":"😀"}]}]}`, 0},
		{"messages become history", []string{submitted, said("TASK_STATE_WORKING", "m-1"), said("TASK_STATE_WORKING", "m-2"), done},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"history":[{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"m-1"}]},{"messageId":"m-2","role":"ROLE_AGENT","parts":[{"text":"m-2"}]}]}`, 0},
		{"history is not doubled", []string{`{"task":{"id":"t-1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"x"}]}},"history":[{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"x"}]}]}}`, done},
			`{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"history":[{"messageId":"m-1","role":"ROLE_AGENT","parts":[{"text":"x"}]}]}`, 0},
		{"replaced artifact", []string{snapshot, chunkOne, chunkTwo, artifact("a-1", `"parts":[{"text":"new"}]`, "")},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"new"}]}]}`, 0},
		{"two artifacts in turns", []string{snapshot, artifact("a", `"parts":[{"text":"1"}]`, ""), artifact("b", `"parts":[{"text":"1"}]`, ""), artifact("a", `"parts":[{"text":"2"}]`, `,"append":true`), artifact("b", `"parts":[{"text":"2"}]`, `,"append":true`)},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","parts":[{"text":"1"},{"text":"2"}]},{"artifactId":"b","parts":[{"text":"1"},{"text":"2"}]}]}`, 0},
		{"later members count", []string{snapshot, artifact("a", `"name":"n","description":"d","metadata":{"x":1},"extensions":["e"],"parts":[{"text":"1"}]`, ""),
			artifact("a", `"parts":[{"text":"2"}]`, `,"append":true`), artifact("a", `"name":"N","description":"D","metadata":{"y":1},"extensions":["f"],"parts":[{"text":"3"}]`, `,"append":true`)},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a","name":"N","description":"D","parts":[{"text":"1"},{"text":"2"},{"text":"3"}],"metadata":{"y":1},"extensions":["f"]}]}`, 0},
		{"append to nothing", []string{snapshot, chunkTwo},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"😀"}]}]}`, 1},
		{"a snapshot replaces", []string{submitted, chunkOne, finished},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"done"}]}]}`, 0},
		{"snapshot, then chunks", []string{finished, chunkTwo},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"done"},{"text":"😀"}]}]}`, 0},
		{"the first end is kept", []string{submitted, done, inWork, snapshot, strings.Replace(done, "COMPLETED", "FAILED", 1)},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}`, 0},
		{"update before any task", []string{inWork, chunkOne},
			`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"Grüße "}]}]}`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a, twin client.Assembly
			var events []a2a.StreamResponse
			var before []string
			for _, text := range tt.events {
				e := event(t, text)
				events, before = append(events, e), append(before, string(e.AppendJSON(nil)))
			}
			for _, e := range events {
				if err := a.Apply(e); err != nil {
					t.Fatal(err)
				}
				if err := twin.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, string(a.Task().AppendJSON(nil))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, string(twin.Task().AppendJSON(nil))); diff != "" {
				t.Errorf("two assemblies of the same events differ (-want +got)\n%s", diff)
			}
			for i, e := range events {
				if got := string(e.AppendJSON(nil)); got != before[i] {
					t.Errorf("event %d was changed from %s to %s", i, before[i], got)
				}
			}
			if a.Orphans() != tt.orphans || a.Message() != nil {
				t.Errorf("Orphans() = %d, want %d; Message() = %v", a.Orphans(), tt.orphans, a.Message())
			}
		})
	}
}

// Two assemblies may share the first events and part ways later.
func TestAssembliesDoNotShareMemory(t *testing.T) {
	start := event(t, strings.Replace(finished, `{"text":"done"}`, `{"text":"1"},{"text":"2"},{"text":"3"}`, 1))
	var a, b client.Assembly
	for assembly, chunk := range map[*client.Assembly]string{&a: "a", &b: "b"} {
		for _, e := range []a2a.StreamResponse{start, event(t, strings.Replace(chunkTwo, "😀", chunk, 1))} {
			if err := assembly.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if x, y := a.Task().Artifacts[0].Text(), b.Task().Artifacts[0].Text(); x != "123a" || y != "123b" {
		t.Errorf("artifacts = %q and %q", x, y)
	}
}

func TestAssemblyOfAMessage(t *testing.T) {
	var a client.Assembly
	if a.Task() != nil || a.Message() != nil {
		t.Error("an empty assembly has something")
	}
	if err := a.Apply(event(t, lone)); err != nil || a.Message().Text() != "pong" || a.Task() != nil {
		t.Errorf("Message() = %v, error %v", a.Message(), err)
	}
	if err := a.Apply(a2a.StreamResponse{}); err != nil {
		t.Errorf("an event of an unknown kind: %v", err)
	}
}

func TestAssemblyIsBounded(t *testing.T) {
	long := strings.Repeat("x", 600)
	for name, text := range map[string]string{
		"chunks":      strings.Replace(chunkTwo, "😀", long, 1),
		"raw":         strings.Replace(chunkTwo, `{"text":"😀"}`, `{"raw":"`+strings.Repeat("AAAA", 200)+`"}`, 1),
		"url":         strings.Replace(chunkTwo, `{"text":"😀"}`, `{"url":"`+long+`"}`, 1),
		"data":        strings.Replace(chunkTwo, `{"text":"😀"}`, `{"data":"`+long+`"}`, 1),
		"statuses":    strings.Replace(inWork, `"TASK_STATE_WORKING"`, `"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"`+long+`"}]}`, 1),
		"empty parts": strings.Replace(chunkTwo, `{"text":"😀"}`, strings.TrimSuffix(strings.Repeat(`{"text":""},`, 6), ","), 1),
	} {
		a := client.Assembly{Limit: 10_000}
		if err := a.Apply(event(t, snapshot)); err != nil {
			t.Fatal(err)
		}
		applied := 0
		for ; applied < 100; applied++ {
			if err := a.Apply(event(t, text)); err != nil {
				if !errors.Is(err, client.ErrTooLarge) {
					t.Errorf("%s: error = %v", name, err)
				}
				break
			}
		}
		if applied < 5 || applied > 20 {
			t.Errorf("%s: %d events fit", name, applied)
		}
		if err := a.Apply(event(t, snapshot)); err != nil {
			t.Errorf("%s: a small snapshot after all: %v", name, err)
		}
	}
	for _, text := range []string{
		strings.Replace(lone, "pong", strings.Repeat("x", 10_000), 1),
		strings.Replace(finished, "done", strings.Repeat("x", 10_000), 1),
		`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"` + strings.Repeat("x", 5_000) + `"}]}},"history":[{"messageId":"n","role":"ROLE_AGENT","parts":[{"text":"` + strings.Repeat("x", 5_000) + `"}]}]}}`,
	} {
		a := client.Assembly{Limit: 10_000}
		if err := a.Apply(event(t, text)); !errors.Is(err, client.ErrTooLarge) {
			t.Errorf("error = %v, want ErrTooLarge", err)
		}
	}
	a := client.Assembly{Limit: 2_000}
	for range 100 { // replacing takes no more room
		if err := a.Apply(event(t, strings.Replace(chunkOne, "Grüße", long, 1))); err != nil {
			t.Fatal(err)
		}
	}
}
