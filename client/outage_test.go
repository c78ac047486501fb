package client_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// interruptions records what is told, and after how long.
type interruptions struct {
	start time.Time
	told  []string
	errs  []error
}

func (i *interruptions) config() client.Config {
	i.start = time.Now()
	return client.Config{
		Interrupted: func(id a2a.TaskID, err error) {
			i.told = append(i.told, fmt.Sprintf("%s lost after %v", id, time.Since(i.start)))
			i.errs = append(i.errs, err)
		},
		Resumed: func(id a2a.TaskID) { i.told = append(i.told, fmt.Sprintf("%s back after %v", id, time.Since(i.start))) },
	}
}

// An interruption is told before the first pause, and once; its end is told
// when there is a new source of events, and only then.
func TestInterruptionsOfAStream(t *testing.T) {
	auth := `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`
	busy := testkit.HTTP(503, "", "")
	for _, tt := range []struct {
		name    string
		answers []testkit.Answer
		want    []string
		fails   bool
	}{
		{"none", []testkit.Answer{testkit.Events(submitted, done)}, nil, false},
		{"cut", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 0s", "t-1 back after 500ms"}, false},
		{"closed early", []testkit.Answer{testkit.Events(submitted), testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 0s", "t-1 back after 500ms"}, false},
		{"several tries", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Bytes(), busy, testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 0s", "t-1 back after 3.5s"}, false},
		{"twice", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.BrokenEvents(snapshot, inWork), testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 0s", "t-1 back after 500ms", "t-1 lost after 500ms", "t-1 back after 1s"}, false},
		{"polled in the end", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), busy, testkit.Result(completed)},
			[]string{"t-1 lost after 0s", "t-1 back after 2.5s"}, false},
		{"given up", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), testkit.Page(403)},
			[]string{"t-1 lost after 0s"}, true},
		{"too large to go on, polled at once", []testkit.Answer{testkit.EventBytes("data: "+testkit.Envelope(submitted)+"\n\n", "data: hello\n\n"), testkit.Result(completed)}, nil, false},
		{"waits for input", []testkit.Answer{testkit.BrokenEvents(submitted, asks)}, nil, false},
		{"ends while an authorization is missing", []testkit.Answer{testkit.Events(submitted, auth), testkit.Events(snapshot, done)}, nil, false},
		{"is cut while an authorization is missing", []testkit.Answer{testkit.BrokenEvents(submitted, auth), testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 0s", "t-1 back after 500ms"}, false},
		{"can not be subscribed to while an authorization is missing", []testkit.Answer{testkit.Events(submitted, auth), busy, testkit.Events(snapshot, done)},
			[]string{"t-1 lost after 500ms", "t-1 back after 1.5s"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := testkit.NewPeer(t, testkit.Script(tt.answers...))
				var seen interruptions
				_, err := drain(send(t, connect(t, peer, seen.config())))
				if (err != nil) != tt.fails {
					t.Errorf("error = %v", err)
				}
				if diff := cmp.Diff(tt.want, seen.told); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				for _, err := range seen.errs {
					if err == nil || err == io.EOF {
						t.Errorf("told of %v, want a reason", err)
					}
				}
			})
		})
	}
}

func TestInterruptionsOfFollow(t *testing.T) {
	other := testkit.Result(`{"id":"t-2","status":{"state":"TASK_STATE_WORKING"}}`)
	for _, tt := range []struct {
		name    string
		answers []testkit.Answer
		want    []string
		fails   bool
	}{
		{"none", []testkit.Answer{status("TASK_STATE_WORKING"), status("TASK_STATE_COMPLETED")}, nil, false},
		{"two failures", []testkit.Answer{status("TASK_STATE_WORKING"), testkit.Bytes(), testkit.Page(502), status("TASK_STATE_WORKING"), status("TASK_STATE_COMPLETED")},
			[]string{"t-1 lost after 6s", "t-1 back after 29s"}, false},
		{"given up", []testkit.Answer{testkit.Bytes(), testkit.Bytes(), testkit.Bytes(), testkit.Bytes(), testkit.Bytes()}, []string{"t-1 lost after 2s"}, true},
		{"another task", []testkit.Answer{other, other, other}, []string{"t-1 lost after 2s"}, true},
		{"refused", []testkit.Answer{testkit.Page(403)}, nil, true},
		{"lost", []testkit.Answer{testkit.Fail(-32001, "who?")}, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := testkit.NewPeer(t, testkit.Script(tt.answers...))
				var seen interruptions
				_, err := connect(t, peer, seen.config()).Follow(t.Context(), "t-1", client.FollowOptions{})
				if (err != nil) != tt.fails {
					t.Errorf("error = %v", err)
				}
				if diff := cmp.Diff(tt.want, seen.told); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// What is told first is what broke.
func TestTheReasonOfAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.Script(testkit.Events(submitted), testkit.Events(snapshot, done)))
		var seen interruptions
		if _, err := drain(send(t, connect(t, peer, seen.config()))); err != nil {
			t.Fatal(err)
		}
		if len(seen.errs) != 1 || !errors.Is(seen.errs[0], io.ErrUnexpectedEOF) {
			t.Errorf("told of %v, want an early end", seen.errs)
		}
	})
}
