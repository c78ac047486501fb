package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// REQ-MOD-08, REQ-STRM-15, REQ-STRM-20, REQ-SUBS-09, REQ-ITA-10, PVX-01, F34, F35: what becomes of a stream whose
// connection ends before the task. The message is sent once in every case.
func TestStreamsThatBreak(t *testing.T) {
	const (
		sendOp, subscribeOp, get = a2a.MethodSendStreamingMessage, a2a.MethodSubscribeToTask, a2a.MethodGetTask
	)
	input := `{"task":{"id":"t-1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`
	other := testkit.Result(`{"id":"t-2","status":{"state":"TASK_STATE_COMPLETED"}}`)
	auth := `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`
	for _, tt := range []struct {
		name    string
		answers []testkit.Answer
		want    []string
		asked   []string
		is      func(error) bool // nil: a good end
	}{
		{"cut, then subscribed", []testkit.Answer{testkit.BrokenEvents(submitted, inWork), testkit.Events(snapshot, chunkOne, done)},
			[]string{"task submitted", "status working", "task working", "artifact Grüße ", "status completed"}, []string{sendOp, subscribeOp}, nil},
		{"closed early, then subscribed", []testkit.Answer{testkit.Events(submitted), testkit.Events(snapshot, done)},
			[]string{"task submitted", "task working", "status completed"}, []string{sendOp, subscribeOp}, nil},
		{"ended meanwhile", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "it has ended"), testkit.Result(completed)},
			[]string{"task submitted", "task completed"}, []string{sendOp, subscribeOp, get}, nil},
		{"ended meanwhile, as an event", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.EventBytes("data: " + testkit.Failure(-32004, "x") + "\n\n"), testkit.Result(completed)},
			[]string{"task submitted", "task completed"}, []string{sendOp, subscribeOp, get}, nil},
		{"no subscriptions here", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32601, "x"), testkit.Result(working), testkit.Result(working), testkit.Result(completed)},
			[]string{"task submitted", "task working", "task completed"}, []string{sendOp, subscribeOp, get, get, get}, nil},
		{"busy, then subscribed", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.HTTP(503, "", "", "Retry-After: 9"), testkit.Page(502), testkit.Bytes(), testkit.Events(snapshot, done)},
			[]string{"task submitted", "task working", "status completed"}, []string{sendOp, subscribeOp, subscribeOp, subscribeOp, subscribeOp}, nil},
		{"lost", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32001, "who?")},
			[]string{"task submitted"}, []string{sendOp, subscribeOp}, isA[*client.LostTaskError]},
		{"lost while polled", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), testkit.Fail(-32001, "who?")},
			[]string{"task submitted"}, []string{sendOp, subscribeOp, get}, isA[*client.LostTaskError]},
		{"no longer allowed", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Page(403), testkit.Page(403)},
			[]string{"task submitted"}, []string{sendOp, subscribeOp, get}, isA[*client.HTTPError]},
		{"subscription without snapshot", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Events(inWork, done), testkit.Result(completed)},
			[]string{"task submitted", "task completed"}, []string{sendOp, subscribeOp, get}, nil},
		{"subscription to a task without id", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Events(strings.ReplaceAll(snapshot, "t-1", "")), testkit.Result(completed)},
			[]string{"task submitted", "task completed"}, []string{sendOp, subscribeOp, get}, nil},
		{"another task's, polled", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), other, other, other},
			[]string{"task submitted"}, []string{sendOp, subscribeOp, get, get, get}, isA[*client.InvalidResponseError]},
		{"waits for input", []testkit.Answer{testkit.BrokenEvents(submitted, asks)},
			[]string{"task submitted", "status input_required"}, []string{sendOp}, nil},
		{"waits for input by now", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.OpenEvents(input)},
			[]string{"task submitted", "task input_required"}, []string{sendOp, subscribeOp}, nil},
		{"waits for input, polled", []testkit.Answer{testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), testkit.Result(`{"id":"t-1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}`)},
			[]string{"task submitted", "task input_required"}, []string{sendOp, subscribeOp, get}, nil},
		{"waits for an authorization", []testkit.Answer{testkit.Events(submitted, auth), testkit.Events(snapshot, done)},
			[]string{"task submitted", "status auth_required", "task working", "status completed"}, []string{sendOp, subscribeOp}, nil},
		{"ended, then cut", []testkit.Answer{testkit.BrokenEvents(submitted, done)},
			[]string{"task submitted", "status completed"}, []string{sendOp}, nil},
		{"silent", []testkit.Answer{testkit.OpenEvents(submitted), testkit.Events(snapshot, done)},
			[]string{"task submitted", "task working", "status completed"}, []string{sendOp, subscribeOp}, nil},
		{"unknown state", []testkit.Answer{testkit.Events(strings.Replace(submitted, "SUBMITTED", "PAUSED", 1)), testkit.Events(snapshot, done)},
			[]string{"task paused", "task working", "status completed"}, []string{sendOp, subscribeOp}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				peer := testkit.NewPeer(t, testkit.Script(tt.answers...))
				got, err := drain(send(t, connect(t, peer, client.Config{})))
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("events (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(tt.asked, peer.Operations()); diff != "" {
					t.Errorf("requests (-want +got)\n%s", diff)
				}
				if (tt.is == nil) != (err == nil) || tt.is != nil && !tt.is(err) {
					t.Errorf("error = %v", err)
				}
			})
		})
	}
}

