package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

// What is held open is bounded over the whole server. Beyond the bound nothing
// is done, and what holds nothing open is served as ever.
func TestMaxHeld(t *testing.T) {
	holders := map[string]func(*testing.T, *world, *network) (left <-chan struct{}){
		"SendMessage": func(_ *testing.T, w *world, _ *network) <-chan struct{} {
			left := make(chan struct{})
			go func() {
				defer close(left)
				w.post("/agents/gate", rpc("SendMessage", say("m-1", "go")))
			}()
			<-w.gate.entered
			return left
		},
		"SendStreamingMessage": func(t *testing.T, w *world, n *network) <-chan struct{} {
			s := n.stream(t, t.Context(), "/agents/gate", rpc("SendStreamingMessage", say("m-1", "go")))
			s.next()
			<-w.gate.entered
			return s.drained(n)
		},
		"SubscribeToTask": func(t *testing.T, w *world, n *network) <-chan struct{} {
			made := taskOf(t, w.post("/agents/gate", rpc("SendMessage", say("m-1", "go", background))).Body.Bytes())
			<-w.gate.entered
			s := n.stream(t, t.Context(), "/agents/gate", subscribe(made.ID))
			s.next()
			return s.drained(n)
		},
	}
	type request struct {
		path, method, params string
		want                 a2a.Code // once there is a place
	}
	for holder, hold := range holders {
		t.Run(holder, func(t *testing.T) {
			w := newWorld(t, options{config: func(cfg *server.Config) { cfg.MaxHeld = 1 }})
			n := serve(t, w)
			asking := taskOf(t, w.post("/agents/ask", rpc("SendMessage", say("m-0", "hello"))).Body.Bytes())
			left := hold(t, w, n)

			holding := []request{
				{"/agents/ask", "SubscribeToTask", `{"id":"absent"}`, a2a.CodeTaskNotFound},
				{"/", "SendMessage", say("m-2", "hello", `,"taskId":"absent"`), a2a.CodeTaskNotFound},
				{"/", "SendStreamingMessage", say("m-2", "hello", `,"taskId":"absent"`), a2a.CodeTaskNotFound},
				{"/", "SendMessage", say("m-3", "hello"), 0},
				{"/agents/reply", "SendMessage", say("m-4", "ping"), 0},
			}
			for _, r := range holding {
				rec := w.post(r.path, rpc(r.method, r.params))
				if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "5" ||
					codeOf(t, rec.Body.Bytes()) != a2a.CodeInternal || !strings.Contains(rec.Body.String(), "too many streams and waiting requests") {
					t.Errorf("%s %s: %d %v %s", r.method, r.params, rec.Code, rec.Header(), rec.Body)
				}
			}
			if total := w.total(t, "/", "client-a"); total != "0" {
				t.Errorf("%s tasks came of what was refused", total)
			}
			for _, r := range []request{
				{"/", "SendMessage", say("m-5", "hello", background), 0},
				{"/agents/ask", "GetTask", `{"id":"` + string(asking.ID) + `"}`, 0},
				{"/agents/ask", "CancelTask", `{"id":"` + string(asking.ID) + `"}`, 0},
			} {
				rec := w.post(r.path, rpc(r.method, r.params))
				if code := codeOf(t, rec.Body.Bytes()); rec.Code != http.StatusOK || code != r.want {
					t.Errorf("%s %s holds nothing open: %d %s", r.method, r.params, rec.Code, rec.Body)
				}
			}

			w.gate.tell <- "end"
			<-left
			for _, r := range holding { // each gives its place to the next, errors too
				rec := w.post(r.path, rpc(r.method, r.params))
				if code := codeOf(t, rec.Body.Bytes()); rec.Code != http.StatusOK || code != r.want {
					t.Errorf("%s %s once there is a place: %d %s, want code %d", r.method, r.params, rec.Code, rec.Body, r.want)
				}
			}
		})
	}
}

// drained is closed when the stream has ended on both sides.
func (s *stream) drained(n *network) <-chan struct{} {
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.rest()
		<-n.handled
	}()
	return left
}
