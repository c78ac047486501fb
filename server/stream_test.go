package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/sse"
	"github.com/legation/legation/server"
)

// network serves a world over connections without buffers or delays, so that
// it can live in a synctest bubble.
type network struct {
	*http.Client
	handled chan struct{} // one for each request that was dealt with
}

func serve(t *testing.T, w *world) *network {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	n := &network{handled: make(chan struct{}, 1000)}
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer func() { n.handled <- struct{}{} }()
		w.ServeHTTP(rw, r)
	})}
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(l) })
	transport := &http.Transport{DialContext: l.dial, DisableKeepAlives: true}
	n.Client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		w.Stop()
		transport.CloseIdleConnections()
		srv.Close()
		serving.Wait()
	})
	return n
}

type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.IPAddr{} }

// open sends a request and returns the answer, whose body is still to be read.
func (n *network) open(t *testing.T, ctx context.Context, path, body string) *http.Response {
	t.Helper()
	r := request("POST", "http://agents.example.com"+path, body).WithContext(ctx)
	r.RequestURI = ""
	resp, err := n.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// stream is an open stream of events.
type stream struct {
	next func() ([]byte, bool)
}

func (n *network) stream(t *testing.T, ctx context.Context, path, body string) *stream {
	t.Helper()
	resp := n.open(t, ctx, path, body)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("not a stream: %d %s %s", resp.StatusCode, got, text)
	}
	return events(resp.Body)
}

func events(body io.Reader) *stream {
	found := make(chan []byte, 1)
	go func() {
		defer close(found)
		for data, err := range sse.Events(body, sse.Limits{}) {
			if err != nil {
				return
			}
			found <- data
		}
	}()
	return &stream{next: func() ([]byte, bool) {
		data, ok := <-found
		return data, ok
	}}
}

// rest reads the events up to the end of the stream.
func (s *stream) rest() (all []string) {
	for data, ok := s.next(); ok; data, ok = s.next() {
		all = append(all, string(data))
	}
	return all
}

func subscribe(id a2a.TaskID) string { return rpc("SubscribeToTask", `{"id":"`+string(id)+`"}`) }

func (w *world) get(t *testing.T, path string, id a2a.TaskID) a2a.Task {
	t.Helper()
	return taskOf(t, w.post(path, rpc("GetTask", `{"id":"`+string(id)+`"}`)).Body.Bytes())
}

const background = `},"configuration":{"returnImmediately":true`

// F11, REQ-MOD-08, REQ-SEND-14: the life of a task does not depend on whoever
// waits for it, and what it made is there for whoever asks later.
// REQ-STRM-11: for the task
func TestDisconnectChangesNothing(t *testing.T) {
	for _, method := range []string{"SendStreamingMessage", "SendMessage"} {
		t.Run(method, func(t *testing.T) {
			w := newWorld(t, options{})
			n := serve(t, w)
			ctx, leave := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			if method == "SendStreamingMessage" {
				s := n.stream(t, ctx, "/agents/gate", rpc(method, say("m-1", "go")))
				s.next()
			} else {
				r := request("POST", "http://agents.example.com/agents/gate", rpc(method, say("m-1", "go"))).WithContext(ctx)
				r.RequestURI = ""
				go func() {
					_, err := n.Do(r)
					failed <- err
				}()
			}
			<-w.gate.entered
			leave()
			<-n.handled // the server has noticed
			made := taskOf(t, w.post("/agents/gate", rpc("SendMessage", say("m-1", "go", background))).Body.Bytes())
			watch := n.stream(t, t.Context(), "/agents/gate", subscribe(made.ID))
			w.gate.tell <- "result"
			w.gate.tell <- "end"
			watch.rest()
			got := w.get(t, "/agents/gate", made.ID)
			if got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 1 || got.Artifacts[0].Text() != "result" {
				t.Errorf("task ended as %v with %v", got.Status.State, got.Artifacts)
			}
		})
	}
}

