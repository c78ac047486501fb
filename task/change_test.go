package task_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

var at = time.Date(2026, 5, 28, 10, 30, 0, 123_456_789, time.FixedZone("CEST", 2*3600))

func userMessage(id, text string) *a2a.Message {
	return &a2a.Message{MessageID: a2a.MessageID(id), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
}

func newRecord(state a2a.TaskState, question string) task.Record {
	rec, _ := task.NewRecord(task.Record{
		Owner: task.Owner{Agent: "", Caller: "client-a"}, ID: "t-1", ContextID: "c-1", Skill: "s",
	}, userMessage("m-1", "first"), at)
	if state == a2a.TaskStateSubmitted {
		return rec
	}
	status := a2a.TaskStatus{State: state, Timestamp: rec.StatusAt}
	if question != "" {
		status.Message = &a2a.Message{MessageID: "q-1", ContextID: "c-1", TaskID: "t-1", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart(question)}}
	}
	rec.State, rec.Status, rec.Last = state, status.AppendJSON(nil), 2
	return rec
}

// wire is a record as a peer sees it.
func wire(t *testing.T, rec task.Record) a2a.Task {
	t.Helper()
	got, violations, err := a2a.Decode[a2a.Task](rec.AppendTask(nil, task.View{Artifacts: true}))
	if err != nil || len(violations) > 0 {
		t.Fatalf("the task is not valid on the wire: %v %v\n%s", err, violations, rec.AppendTask(nil, task.View{}))
	}
	return got
}

