package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
)

// row is one behaviour as a caller sees it.
type row struct {
	prefix  string
	inText  bool // not in the id of a message
	state   a2a.TaskState
	message string   // of the last status
	parts   []string // of the artifact, in words
	took    time.Duration
	updates int // WORKING, beyond the first
}

const fileWords = "raw output.txt text/plain Generated text content"

var rows = []row{
	{prefix: "tck-complete-task", state: a2a.TaskStateCompleted, message: "Hello from TCK"},
	{prefix: "tck-input-required", state: a2a.TaskStateInputRequired},
	{prefix: "tck-reject-task", state: a2a.TaskStateRejected, message: "rejected"},
	{prefix: "tck-artifact-text", state: a2a.TaskStateCompleted, parts: []string{"Generated text content"}},
	{prefix: "tck-artifact-file", state: a2a.TaskStateCompleted, parts: []string{fileWords}},
	{prefix: "tck-artifact-file-url", state: a2a.TaskStateCompleted, parts: []string{"url output.txt text/plain https://example.com/output.txt"}},
	{prefix: "tck-artifact-data", state: a2a.TaskStateCompleted, parts: []string{`data {"key":"value","count":42}`}},
	{prefix: "tck-stream-001", state: a2a.TaskStateCompleted, parts: []string{"Stream hello from TCK"}},
	{prefix: "tck-stream-002", state: a2a.TaskStateCompleted},
	{prefix: "tck-stream-003", state: a2a.TaskStateCompleted, parts: []string{"Stream task lifecycle"}},
	{prefix: "tck-stream-ordering-001", state: a2a.TaskStateCompleted, parts: []string{"Ordered output"}},
	{prefix: "tck-stream-artifact-text", state: a2a.TaskStateCompleted, parts: []string{"Streamed text content"}},
	{prefix: "tck-stream-artifact-file", state: a2a.TaskStateCompleted, parts: []string{fileWords}},
	{prefix: "tck-stream-artifact-chunked", state: a2a.TaskStateCompleted, parts: []string{"chunk-1 ", "chunk-2"}},
	{prefix: "test-resubscribe-message-id", state: a2a.TaskStateCompleted, took: 4 * time.Second},
	{prefix: "tck-long-running", inText: true, state: a2a.TaskStateCompleted, parts: []string{"Long-running work is done"}, took: 5 * time.Second},
	{prefix: "tck-multi-turn", inText: true, state: a2a.TaskStateInputRequired},
	{prefix: "tck-stream-basic", inText: true, state: a2a.TaskStateCompleted, parts: []string{"Streamed output"}},
	{prefix: "tck-stream-chunked", inText: true, state: a2a.TaskStateCompleted, parts: []string{"piece-1 ", "piece-2 ", "piece-3"}},
	{prefix: "tck-task-failure", inText: true, state: a2a.TaskStateFailed, message: "The task failed, as it was asked to."},
	{prefix: "stream:3:700", inText: true, state: a2a.TaskStateCompleted, took: 700 * time.Millisecond, updates: 3},
	{prefix: "stream:2:0", inText: true, state: a2a.TaskStateCompleted, updates: 2},
	{prefix: "stream:0:0", inText: true, state: a2a.TaskStateCompleted},
	{prefix: "chunks:3:700", inText: true, state: a2a.TaskStateCompleted, parts: []string{"1 ", "2 ", "3 "}, took: 700 * time.Millisecond},
	{prefix: "stream:100001:0", inText: true, state: a2a.TaskStateRejected, message: "At most 100000 updates after at most 600000 milliseconds."},
	{prefix: "chunks:1:600001", inText: true, state: a2a.TaskStateRejected, message: "At most 100000 updates after at most 600000 milliseconds."},
	{prefix: "stream:x:0", inText: true, state: a2a.TaskStateCompleted, parts: []string{"stream:x:0 and more"}},
	{prefix: "chunks:1", inText: true, state: a2a.TaskStateCompleted, parts: []string{"chunks:1 and more"}},
	{prefix: "stream: 1", inText: true, state: a2a.TaskStateCompleted, parts: []string{"stream: 1 and more"}},
	{prefix: "anything", inText: true, state: a2a.TaskStateCompleted, parts: []string{"anything and more"}},
}

// messages are the ways to name a behaviour: by id, with a text that names
// another, and by text.
func (r row) messages() [][2]string {
	ways := [][2]string{{"m-1", r.prefix + " and more"}}
	if !r.inText {
		ways = append(ways, [2]string{r.prefix + "-4711", "tck-task-failure"})
	}
	return ways
}

// inBothSets runs a test in virtual time with either capability set.
func inBothSets(t *testing.T, test func(r *rig, on bool)) {
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprintf("on=%v", on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, on)
				defer r.stop()
				test(r, on)
			})
		})
	}
}