// REQ-STRM-07, REQ-STRM-08, REQ-STRM-09, REQ-STRM-10,
// REQ-SUBS-01, REQ-SUBS-02, REQ-SUBS-03: whoever subscribes, whenever, sees one and
// the same sequence, and with the task it begins with it is the whole of it.
func TestManySubscribersSeeOneSequence(t *testing.T) {
	w := newWorld(t, options{})
	n := serve(t, w)
	made := taskOf(t, w.post("/agents/gate", rpc("SendMessage", say("m-1", "go", background))).Body.Bytes())
	<-w.gate.entered

	const readers, pieces = 100, 200
	sequences := make([][]string, readers)
	var begun, done sync.WaitGroup
	for i := range readers {
		begun.Add(1)
		done.Go(func() {
			s := n.stream(t, t.Context(), "/agents/gate", subscribe(made.ID))
			first, _ := s.next()
			sequences[i] = []string{string(first)}
			begun.Done()
			sequences[i] = append(sequences[i], s.rest()...)
		})
	}
	var whole strings.Builder
	for i := range pieces {
		text := fmt.Sprintf("%d,", i)
		whole.WriteString(text)
		w.gate.tell <- text
	}
	begun.Wait()
	w.gate.tell <- "last"
	w.gate.tell <- "end"
	done.Wait()
	whole.WriteString("last")

	var longest []string
	for _, sequence := range sequences {
		if len(sequence) > len(longest) {
			longest = sequence
		}
	}
	for i, sequence := range sequences {
		tail := sequence[1:]
		if diff := cmp.Diff(longest[len(longest)-len(tail):], tail); diff != "" {
			t.Fatalf("reader %d saw another sequence: %s", i, diff)
		}
		begins := taskOf(t, []byte(sequence[0]))
		var got strings.Builder
		for j := range begins.Artifacts {
			got.WriteString(begins.Artifacts[j].Text())
		}
		for _, event := range tail {
			got.WriteString(pieceOf(t, event))
		}
		if got.String() != whole.String() {
			t.Fatalf("reader %d has %q, want %q", i, got.String(), whole.String())
		}
	}
}

// pieceOf is the text that an event adds.
func pieceOf(t *testing.T, event string) string {
	t.Helper()
	resp, err := jsonrpc.ParseResponse([]byte(event))
	if err != nil {
		t.Error(err)
	}
	got, violations, err := a2a.Decode[a2a.StreamResponse](resp.Result)
	if err != nil || len(violations) > 0 {
		t.Errorf("event %s: %v %v", event, err, violations)
	}
	if update, ok := got.Payload.(*a2a.TaskArtifactUpdateEvent); ok {
		return update.Artifact.Text()
	}
	return ""
}

// REQ-STRM-01, REQ-STRM-07, REQ-STRM-12: events come as they are made, in order, and none waits for
// the next.
func TestEventsComeOneByOne(t *testing.T) {
	w := newWorld(t, options{})
	n := serve(t, w)
	s := n.stream(t, t.Context(), "/agents/gate", rpc("SendStreamingMessage", say("m-1", "go")))
	s.next() // submitted
	<-w.gate.entered
	s.next() // working
	for _, text := range []string{"a", "b", "c"} {
		w.gate.tell <- text
		if data, ok := s.next(); !ok || pieceOf(t, string(data)) != text {
			t.Fatalf("event %s, want the piece %q", data, text)
		}
	}
	w.gate.tell <- "ask"
	if left := s.rest(); len(left) != 1 || !strings.Contains(left[0], "TASK_STATE_INPUT_REQUIRED") {
		t.Errorf("the stream ends with %v", left)
	}
}