// REQ-PJ-11, REQ-PJ-12, REQ-PJ-13: the times of a server far from UTC.
// PVP-28, PVP-29: all of it names its context.
func TestANewTaskIsSubmittedWithItsMessageAsHistory(t *testing.T) {
	rec, event := task.NewRecord(task.Record{ID: "t-1", ContextID: "c-1"}, userMessage("m-1", "hi"), at)
	want := a2a.Task{
		ID: "t-1", ContextID: "c-1",
		Status:  a2a.TaskStatus{State: a2a.TaskStateSubmitted, Timestamp: time.Date(2026, 5, 28, 8, 30, 0, 123_000_000, time.UTC)},
		History: []a2a.Message{{MessageID: "m-1", ContextID: "c-1", TaskID: "t-1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("hi")}}},
	}
	if diff := cmp.Diff(want, wire(t, rec)); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if rec.Last != 1 || event.Number != 1 || event.State != a2a.TaskStateSubmitted || rec.Turn.Number != 1 || rec.Settled != 0 {
		t.Errorf("Last %d, event %d %s, turn %d, settled %d", rec.Last, event.Number, event.State, rec.Turn.Number, rec.Settled)
	}
	if want := `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-05-28T08:30:00.123Z"}}}`; string(event.Body) != want {
		t.Errorf("event %s\nwant  %s", event.Body, want)
	}
}

// TestContinuedInEveryState walks every state against a caller's message.
// (REQ-LIFE-07, REQ-LIFE-08, REQ-SEND-08, REQ-CTX-11, REQ-CTX-12, REQ-CTX-16,
// REQ-ITA-07)
func TestContinuedInEveryState(t *testing.T) {
	for _, state := range states[1:] {
		for _, contextID := range []a2a.ContextID{"", "c-1", "c-2"} {
			rec := newRecord(state, "which one?")
			got, events, err := rec.Continued(task.Input{Message: userMessage("m-2", "that one"), ContextID: contextID, At: at.Add(time.Second)})
			var want error
			switch {
			case contextID == "c-2":
				want = task.ErrContextMismatch
			case state.Terminal():
				want = task.ErrEnded
			case !state.Interrupted():
				want = task.ErrWorking
			}
			if !errors.Is(err, want) || (want == nil) != (err == nil) {
				t.Errorf("%s, context %q: error = %v, want %v", state, contextID, err, want)
				continue
			}
			if err != nil {
				if diff := cmp.Diff(rec, got); diff != "" {
					t.Errorf("%s: a refused message changed the task:\n%s", state, diff)
				}
				continue
			}
			after := wire(t, got)
			var texts []string
			for _, m := range after.History {
				texts = append(texts, string(m.Role)+" "+m.Text())
			}
			if diff := cmp.Diff([]string{"ROLE_USER first", "ROLE_AGENT which one?", "ROLE_USER that one"}, texts); diff != "" {
				t.Errorf("%s: history (-want +got):\n%s", state, diff)
			}
			if after.Status.State != a2a.TaskStateWorking || after.Status.Message != nil || got.Turn.Number != 2 {
				t.Errorf("%s: status %+v, turn %d", state, after.Status, got.Turn.Number)
			}
			if len(events) != 2 || events[0].Number != 3 || events[0].Body != nil || events[1].Number != 4 || events[1].State != a2a.TaskStateWorking || got.Last != 4 {
				t.Errorf("%s: events %+v, last %d", state, events, got.Last)
			}
		}
	}
}

func TestContinuedKeepsWithinTheSizeOfATask(t *testing.T) {
	rec := newRecord(a2a.TaskStateInputRequired, "?")
	message := userMessage("m-2", strings.Repeat("x", 1000))
	if _, _, err := rec.Continued(task.Input{Message: message, At: at, MaxBytes: rec.Size() + 500}); !errors.Is(err, task.ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
	if _, _, err := rec.Continued(task.Input{Message: message, At: at, MaxBytes: rec.Size() + 1500}); err != nil {
		t.Errorf("error = %v, want none", err)
	}
}

// TestCanceledInEveryState walks every state against a cancellation.
// (REQ-CANC-01, REQ-CANC-02)
func TestCanceledInEveryState(t *testing.T) {
	for _, state := range states[1:] {
		rec := newRecord(state, "sure?")
		got, events, err := rec.Canceled(at.Add(time.Minute))
		if state.Terminal() {
			var ended *task.EndedError
			if !errors.As(err, &ended) || ended.State != state {
				t.Errorf("%s: error = %v, want an EndedError that names the state", state, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", state, err)
			continue
		}
		after := wire(t, got)
		if after.Status.State != a2a.TaskStateCanceled || len(events) != 1 || events[0].State != a2a.TaskStateCanceled || got.Settled != got.Last {
			t.Errorf("%s: status %+v, events %+v, settled %d of %d", state, after.Status, events, got.Settled, got.Last)
		}
	}
}

func TestAClockThatWasSetBackDoesNotReorder(t *testing.T) {
	rec := newRecord(a2a.TaskStateWorking, "")
	got, _, err := rec.Canceled(at.Add(-time.Hour))
	if err != nil || !got.StatusAt.Equal(rec.StatusAt) {
		t.Errorf("status time %v, %v; want it not before %v", got.StatusAt, err, rec.StatusAt)
	}
}

// TestHistoryLength is F20 on the form that every operation answers with.
// (REQ-HIST-01, REQ-HIST-02, REQ-HIST-03, REQ-HIST-04, PVP-22)
func TestHistoryLength(t *testing.T) {
	rec := newRecord(a2a.TaskStateInputRequired, `[{"odd":"\"]}`)
	rec, _, err := rec.Continued(task.Input{Message: userMessage("m-2", `]}"\`), At: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		length *int32
		want   []a2a.MessageID
	}{
		{nil, []a2a.MessageID{"m-1", "q-1", "m-2"}},
		{new(int32(0)), nil},
		{new(int32(1)), []a2a.MessageID{"m-2"}},
		{new(int32(2)), []a2a.MessageID{"q-1", "m-2"}},
		{new(int32(3)), []a2a.MessageID{"m-1", "q-1", "m-2"}},
		{new(int32(1000)), []a2a.MessageID{"m-1", "q-1", "m-2"}},
	} {
		text := rec.AppendTask(nil, task.View{History: test.length})
		got, _, err := a2a.Decode[a2a.Task](text)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		var ids []a2a.MessageID
		for _, m := range got.History {
			ids = append(ids, m.MessageID)
		}
		if diff := cmp.Diff(test.want, ids); diff != "" {
			t.Errorf("history length %v (-want +got):\n%s", test.length, diff)
		}
		if test.want == nil && strings.Contains(string(text), "history") {
			t.Errorf("history length 0 leaves the member in: %s", text)
		}
	}
}

// TestArtifactsAreShownOnlyWhenAsked is REQ-LIST-06, REQ-LIST-07 and PVP-21: the
// member is absent, not empty.
func TestArtifactsAreShownOnlyWhenAsked(t *testing.T) {
	rec := newRecord(a2a.TaskStateCompleted, "")
	rec.Artifacts = []byte(`[{"artifactId":"a","parts":[{"text":"x"}]}]`)
	for _, show := range []bool{true, false} {
		text := string(rec.AppendTask(nil, task.View{Artifacts: show}))
		if got := strings.Contains(text, `"artifacts"`); got != show {
			t.Errorf("View{Artifacts: %v}: %s", show, text)
		}
	}
	rec.Artifacts = nil
	if text := string(rec.AppendTask(nil, task.View{Artifacts: true})); strings.Contains(text, `"artifacts"`) {
		t.Errorf("a task without artifacts has the member: %s", text)
	}
}
