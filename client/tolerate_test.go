package client_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// REQ-PJ-06, REQ-PJ-19, REQ-PJ-25, REQ-FWD-01, REQ-FWD-04, REQ-LIST-17, REQ-MOD-09,
// PVP-21, PVP-42: what a later version adds and what peers leave out does not
// break a task.
func TestTolerantReading(t *testing.T) {
	for _, tt := range []struct {
		name, task string
		want       a2a.Task
	}{
		{"members of 1.1", `{"id":"t-1","contextId":"c-1","generation":"7","timeline":[{"generation":"1","message":{}}],"elicitations":[{}],
			"status":{"state":"TASK_STATE_WORKING","elicitations":[],"message":{"messageId":"m","role":"ROLE_AGENT","elicitationIds":["e"],"parts":[{"text":"x","role":"y"}]}},
			"artifacts":[{"artifactId":"a","startGeneration":"1","role":"ROLE_USER","parts":[{"text":"y"}]}]}`,
			a2a.Task{ID: "t-1", ContextID: "c-1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking, Message: &a2a.Message{
				MessageID: "m", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("x")}}},
				Artifacts: []a2a.Artifact{{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("y")}}}}},
		{"unknown state", `{"id":"t-1","status":{"state":"TASK_STATE_PAUSED"}}`, a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: "TASK_STATE_PAUSED"}}},
		{"unknown state number", `{"id":"t-1","status":{"state":17}}`, a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: "17"}}},
		{"no state", `{"id":"t-1","status":{}}`, a2a.Task{ID: "t-1"}},
		{"no artifacts printed", `{"id":"t-1","status":{"state":2},"artifacts":[],"history":[],"metadata":null}`, a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}},
		{"unknown part", `{"id":"t-1","status":{"state":3},"artifacts":[{"artifactId":"a","parts":[{"text":"1"},{"hologram":{"x":1},"mediaType":"model/x"},{"text":"2"}]}]}`,
			a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted},
				Artifacts: []a2a.Artifact{{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("1"), a2a.TextPart("2")}}}}},
		{"odd time and metadata", `{"id":"t-1","status":{"state":3,"timestamp":1700000000},"metadata":[]}`, a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}}},
	} {
		peer := testkit.NewPeer(t, testkit.Result(tt.task))
		got, err := connect(t, peer, client.Config{}).GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if err != nil {
			t.Errorf("%s: error = %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
		if tt.want.Status.State != a2a.TaskStateCompleted && got.Status.State.Terminal() {
			t.Errorf("%s: state %s counts as terminal", tt.name, got.Status.State)
		}
	}
}

// A task of a later version may have more unknown parts than faults are listed.
func TestManyUnknownParts(t *testing.T) {
	parts := strings.Repeat(`{"hologram":1},`, 100) + `{"text":"known"}`
	peer := testkit.NewPeer(t, testkit.Result(`{"task":{"id":"t-1","status":{"state":3},"artifacts":[{"artifactId":"a","parts":[`+parts+`]}]}}`))
	got, err := connect(t, peer, client.Config{}).SendMessage(t.Context(), request("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if task := got.Payload.(*a2a.Task); task.Artifacts[0].Text() != "known" || len(task.Artifacts[0].Parts) != 1 {
		t.Errorf("artifact = %v, want the known part alone", task.Artifacts[0])
	}
}

// REQ-GEN-04, REQ-GEN-09
func TestLogsHoldNoContent(t *testing.T) {
	var log bytes.Buffer
	peer := testkit.NewPeer(t, testkit.Result(`{"id":"t-1","status":{"state":"s3cret","message":{"messageId":"s3cret","role":"s3cret","parts":[{"s3cret":"s3cret"}]}}}`))
	c := connect(t, peer, client.Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Headers: http.Header{"X-Api-Key": {"s3cret"}}})
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"}); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "dropped") || !strings.Contains(text, "count=1") || strings.Contains(text, "s3cret") {
		t.Errorf("log = %q, want a count and no content", text)
	}
}