// REQ-SUBS-01, REQ-SUBS-03, REQ-SUBS-07, REQ-CANC-07, PVX-01: a subscription outlives a question, and ends with
// the task.
func TestSubscriptionOutlivesQuestions(t *testing.T) {
	w := newWorld(t, options{})
	n := serve(t, w)
	made := taskOf(t, w.post("/agents/ask", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes())
	s := n.stream(t, t.Context(), "/agents/ask", subscribe(made.ID))
	first, _ := s.next()
	if got := taskOf(t, first); got.Status.State != a2a.TaskStateInputRequired || len(got.History) != 1 {
		t.Errorf("it begins with %s", first)
	}
	w.post("/agents/ask", rpc("SendMessage", say("m-2", "more", `,"taskId":"`+string(made.ID)+`"`)))
	w.post("/agents/ask", rpc("CancelTask", `{"id":"`+string(made.ID)+`"}`))
	var states []string
	for _, event := range s.rest() {
		_, state, _ := strings.Cut(event, `"state":"TASK_STATE_`)
		states = append(states, state[:strings.Index(state, `"`)])
	}
	if diff := cmp.Diff([]string{"WORKING", "INPUT_REQUIRED", "CANCELED"}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// REQ-STRM-21, REQ-ITA-05, REQ-ITA-07, PVX-01: a stream stays open while an authorization is awaited.
func TestStreamAwaitsAuthorization(t *testing.T) {
	w := newWorld(t, options{})
	n := serve(t, w)
	s := n.stream(t, t.Context(), "/agents/auth", rpc("SendStreamingMessage", say("m-1", "go")))
	first, _ := s.next()
	made := taskOf(t, first)
	for data, ok := s.next(); ; data, ok = s.next() {
		if !ok {
			t.Fatal("the stream ended")
		}
		if bytes.Contains(data, []byte("TASK_STATE_AUTH_REQUIRED")) {
			break
		}
	}
	w.post("/agents/auth", rpc("SendMessage", say("m-2", "granted", `,"taskId":"`+string(made.ID)+`"`)))
	left := s.rest()
	if len(left) == 0 || !strings.Contains(left[len(left)-1], "TASK_STATE_COMPLETED") {
		t.Errorf("the stream ends with %v", left)
	}
}

// A server that stops lets go of what it holds: a wait returns the task as it
// stands, a stream is closed, and neither is an error.
func TestStop(t *testing.T) {
	w := newWorld(t, options{})
	n := serve(t, w)
	s := n.stream(t, t.Context(), "/agents/gate", rpc("SendStreamingMessage", say("m-1", "go")))
	s.next()
	<-w.gate.entered
	waited := make(chan []byte, 1)
	go func() { waited <- w.post("/agents/gate", rpc("SendMessage", say("m-2", "go"))).Body.Bytes() }()
	<-w.gate.entered
	w.Stop()
	for _, event := range s.rest() {
		if strings.Contains(event, `"error"`) {
			t.Errorf("the stream says %s", event)
		}
	}
	if got := taskOf(t, <-waited); got.Status.State != a2a.TaskStateWorking {
		t.Errorf("the wait ends with %v", got.Status.State)
	}
	if rec := w.post("/agents/gate", rpc("SendMessage", say("m-3", "go"))); taskOf(t, rec.Body.Bytes()).Status.State.Terminal() {
		t.Errorf("a later wait: %s", rec.Body)
	}
}

// F26: a silent stream carries a comment every 15 seconds.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options{})
		n := serve(t, w)
		start := time.Now()
		resp := n.open(t, t.Context(), "/agents/stuck", rpc("SendStreamingMessage", say("m-1", "go")))
		if got := resp.Header.Get("X-Accel-Buffering"); got != "no" {
			t.Errorf("X-Accel-Buffering = %q", got) // REQ-STRM-12
		}
		var text []byte
		for buf := make([]byte, 4<<10); bytes.Count(text, []byte("\n: ")) < 3; {
			read, err := resp.Body.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, buf[:read]...)
		}
		if silent := time.Since(start); silent < 45*time.Second || silent > 46*time.Second {
			t.Errorf("three comments took %v, want 45 s", silent)
		}
		resp.Body.Close()
		<-n.handled // the reader's leaving ends the stream
	})
}

