package client_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

const (
	submitted = `{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_SUBMITTED"}}}`
	inWork    = `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}`
	asks      = `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`
	done      = `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}`
	chunkOne  = `{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"Grüße "}]}}}`
	chunkTwo  = `{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"😀"}]},"append":true,"lastChunk":true}}`
	lone      = `{"message":{"messageId":"m-2","contextId":"c-1","role":"ROLE_AGENT","parts":[{"text":"pong"}]}}`
	snapshot  = `{"task":` + working + `}`
	finished  = `{"task":` + completed + `}`
)

// brief tells an event in a word or two.
func brief(event a2a.StreamResponse) string {
	state := func(s a2a.TaskState) string { return strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_")) }
	switch payload := event.Payload.(type) {
	case *a2a.Task:
		return "task " + state(payload.Status.State)
	case *a2a.Message:
		return "message " + payload.Text()
	case *a2a.TaskStatusUpdateEvent:
		return "status " + state(payload.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		return "artifact " + payload.Artifact.Text()
	}
	return "nothing"
}

// drain reads a stream to its end.
func drain(s *client.Stream) (events []string, err error) {
	for event, err := range s.All() {
		if err != nil {
			return events, err
		}
		events = append(events, brief(event))
	}
	return events, nil
}

func send(t *testing.T, c *client.Client) *client.Stream {
	t.Helper()
	s, err := c.SendStreamingMessage(t.Context(), request("hi"))
	if err != nil {
		t.Fatalf("SendStreamingMessage() error = %v", err)
	}
	return s
}

func subscribe(t *testing.T, c *client.Client) *client.Stream {
	t.Helper()
	s, err := c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t-1"})
	if err != nil {
		t.Fatalf("SubscribeToTask() error = %v", err)
	}
	return s
}

var (
	whole     = []string{"task submitted", "status working", "artifact Grüße ", "artifact 😀", "status completed"}
	wholeSent = []string{submitted, inWork, chunkOne, chunkTwo, done}
)

// F31, REQ-RPC-11: every legal form of a stream, in every cut, through memory
// and over TCP.
func TestLegalStreams(t *testing.T) {
	frame := func(format string) string {
		var b strings.Builder
		for _, event := range wholeSent {
			b.WriteString(strings.ReplaceAll(format, "EVENT", testkit.Envelope(event)))
		}
		return b.String()
	}
	lf := frame("data: EVENT\n\n")
	forms := map[string]string{
		"plain":          lf,
		"pings":          ": ping\n\n" + strings.ReplaceAll(lf, "\n\n", "\n\n: ping\n\n"),
		"ping inside":    strings.ReplaceAll(lf, "data:", ": ping\ndata:"),
		"no space":       frame("data:EVENT\n\n"),
		"CRLF":           frame("data: EVENT\r\n\r\n"),
		"CR":             frame("data: EVENT\r\r"),
		"three lines":    strings.ReplaceAll(strings.ReplaceAll(lf, `,"id"`, ",\ndata: \"id\""), `,"result"`, ",\ndata:\"result\""),
		"BOM":            "\ufeff" + lf,
		"other fields":   frame("id: 7\nevent: x\nretry: 10\ndata: EVENT\n\n"),
		"unfinished":     lf + "data: " + testkit.Envelope(inWork) + "\n",
		"empty data":     "data\n\ndata:\n\n" + lf,
		"surplus blanks": "\n\n\n" + strings.ReplaceAll(lf, "\n\n", "\n\n\n\n"),
	}
	for name, text := range forms {
		text = strings.ReplaceAll(text, "$ID", `"1"`) // so that a cut never hits the placeholder
		for _, size := range []int{1, 2, 3, 7, 64, 1000, len(text)} {
			if size == 1 && testing.Short() {
				continue
			}
			var pieces []string
			for rest := text; rest != ""; {
				cut := min(size, len(rest))
				pieces, rest = append(pieces, rest[:cut]), rest[cut:]
			}
			for kind, start := range map[string]func(testing.TB, testkit.Answer) *testkit.Peer{"memory": testkit.NewPeer, "tcp": testkit.ListenPeer} {
				if kind == "tcp" && size != 7 {
					continue
				}
				peer := start(t, testkit.EventBytes(pieces...))
				got, err := drain(send(t, connect(t, peer, client.Config{})))
				if err != nil {
					t.Errorf("%s in pieces of %d, %s: error = %v", name, size, kind, err)
				}
				if diff := cmp.Diff(whole, got); diff != "" {
					t.Errorf("%s in pieces of %d, %s: (-want +got)\n%s", name, size, kind, diff)
				}
			}
		}
	}
}

// F31: one long line is read whole.
func TestAMegabyteOnOneLine(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	long := strings.Replace(chunkOne, "Grüße ", text, 1)
	peer := testkit.ListenPeer(t, testkit.Events(submitted, long, done))
	got, err := drain(send(t, connect(t, peer, client.Config{})))
	if err != nil || len(got) != 3 || got[1] != "artifact "+text {
		t.Errorf("got %d events, error %v", len(got), err)
	}
}

// F31: a line over the cap, endless or not, makes the client poll; nothing is
// sent again.
func TestALineThatIsTooLong(t *testing.T) {
	for name, streaming := range map[string]testkit.Answer{
		"endless":   testkit.EndlessLine(submitted),
		"over cap":  testkit.Events(submitted, strings.Replace(chunkOne, "Grüße", strings.Repeat("x", 8000), 1), done),
		"over all":  testkit.Events(append([]string{submitted}, slices.Repeat([]string{inWork}, 50)...)...),
		"bad event": testkit.Events(submitted, `{"statusUpdate":{},"message":{}}`),
		"wrong id":  testkit.EventBytes("data: "+testkit.Envelope(submitted)+"\n\n", `data: {"jsonrpc":"2.0","id":"x","result":`+done+"}\n\n"),
		"no JSON":   testkit.EventBytes("data: "+testkit.Envelope(submitted)+"\n\n", "data: hello\n\n"),
		"no task":   testkit.Events(submitted, `{"statusUpdate":{"status":{"state":"TASK_STATE_COMPLETED"}}}`),
	} {
		peer := testkit.NewPeer(t, testkit.Routes(map[string]testkit.Answer{
			a2a.MethodSendStreamingMessage: streaming,
			a2a.MethodGetTask:              testkit.Result(completed),
		}))
		got, err := drain(send(t, connect(t, peer, client.Config{MaxEventBytes: 4000, MaxStreamBytes: 4000})))
		if err != nil || len(got) < 2 || got[0] != "task submitted" || got[len(got)-1] != "task completed" {
			t.Errorf("%s: events %q, error %v, want the task in the end", name, got, err)
		}
		want := []string{a2a.MethodSendStreamingMessage, a2a.MethodGetTask}
		if diff := cmp.Diff(want, peer.Operations()); diff != "" {
			t.Errorf("%s: requests (-want +got)\n%s", name, diff)
		}
	}
	peer := testkit.NewPeer(t, testkit.EndlessLine())
	if err := operations[a2a.MethodSendStreamingMessage](t, connect(t, peer, client.Config{MaxEventBytes: 4000})); !errors.Is(err, client.ErrTooLarge) {
		t.Errorf("an endless first line: error = %v, want a named one", err)
	}
	peer = testkit.NewPeer(t, testkit.Events(strings.Repeat(" ", 8000)+submitted))
	c := connect(t, peer, client.Config{MaxStreamBytes: 4000})
	if err := operations[a2a.MethodSendStreamingMessage](t, c); !errors.Is(err, client.ErrTooLarge) && !isA[*guard.TooLargeError](err) {
		t.Errorf("a stream over its cap: error = %v, want a named one", err)
	}
}

// REQ-STRM-13, REQ-STRM-14, REQ-FWD-02, PVP-34, PVP-35, PVP-36, F35.
func TestStreamGrammar(t *testing.T) {
	later := `{"messageUpdate":{"taskId":"t-1","delta":"x"}}`
	other := strings.ReplaceAll(inWork, "t-1", "t-2")
	for _, tt := range []struct {
		name string
		sent []string
		want []string
	}{
		{"message only", []string{lone}, []string{"message pong"}},
		{"a message and more", []string{lone, lone, submitted}, []string{"message pong"}},
		{"whole task", wholeSent, whole},
		{"final means nothing", []string{submitted, strings.Replace(inWork, `"taskId"`, `"final":true,"taskId"`, 1), done}, []string{"task submitted", "status working", "status completed"}},
		{"ended at once", []string{finished}, []string{"task completed"}},
		{"asks for input", []string{submitted, asks}, []string{"task submitted", "status input_required"}},
		{"unknown member first", []string{later, submitted, done}, []string{"task submitted", "status completed"}},
		{"names of the documentation", []string{submitted, `{"taskStatusUpdate":{"taskId":"t-1"}}`, strings.Replace(chunkOne, `"artifact":`, `"index":3,"artifact":`, 1), done},
			[]string{"task submitted", "artifact Grüße ", "status completed"}}, // PVP-35, PVP-36
		{"unknown member between", []string{submitted, later, `{}`, inWork, done}, []string{"task submitted", "status working", "status completed"}},
		{"another task's event", []string{submitted, other, done}, []string{"task submitted", "status completed"}},
		{"a message in a task", []string{submitted, lone, done}, []string{"task submitted", "status completed"}},
		{"after the end", []string{submitted, done, inWork, finished, snapshot}, []string{"task submitted", "status completed", "task completed"}},
		{"update first", []string{inWork, done}, []string{"status working", "status completed"}},
		{"unknown state", []string{submitted, strings.Replace(inWork, "WORKING", "PAUSED", 1), done}, []string{"task submitted", "status paused", "status completed"}},
	} {
		peer := testkit.NewPeer(t, testkit.Script(testkit.Events(tt.sent...)))
		c := connect(t, peer, client.Config{})
		s := send(t, c)
		got, err := drain(s)
		if err != nil {
			t.Errorf("%s: error = %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("%s: Next() after the end: error = %v, want io.EOF", tt.name, err)
		}
	}
}

func TestStreamTask(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Events(wholeSent...))
	s := send(t, connect(t, peer, client.Config{}))
	if id, state := s.Task(); id != "" || state != "" {
		t.Errorf("Task() before the first event = %q, %q", id, state)
	}
	for range s.All() {
	}
	if id, state := s.Task(); id != "t-1" || state != a2a.TaskStateCompleted {
		t.Errorf("Task() = %q, %q", id, state)
	}
}

// REQ-RPC-12: errors before the stream, in either style.
func TestErrorsOfStreams(t *testing.T) {
	inStream := testkit.EventBytes("data: " + testkit.Failure(-32004, "no") + "\n\n")
	for name, answer := range map[string]testkit.Answer{"as JSON": testkit.Fail(-32004, "no"), "as an event": inStream} {
		for _, method := range []string{a2a.MethodSendStreamingMessage, a2a.MethodSubscribeToTask} {
			peer := testkit.NewPeer(t, answer)
			if err := operations[method](t, connect(t, peer, client.Config{})); !errors.Is(err, a2a.ErrUnsupportedOperation) {
				t.Errorf("%s %s: error = %v, want the peer's -32004", method, name, err)
			}
		}
	}
	peer := testkit.NewPeer(t, testkit.Script(testkit.EventBytes("data: "+testkit.Envelope(submitted)+"\n\n", "data: "+testkit.Failure(-32603, "stopping")+"\n\n")))
	got, err := drain(send(t, connect(t, peer, client.Config{})))
	if !isA[*client.PeerError](err) || len(got) != 1 {
		t.Errorf("an error in the middle: events %q, error %v", got, err)
	}
	for name, answer := range map[string]testkit.Answer{
		"empty": testkit.Events(), "cut at once": testkit.BrokenEvents(), "unfinished": testkit.EventBytes("data: {}\n"), "page in a stream": testkit.HTTP(502, "text/event-stream", "data: x\n\n"),
	} {
		peer := testkit.NewPeer(t, answer)
		err := operations[a2a.MethodSendStreamingMessage](t, connect(t, peer, client.Config{}))
		if err == nil || client.Classify(err, false) != client.Ambiguous {
			t.Errorf("%s: error = %v, want one of ambiguous meaning", name, err)
		}
	}
	for name, answer := range map[string]testkit.Answer{
		"another task": testkit.Events(strings.ReplaceAll(snapshot, "t-1", "t-2")), "no snapshot": testkit.Events(inWork), "a message": testkit.Events(lone),
	} {
		peer := testkit.NewPeer(t, answer)
		if err := operations[a2a.MethodSubscribeToTask](t, connect(t, peer, client.Config{})); !isA[*client.InvalidResponseError](err) {
			t.Errorf("SubscribeToTask answered with %s: error = %v", name, err)
		}
	}
}

// A peer that does not stream after all: its one answer is a stream of one.
func TestAPlainAnswerToAStream(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Result(finished))
	got, err := drain(send(t, connect(t, peer, client.Config{})))
	if err != nil || !cmp.Equal(got, []string{"task completed"}) {
		t.Errorf("events %q, error %v", got, err)
	}
}

// PVX-01: a peer that leaves its stream open is not waited for once there is
// nothing to wait for.
func TestStreamsThatStayOpen(t *testing.T) {
	for name, sent := range map[string][]string{"ended": {submitted, done}, "message": {lone}, "input": {submitted, asks}} {
		synctest.Test(t, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.OpenEvents(sent...))
			start := time.Now()
			got, err := drain(send(t, connect(t, peer, client.Config{})))
			if err != nil || len(got) != len(sent) {
				t.Errorf("%s: events %q, error %v", name, got, err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s: waited %v", name, took)
			}
			if asked := peer.Operations(); len(asked) != 1 {
				t.Errorf("%s: the peer was asked %v, want the send alone", name, asked)
			}
		})
	}
}