// A subscription that breaks while the task waits for input is taken up again;
// one that the peer ends is at its end.
func TestSubscriptionsThatBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.Script(testkit.BrokenEvents(snapshot, asks), testkit.Events(snapshot, asks)))
		got, err := drain(subscribe(t, connect(t, peer, client.Config{})))
		want := []string{"task working", "status input_required", "task working", "status input_required"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	})
}

// A peer that is gone is given up after bounded tries with growing pauses.
func TestAPeerThatStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := testkit.BrokenEvents(submitted)
		var at []time.Duration
		start := time.Now()
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			at = append(at, time.Since(start))
			if r.Operation == a2a.MethodSendStreamingMessage {
				first(w, r)
			}
		})
		got, err := drain(send(t, connect(t, peer, client.Config{})))
		if err == nil || isA[*client.PeerError](err) || len(got) != 1 {
			t.Errorf("events %q, error %v, want the network's", got, err)
		}
		seconds := func(s ...float64) (ds []time.Duration) {
			var sum time.Duration
			for _, s := range s {
				sum += time.Duration(s * float64(time.Second))
				ds = append(ds, sum)
			}
			return ds
		}
		want := seconds(0, 0.5, 1, 2, 4, 8, 15, 0, 2, 4, 8, 15)
		if diff := cmp.Diff(want, at); diff != "" {
			t.Errorf("asked at (-want +got)\n%s", diff)
		}
		if asked := peer.Operations(); asked[1] != a2a.MethodSubscribeToTask || asked[len(asked)-1] != a2a.MethodGetTask {
			t.Errorf("asked %v", asked)
		}
	})
}

// A busy peer is asked again when it said, and not for longer than is sensible.
func TestABusyPeerIsWaitedFor(t *testing.T) {
	for asked, want := range map[string]time.Duration{"9": 9 * time.Second, "86400": 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.Script(testkit.BrokenEvents(submitted),
				testkit.HTTP(429, "application/json", testkit.Failure(-32603, "busy"), "Retry-After: "+asked), testkit.Events(finished)))
			start := time.Now()
			_, err := drain(send(t, connect(t, peer, client.Config{})))
			if got := time.Since(start); err != nil || got != 500*time.Millisecond+want {
				t.Errorf("Retry-After %s: took %v, error %v, want %v", asked, got, err, 500*time.Millisecond+want)
			}
		})
	}
}

// A peer that ends every subscription after its snapshot is not asked for ever
// at full speed, nor given up while it works.
func TestAPeerThatClosesEverySubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			switch {
			case r.Operation != a2a.MethodGetTask:
				testkit.Events(snapshot)(w, r)
			case time.Since(start) < 10*time.Minute:
				testkit.Result(working)(w, r)
			default:
				testkit.Result(completed)(w, r)
			}
		})
		got, err := drain(send(t, connect(t, peer, client.Config{})))
		if err != nil || got[len(got)-1] != "task completed" {
			t.Errorf("events %q, error %v, want the end", got, err)
		}
		subscriptions := 0
		for _, operation := range peer.Operations() {
			if operation == a2a.MethodSubscribeToTask {
				subscriptions++
			}
		}
		if subscriptions != 6 {
			t.Errorf("subscribed %d times, want 6", subscriptions)
		}
	})
}

// A proxy that cuts a quiet stream every minute is lived with for hours.
func TestAProxyThatCutsEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			w.StreamHead()
			w.Event(snapshot)
			time.Sleep(time.Minute)
			if time.Since(start) > 3*time.Hour {
				w.Event(done)
				w.Write("0\r\n\r\n")
			}
		})
		got, err := drain(send(t, connect(t, peer, client.Config{})))
		if err != nil || got[len(got)-1] != "status completed" {
			t.Errorf("error = %v, last event %q", err, got[len(got)-1])
		}
	})
}

func TestCloseEndsTheRecovery(t *testing.T) {
	for name, answers := range map[string][]testkit.Answer{
		"while pausing": {testkit.BrokenEvents(submitted)},
		"while asking":  {testkit.BrokenEvents(submitted), testkit.Hang()},
		"while polling": {testkit.BrokenEvents(submitted), testkit.Fail(-32004, "x"), testkit.Hang()},
	} {
		synctest.Test(t, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.Script(answers...))
			s := send(t, connect(t, peer, client.Config{}))
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			go func() {
				_, err := s.Next()
				ended <- err
			}()
			if name == "while pausing" {
				time.Sleep(100 * time.Millisecond)
			} else {
				time.Sleep(10 * time.Second)
			}
			s.Close()
			if err := <-ended; err == nil || errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("%s: Next() error = %v", name, err)
			} else if err.Error() != "EOF" {
				t.Errorf("%s: Next() error = %v, want io.EOF", name, err)
			}
		})
	}
}