// F13, DEC-26: a wait has a limit, at which the task is returned as it stands.
func TestWaitLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options{config: func(cfg *server.Config) { cfg.WaitLimit = 10 * time.Minute }})
		start := time.Now()
		got := taskOf(t, w.post("/agents/stuck", rpc("SendMessage", say("m-1", "go"))).Body.Bytes())
		if got.Status.State != a2a.TaskStateWorking || time.Since(start).Round(time.Second) != 10*time.Minute {
			t.Errorf("after %v the task is %v", time.Since(start), got.Status.State)
		}
	})
}

// A stream does not live for ever; another one takes up where it ended.
func TestStreamLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options{config: func(cfg *server.Config) { cfg.StreamLimit = 10 * time.Minute }})
		n := serve(t, w)
		start := time.Now()
		s := n.stream(t, t.Context(), "/agents/stuck", rpc("SendStreamingMessage", say("m-1", "go")))
		first, _ := s.next()
		if left := s.rest(); len(left) != 1 || time.Since(start).Round(time.Second) != 10*time.Minute {
			t.Errorf("after %v: %v", time.Since(start), left)
		}
		s = n.stream(t, t.Context(), "/agents/stuck", subscribe(taskOf(t, first).ID))
		if again, ok := s.next(); !ok || taskOf(t, again).Status.State != a2a.TaskStateWorking {
			t.Errorf("it goes on with %s", again)
		}
	})
}

// A reader that does not read is given up after the time for one write, and
// takes nothing with it.
// REQ-STRM-11: for other streams
func TestSlowReaderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options{})
		n := serve(t, w)
		made := taskOf(t, w.post("/agents/gate", rpc("SendMessage", say("m-1", "go", background))).Body.Bytes())
		<-w.gate.entered
		slow := n.open(t, t.Context(), "/agents/gate", subscribe(made.ID))
		defer slow.Body.Close()
		quick := n.stream(t, t.Context(), "/agents/gate", subscribe(made.ID))
		start := time.Now()
		w.gate.tell <- strings.Repeat("x", 100<<10) // more than lies between
		<-n.handled
		if after := time.Since(start); after < 30*time.Second || after > 31*time.Second {
			t.Errorf("given up after %v, want 30 s", after)
		}
		w.gate.tell <- "end"
		if all := quick.rest(); len(all) != 3 || !strings.Contains(all[2], "TASK_STATE_COMPLETED") {
			t.Errorf("the other reader saw %d events", len(all))
		}
	})
}

// A body that stops half way is given up, and nothing comes of it.
func TestHalfABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options{})
		n := serve(t, w)
		start := time.Now()
		sound := rpc("SendMessage", say("m-1", "hello"))
		body, write := io.Pipe()
		defer write.Close()
		go write.Write([]byte(sound[:len(sound)/2]))
		r := request("POST", "http://agents.example.com/", "")
		r.RequestURI, r.Body, r.ContentLength = "", body, int64(len(sound))
		resp, err := n.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestTimeout || codeOf(t, text) != a2a.CodeInvalidRequest || time.Since(start) != 30*time.Second {
			t.Errorf("after %v: %d %s", time.Since(start), resp.StatusCode, text)
		}
		if total := w.total(t, "/", "client-a"); total != "0" {
			t.Errorf("%s tasks", total)
		}
	})
}

// A caller that goes away in the middle of a body leaves nothing either.
func TestCutBody(t *testing.T) {
	w := newWorld(t, options{})
	sound := rpc("SendMessage", say("m-1", "hello"))
	r := request("POST", "/", "")
	r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(sound[:40]), broken{})), int64(len(sound))
	if rec := w.do(r); rec.Code != http.StatusBadRequest || codeOf(t, rec.Body.Bytes()) != a2a.CodeParse {
		t.Errorf("answer: %d %s", rec.Code, rec.Body)
	}
	if total := w.total(t, "/", "client-a"); total != "0" {
		t.Errorf("%s tasks", total)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