// PVX-01: a stream that asks for input and goes on at once was not at its end.
func TestInputThatCameOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			w.StreamHead()
			w.Event(submitted)
			w.Event(asks)
			time.Sleep(500 * time.Millisecond)
			w.Event(inWork)
			time.Sleep(10 * time.Second)
			w.Event(done)
			w.Write("0\r\n\r\n")
		})
		got, err := drain(send(t, connect(t, peer, client.Config{})))
		want := []string{"task submitted", "status input_required", "status working", "status completed"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	})
}

// PVX-01: a subscription stays open while the task waits for input.
func TestSubscriptionsOutliveInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			w.StreamHead()
			w.Event(snapshot)
			w.Event(asks)
			time.Sleep(time.Minute)
			w.Event(done)
			w.Write("0\r\n\r\n")
		})
		got, err := drain(subscribe(t, connect(t, peer, client.Config{})))
		want := []string{"task working", "status input_required", "status completed"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("error %v (-want +got)\n%s", err, diff)
		}
	})
}

func TestCloseEndsANextThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.OpenEvents(submitted))
		s := send(t, connect(t, peer, client.Config{}))
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := s.Next()
			ended <- err
		}()
		synctest.Wait()
		s.Close()
		if err := <-ended; err != io.EOF {
			t.Errorf("Next() error = %v, want io.EOF", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close() again: %v", err)
		}
	})
}

func TestTheContextEndsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.OpenEvents(submitted))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s, err := connect(t, peer, client.Config{}).SendStreamingMessage(ctx, request("hi"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := drain(s)
		if !errors.Is(err, context.DeadlineExceeded) || len(got) != 1 {
			t.Errorf("events %q, error %v, want the deadline", got, err)
		}
	})
}