// Every behaviour is the same by id and by text, for new tasks and follow-ups.
func TestEveryScript(t *testing.T) {
	inBothSets(t, func(r *rig, _ bool) {
		for _, row := range rows {
			for _, m := range row.messages() {
				name := m[0] + " " + m[1]
				began := time.Now()
				task := r.task(say(m[0], m[1]))
				row.check(r.t, name, task, time.Since(began))

				open := r.task(say("tck-input-required", "x"))
				began = time.Now()
				next := r.task(say(m[0], m[1], in(open.ID)))
				if next.ID != open.ID {
					r.t.Errorf("%s: a follow-up made a task of its own", name)
				}
				row.check(r.t, name+", follow-up", next, time.Since(began))
			}
		}
	})
}

func (r row) check(t *testing.T, name string, task *a2a.Task, took time.Duration) {
	t.Helper()
	if task.Status.State != r.state || words(task.Status.Message) != r.message {
		t.Errorf("%s: %s %q, want %s %q", name, task.Status.State, words(task.Status.Message), r.state, r.message)
	}
	if took < r.took || took > r.took+time.Second {
		t.Errorf("%s took %v, want %v", name, took, r.took)
	}
	var parts []string
	for _, artifact := range task.Artifacts {
		parts = append(parts, describe(artifact.Parts)...)
	}
	if diff := cmp.Diff(r.parts, parts); diff != "" || len(task.Artifacts) > 1 {
		t.Errorf("%s: %d artifacts (-want +got):\n%s", name, len(task.Artifacts), diff)
	}
}

// A stream tells the same story: the task as it was taken, WORKING, pieces, the
// end.
func TestEveryScriptAsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, true)
		defer r.stop()
		for _, row := range rows {
			for _, m := range row.messages() {
				open := r.task(say("tck-input-required", "x"))
				fresh, next := say(m[0], m[1]), say(m[0], m[1], in(open.ID))
				// The task that a stream of a follow-up begins with is WORKING.
				for params, want := range map[string][]string{fresh: row.story(1), next: row.story(0)} {
					got := story(events(t, r.post("/", "SendStreamingMessage", params)))
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-want +got):\n%s", params, diff)
					}
				}
			}
		}
	})
}

func (r row) story(entered int) []string {
	told := []string{"task"}
	for range entered + r.updates {
		told = append(told, "TASK_STATE_WORKING")
	}
	for i, part := range r.parts {
		told = append(told, fmt.Sprintf("%s append=%v last=%v", part, i > 0, i == len(r.parts)-1))
	}
	return append(told, strings.TrimSpace(string(r.state)+" "+r.message))
}

func story(all []a2a.StreamResponse) []string {
	var told []string
	for _, event := range all {
		switch e := event.Payload.(type) {
		case *a2a.Task:
			told = append(told, "task")
		case *a2a.TaskStatusUpdateEvent:
			told = append(told, strings.TrimSpace(string(e.Status.State)+" "+words(e.Status.Message)))
		case *a2a.TaskArtifactUpdateEvent:
			told = append(told, fmt.Sprintf("%s append=%v last=%v", strings.Join(describe(e.Artifact.Parts), "|"), e.Append, e.LastChunk))
		case *a2a.Message:
			told = append(told, "message "+words(e))
		}
	}
	return told
}

func words(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	return m.Text()
}

// describe says in words what parts hold.
func describe(parts []a2a.Part) []string {
	var told []string
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.PartText:
			told = append(told, string(content))
		case a2a.PartRaw:
			told = append(told, fmt.Sprintf("raw %s %s %s", part.Filename, part.MediaType, content))
		case a2a.PartURL:
			told = append(told, fmt.Sprintf("url %s %s %s", part.Filename, part.MediaType, content))
		case a2a.PartData:
			told = append(told, fmt.Sprintf("data %s", content))
		}
	}
	return told
}

// A message is answered without a task, unless it continues one.
func TestMessageResponse(t *testing.T) {
	inBothSets(t, func(r *rig, on bool) {
		for _, params := range []string{say("tck-message-response-1", "x"), say("m-1", "tck-message-response")} {
			m, ok := r.message(params).(*a2a.Message)
			if !ok || m.Text() != "Direct message response" {
				r.t.Errorf("%s: %+v", params, m)
			}
			open := r.task(say("tck-input-required", "x"))
			with := strings.TrimSuffix(params, "}}") + in(open.ID) + "}}"
			if task := r.task(with); task.Status.State != a2a.TaskStateCompleted || words(task.Status.Message) != "Direct message response" {
				r.t.Errorf("%s: %+v", with, task.Status)
			}
			if !on {
				continue
			}
			got := story(events(r.t, r.post("/", "SendStreamingMessage", params)))
			if diff := cmp.Diff([]string{"message Direct message response"}, got); diff != "" {
				r.t.Errorf("%s (-want +got):\n%s", params, diff)
			}
		}
	})
}

