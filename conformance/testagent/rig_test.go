package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/sse"
	"github.com/legation/legation/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is the agent, running until stop. In a bubble its time is virtual.
type rig struct {
	t    *testing.T
	s    *service
	stop func()
}

func start(t *testing.T, on bool) *rig {
	t.Helper()
	s, err := newService(t.Context(), t.TempDir(), sqlite.Off, "http://127.0.0.1:9999", on, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.engine.Run(ctx) }()
	return &rig{t: t, s: s, stop: func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
		s.stop()
		if err := s.store.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}}
}

// post sends a request as kits do, without the extension unless a header says so.
func (r *rig) post(path, method, params string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	req := httptest.NewRequest("POST", path, strings.NewReader(body))
	req.RemoteAddr, req.Host = "127.0.0.1:5000", "127.0.0.1:9999"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	r.s.ServeHTTP(rec, req)
	return rec
}

func (r *rig) get(path string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("GET", path, http.NoBody)
	req.RemoteAddr, req.Host = "127.0.0.1:5000", "127.0.0.1:9999"
	rec := httptest.NewRecorder()
	r.s.ServeHTTP(rec, req)
	return rec
}

// say is the parameters of a message; more follows its parts.
func say(id, text string, more ...string) string {
	return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":[{"text":"` + text + `"}]` + strings.Join(more, "") + `}}`
}

// in continues a task.
func in(id a2a.TaskID) string { return `,"taskId":"` + string(id) + `"` }

// message sends a message and returns what is answered: a task or a message.
func (r *rig) message(params string) any {
	r.t.Helper()
	response := decode[a2a.SendMessageResponse](r.t, r.post("/", "SendMessage", params).Body.Bytes())
	return response.Payload
}

// task sends a message that is answered with a task.
func (r *rig) task(params string) *a2a.Task {
	r.t.Helper()
	task, ok := r.message(params).(*a2a.Task)
	if !ok {
		r.t.Fatalf("%s is not answered with a task", params)
	}
	return task
}

// decode reads a result.
func decode[T any, P a2a.Wire[T]](t *testing.T, body []byte) T {
	t.Helper()
	resp, err := jsonrpc.ParseResponse(body)
	if err != nil || !resp.HasResult {
		t.Fatalf("no result in %s: %v", body, err)
	}
	got, violations, err := a2a.Decode[T, P](resp.Result)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%s: %v %v", body, err, violations)
	}
	return got
}

// code is that of an answer that is an error; zero if it is none.
func code(t *testing.T, rec *httptest.ResponseRecorder) a2a.Code {
	t.Helper()
	resp, err := jsonrpc.ParseResponse(rec.Body.Bytes())
	if err != nil {
		t.Fatalf("%v: %s", err, rec.Body)
	}
	if resp.Error == nil {
		return 0
	}
	e, err := a2a.DecodeError(resp.Error)
	if err != nil {
		t.Fatal(err)
	}
	return e.Code
}

// events reads a stream that has ended.
func events(t *testing.T, rec *httptest.ResponseRecorder) []a2a.StreamResponse {
	t.Helper()
	if kind := rec.Header().Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("answered with %s: %s", kind, rec.Body)
	}
	var all []a2a.StreamResponse
	for data, err := range sse.Events(rec.Body, sse.Limits{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, decode[a2a.StreamResponse](t, data))
	}
	return all
}
