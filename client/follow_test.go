package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

func status(state string) testkit.Answer {
	return testkit.Result(`{"id":"t-1","status":{"state":"` + state + `"}}`)
}

// REQ-SEND-05, REQ-OPS-05, REQ-PJ-06, PVP-42, F35: what polling makes of what a peer answers.
func TestFollow(t *testing.T) {
	zero := int32(0)
	busy := testkit.HTTP(429, "application/json", testkit.Failure(-32603, "busy"), "Retry-After: 40")
	broken := testkit.JSON("{}")
	other := testkit.Result(`{"id":"t-2","status":{"state":"TASK_STATE_COMPLETED"}}`)
	for _, tt := range []struct {
		name    string
		opts    client.FollowOptions
		answers []testkit.Answer
		asked   []time.Duration // since the last question
		changes []a2a.TaskState
		state   a2a.TaskState
		is      func(error) bool
	}{
		{"pauses", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_SUBMITTED"), status("TASK_STATE_WORKING"), status("TASK_STATE_WORKING"), status("TASK_STATE_WORKING"), status("TASK_STATE_WORKING"), status("TASK_STATE_COMPLETED")},
			[]time.Duration{2, 4, 8, 15, 15, 15}, []a2a.TaskState{"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"at once", client.FollowOptions{AtOnce: true}, []testkit.Answer{status("TASK_STATE_WORKING"), status("TASK_STATE_FAILED")},
			[]time.Duration{0, 2}, []a2a.TaskState{"TASK_STATE_WORKING", "TASK_STATE_FAILED"}, a2a.TaskStateFailed, nil},
		{"own pauses", client.FollowOptions{Pauses: []time.Duration{time.Second}}, []testkit.Answer{status("TASK_STATE_WORKING"), status("TASK_STATE_REJECTED")},
			[]time.Duration{1, 1}, []a2a.TaskState{"TASK_STATE_WORKING", "TASK_STATE_REJECTED"}, a2a.TaskStateRejected, nil},
		{"unknown state", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_PAUSED"), status("TASK_STATE_PAUSED"), status(""), status("TASK_STATE_CANCELED")},
			[]time.Duration{2, 4, 8, 15}, []a2a.TaskState{"TASK_STATE_PAUSED", "", "TASK_STATE_CANCELED"}, a2a.TaskStateCanceled, nil},
		{"first end is kept", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_COMPLETED")},
			[]time.Duration{2}, []a2a.TaskState{"TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"waits for input", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_INPUT_REQUIRED")},
			[]time.Duration{2}, []a2a.TaskState{"TASK_STATE_INPUT_REQUIRED"}, a2a.TaskStateInputRequired, nil},
		{"waits for an authorization", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_AUTH_REQUIRED")},
			[]time.Duration{2}, []a2a.TaskState{"TASK_STATE_AUTH_REQUIRED"}, a2a.TaskStateAuthRequired, nil},
		{"through an authorization", client.FollowOptions{UntilTerminal: true}, []testkit.Answer{status("TASK_STATE_AUTH_REQUIRED"), status("TASK_STATE_COMPLETED")},
			[]time.Duration{2, 4}, []a2a.TaskState{"TASK_STATE_AUTH_REQUIRED", "TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"known before", client.FollowOptions{Known: &a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}}, []testkit.Answer{status("TASK_STATE_WORKING"), status("TASK_STATE_COMPLETED")},
			[]time.Duration{2, 4}, []a2a.TaskState{"TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"ended before", client.FollowOptions{Known: &a2a.Task{ID: "t-1", Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}}, nil,
			nil, nil, a2a.TaskStateFailed, nil},
		{"no history", client.FollowOptions{HistoryLength: &zero}, []testkit.Answer{status("TASK_STATE_COMPLETED")},
			[]time.Duration{2}, []a2a.TaskState{"TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"failures that pass", client.FollowOptions{}, []testkit.Answer{testkit.Bytes(), testkit.Page(502), broken, busy, status("TASK_STATE_WORKING"), testkit.Fail(-32603, "x"), status("TASK_STATE_COMPLETED")},
			[]time.Duration{2, 4, 8, 15, 40, 15, 15}, []a2a.TaskState{"TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"failures that stay", client.FollowOptions{}, []testkit.Answer{testkit.Bytes(), testkit.Page(502), broken, testkit.Bytes(), testkit.Page(504)},
			[]time.Duration{2, 4, 8, 15, 15}, nil, "", isA[*client.HTTPError]},
		{"another task", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_WORKING"), other, other, other},
			[]time.Duration{2, 4, 8, 15}, []a2a.TaskState{"TASK_STATE_WORKING"}, "", isA[*client.InvalidResponseError]},
		{"another task, not in a row", client.FollowOptions{}, []testkit.Answer{other, other, status("TASK_STATE_WORKING"), other, other, testkit.Bytes(), other, status("TASK_STATE_COMPLETED")},
			[]time.Duration{2, 4, 8, 15, 15, 15, 15, 15}, []a2a.TaskState{"TASK_STATE_WORKING", "TASK_STATE_COMPLETED"}, a2a.TaskStateCompleted, nil},
		{"lost", client.FollowOptions{}, []testkit.Answer{status("TASK_STATE_WORKING"), testkit.Fail(-32001, "who?")},
			[]time.Duration{2, 4}, []a2a.TaskState{"TASK_STATE_WORKING"}, "", isA[*client.LostTaskError]},
		{"forbidden", client.FollowOptions{}, []testkit.Answer{testkit.Page(401)},
			[]time.Duration{2}, nil, "", isA[*client.HTTPError]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				last := time.Now()
				var asked []time.Duration
				script := testkit.Script(tt.answers...)
				peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
					asked = append(asked, time.Since(last)/time.Second)
					last = time.Now()
					script(w, r)
				})
				var changes []a2a.TaskState
				opts := tt.opts
				opts.OnChange = func(task *a2a.Task) { changes = append(changes, task.Status.State) }
				bare := func(card *a2a.AgentCard) { card.Capabilities = a2a.AgentCapabilities{} }
				task, err := connect(t, peer, client.Config{}, bare).Follow(t.Context(), "t-1", opts)
				if (tt.is == nil) != (err == nil) || tt.is != nil && !tt.is(err) {
					t.Fatalf("Follow() error = %v", err)
				}
				if err == nil && task.Status.State != tt.state {
					t.Errorf("Follow() = %s, want %s", task.Status.State, tt.state)
				}
				if diff := cmp.Diff(tt.asked, asked); diff != "" {
					t.Errorf("seconds between questions (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(tt.changes, changes); diff != "" {
					t.Errorf("changes (-want +got)\n%s", diff)
				}
				if tt.opts.HistoryLength != nil && peer.Requests()[0].Params != `{"id":"t-1","historyLength":0}` {
					t.Errorf("params = %s", peer.Requests()[0].Params)
				}
			})
		})
	}
}

// F35: a task that works for ever.
func TestFollowEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		limit, deadline, want time.Duration
		is                    error
	}{
		"by its limit":    {limit: 10 * time.Minute, want: 10 * time.Minute, is: client.ErrStillRunning},
		"by default":      {want: time.Hour, is: client.ErrStillRunning},
		"by the context":  {deadline: time.Minute, want: time.Minute, is: context.DeadlineExceeded},
		"by either first": {limit: time.Minute, deadline: time.Hour, want: time.Minute, is: client.ErrStillRunning},
	} {
		synctest.Test(t, func(t *testing.T) {
			peer := testkit.NewPeer(t, status("TASK_STATE_WORKING"))
			ctx := t.Context()
			if tt.deadline > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.deadline)
				defer cancel()
			}
			start := time.Now()
			_, err := connect(t, peer, client.Config{}).Follow(ctx, "t-1", client.FollowOptions{Limit: tt.limit})
			if !errors.Is(err, tt.is) {
				t.Errorf("%s: Follow() error = %v, want %v", name, err, tt.is)
			}
			if took := time.Since(start); took != tt.want {
				t.Errorf("%s: took %v, want %v", name, took, tt.want)
			}
		})
	}
}