// A conversation goes on until it is told that it is done, and is the caller's
// alone.
func TestMultiTurn(t *testing.T) {
	inBothSets(t, func(r *rig, _ bool) {
		task := r.task(say("m-1", "tck-multi-turn"))
		for _, text := range []string{"second", "tck-multi-turn again", "third", "done it is not"} {
			task = r.task(say("m-1", text, in(task.ID)))
			if task.Status.State != a2a.TaskStateInputRequired || task.Status.Message != nil {
				r.t.Fatalf("%s: %+v", text, task.Status)
			}
		}
		task = r.task(say("m-1", "done", in(task.ID)))
		if task.Status.State != a2a.TaskStateCompleted {
			r.t.Errorf("done: %s", task.Status.State)
		}
		var history []string
		for _, m := range task.History {
			history = append(history, m.Text())
			if m.Role != a2a.RoleUser {
				r.t.Errorf("the agent said %q", m.Text())
			}
		}
		want := []string{"tck-multi-turn", "second", "tck-multi-turn again", "third", "done it is not", "done"}
		if diff := cmp.Diff(want, history); diff != "" {
			r.t.Errorf("history (-want +got):\n%s", diff)
		}
		// A task that asks for input once does not keep what follows.
		open := r.task(say("tck-input-required", "x"))
		if next := r.task(say("m-2", "and", in(open.ID))); next.Status.State != a2a.TaskStateCompleted {
			r.t.Errorf("after tck-input-required: %s", next.Status.State)
		}
	})
}

func TestCancel(t *testing.T) {
	inBothSets(t, func(r *rig, _ bool) {
		at := strings.TrimSuffix(say("m-1", "tck-cancel"), "}") + `,"configuration":{"returnImmediately":true}}`
		open := r.task(say("tck-input-required", "x"))
		for _, params := range []string{at, strings.Replace(at, `"role"`, in(open.ID)[1:]+`,"role"`, 1)} {
			id := `{"id":"` + string(r.task(params).ID) + `"}`
			time.Sleep(time.Minute) // it does not end by itself
			task := decode[a2a.Task](r.t, r.post("/", "GetTask", id).Body.Bytes())
			if task.Status.State != a2a.TaskStateWorking {
				r.t.Errorf("before: %s", task.Status.State)
			}
			task = decode[a2a.Task](r.t, r.post("/", "CancelTask", id).Body.Bytes())
			if task.Status.State != a2a.TaskStateCanceled {
				r.t.Errorf("after: %s", task.Status.State)
			}
		}
	})
}

// An authorization is asked for out of band, so a stream stays open for what
// follows.
func TestAuthRequired(t *testing.T) {
	inBothSets(t, func(r *rig, on bool) {
		task := r.task(say("m-1", "tck-auth-required"))
		if task.Status.State != a2a.TaskStateAuthRequired || task.Status.Message == nil {
			r.t.Errorf("%+v", task.Status)
		}
		if next := r.task(say("m-1", "tck-complete-task", in(task.ID))); next.Status.State != a2a.TaskStateCompleted {
			r.t.Errorf("a follow-up: %+v", next.Status)
		}
		if !on {
			return
		}
		streamed := make(chan []string)
		go func() {
			streamed <- story(events(r.t, r.post("/", "SendStreamingMessage", say("m-1", "tck-auth-required"))))
		}()
		time.Sleep(time.Second) // of the bubble: the store may wait a little for company
		list := decode[a2a.ListTasksResponse](r.t, r.post("/", "ListTasks", `{"status":"TASK_STATE_AUTH_REQUIRED"}`).Body.Bytes())
		if len(list.Tasks) != 1 {
			r.t.Fatalf("%d tasks wait for an authorization, want 1", len(list.Tasks))
		}
		r.task(say("tck-stream-002", "x", in(list.Tasks[0].ID)))
		want := []string{"task", "TASK_STATE_WORKING", "TASK_STATE_AUTH_REQUIRED An authorization is required.", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}
		if diff := cmp.Diff(want, <-streamed); diff != "" {
			r.t.Errorf("stream (-want +got):\n%s", diff)
		}
	})
}

// No prefix stands twice in the table, and each is played by somebody.
func TestScriptsAreDistinct(t *testing.T) {
	var seen []string
	for _, s := range scripts {
		if s.prefix == "" || s.play == nil || slices.Contains(seen, s.prefix) {
			t.Errorf("%+v", s.prefix)
		}
		seen = append(seen, s.prefix)
	}
}
