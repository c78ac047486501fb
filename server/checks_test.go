package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
	"github.com/legation/legation/task"
)

// F01: the version counts on every method, before its parameters.
// REQ-VER-02, REQ-VER-04, REQ-VER-05, REQ-VER-06, REQ-FWD-07
func TestVersionOnEveryMethod(t *testing.T) {
	w := newWorld(t, options{})
	for _, method := range a2a.Methods() {
		for _, test := range []struct {
			header, query string
			served        bool
		}{
			{"99.0", "", false}, {"1.1", "", false}, {"1.0.1", "", true}, {"", "", false}, {"", "?A2A-Version=1.0", true}, {"1.0", "?A2A-Version=0.3", false},
		} {
			r := request("POST", "/"+test.query, rpc(method, "{}"))
			if r.Header.Del("A2A-Version"); test.header != "" {
				r.Header.Set("A2A-Version", test.header)
			}
			code := codeOf(t, w.do(r).Body.Bytes())
			if served := code != a2a.CodeVersionNotSupported; served != test.served {
				t.Errorf("%s with version %q and query %q: code %d, want served %v", method, test.header, test.query, code, test.served)
			}
		}
	}
}

// REQ-ERR-11, REQ-ERR-12, REQ-ERR-13, REQ-GET-02, REQ-GET-03, REQ-LIST-01,
// REQ-SEND-10: another caller's task, and one of another agent, do not exist: on every
// method the answer is that to an id that never was, byte by byte.
// REQ-CANC-03, REQ-CANC-06, REQ-SUBS-06, REQ-SUBS-08, REQ-SEC-09,
// REQ-SCOPE-01, REQ-SCOPE-04, REQ-SCOPE-05, REQ-SCOPE-06, REQ-SCOPE-09
func TestOwnership(t *testing.T) {
	w := newWorld(t, options{})
	made := taskOf(t, w.post("/agents/ask", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes())
	read := func() string {
		return w.post("/agents/ask", rpc("GetTask", `{"id":"`+string(made.ID)+`"}`)).Body.String()
	}
	before := read()

	const absent = "00000000-0000-7000-8000-000000000000"
	methods := map[string]string{
		"GetTask":                          `{"id":"ID"}`,
		"CancelTask":                       `{"id":"ID"}`,
		"SubscribeToTask":                  `{"id":"ID"}`,
		"SendMessage":                      say("m-2", "hello"),
		"SendStreamingMessage":             say("m-2", "hello"),
		"ListTasks":                        `{"contextId":"` + string(made.ContextID) + `"}`,
		"CreateTaskPushNotificationConfig": `{"taskId":"ID","url":"https://a.example"}`,
		"GetTaskPushNotificationConfig":    `{"taskId":"ID","id":"c"}`,
		"ListTaskPushNotificationConfigs":  `{"taskId":"ID"}`,
		"DeleteTaskPushNotificationConfig": `{"taskId":"ID","id":"c"}`,
		"GetExtendedAgentCard":             `{}`,
	}
	for _, method := range a2a.Methods() {
		params, ok := methods[method]
		if !ok {
			t.Fatalf("%s is not covered", method)
		}
		params = strings.Replace(params, `"parts"`, `"taskId":"ID","parts"`, 1)
		for _, stranger := range []struct{ caller, path string }{
			{"client-b", "/agents/ask"}, {"client-a", "/agents/auth"}, {"client-b", "/agents/auth"},
		} {
			ask := func(id string) *httptest.ResponseRecorder {
				r := request("POST", stranger.path, rpc(method, strings.ReplaceAll(params, "ID", id)))
				r.Header.Set("X-Caller", stranger.caller)
				return w.do(r)
			}
			foreign, none := ask(string(made.ID)), ask(absent)
			if got, want := strings.ReplaceAll(foreign.Body.String(), string(made.ID), absent), none.Body.String(); got != want {
				t.Errorf("%s of %v:\nforeign id %s\nabsent id  %s", method, stranger, got, want)
			}
			if foreign.Code != none.Code || fmt.Sprint(foreign.Header()) != fmt.Sprint(none.Header()) {
				t.Errorf("%s of %v: heads differ: %d %v, %d %v", method, stranger, foreign.Code, foreign.Header(), none.Code, none.Header())
			}
			body := foreign.Body.Bytes()
			switch method {
			case "GetTask", "CancelTask", "SubscribeToTask", "SendMessage", "SendStreamingMessage":
				if code := codeOf(t, body); code != a2a.CodeTaskNotFound {
					t.Errorf("%s of %v: code %d", method, stranger, code)
				}
			case "ListTasks":
				if !strings.Contains(string(body), `"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0`) {
					t.Errorf("ListTasks of %v: %s", stranger, body)
				}
			}
		}
	}
	if after := read(); after != before {
		t.Errorf("the task has changed:\n%s\n%s", before, after)
	}
}

// REQ-ERR-08: what is refused leaves nothing behind, and the server goes on.
func TestBadInputLeavesNothing(t *testing.T) {
	w := newWorld(t, options{})
	w.post("/", rpc("SendMessage", say("m-0", "hello")))
	before := w.total(t, "/", "client-a")
	sound := rpc("SendMessage", say("m-1", "hello"))
	deep := func(n int) string {
		return rpc("SendMessage", `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"data":`+strings.Repeat("[", n)+strings.Repeat("]", n)+`}]}}`)
	}
	var inputs []string
	for n := range len(sound) {
		inputs = append(inputs, sound[:n]) // cut off everywhere
	}
	inputs = append(inputs, deep(60), deep(10_000), strings.Repeat("[", 1<<20), `{"a":`+strings.Repeat(`{"a":`, 100_000), "\xff\xfe", "\x00", strings.Repeat(" ", 1<<20),
		strings.Replace(sound, `"hello"`, "\"\xc3\x28\"", 1),
		strings.Replace(sound, `"role"`, `"messageId":"m-1","role"`, 1),
		strings.Replace(sound, `"role"`, `"message_id":"m-1","role"`, 1),
		rpc("SendMessage", `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[`+strings.Repeat(`{},`, 100_000)+`{}]}}`),
	)
	for _, input := range inputs {
		rec := w.post("/", input)
		if rec.Code != http.StatusOK || codeOf(t, rec.Body.Bytes()) == 0 {
			t.Fatalf("%.80q: %d %.200s", input, rec.Code, rec.Body)
		}
		if rec.Body.Len() > 16<<10 {
			t.Errorf("%.80q is answered with %d bytes", input, rec.Body.Len())
		}
	}
	if after := w.total(t, "/", "client-a"); after != before {
		t.Errorf("%s tasks became %s", before, after)
	}
	if rec := w.post("/", sound); codeOf(t, rec.Body.Bytes()) != 0 {
		t.Errorf("a sound request after all that: %s", rec.Body)
	}
}

// F14, REQ-SEND-15: the same message sent many times at once makes one task.
func TestSameMessageAtOnce(t *testing.T) {
	w := newWorld(t, options{})
	var group sync.WaitGroup
	ids := make([]a2a.TaskID, 20)
	for i := range ids {
		group.Go(func() { ids[i] = taskOf(t, w.post("/", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes()).ID })
	}
	group.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("tasks %v, want one", ids)
		}
	}
	if total := w.total(t, "/", "client-a"); total != "1" {
		t.Errorf("%s tasks, want 1", total)
	}
}

// F14: and after a restart it still joins it.
func TestSameMessageAfterRestart(t *testing.T) {
	dir := t.TempDir()
	w, stop := startWorld(t, options{dir: dir})
	first := taskOf(t, w.post("/", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes())
	stop()
	w = newWorld(t, options{dir: dir})
	if again := taskOf(t, w.post("/", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes()); again.ID != first.ID {
		t.Errorf("task %s after the restart, want %s", again.ID, first.ID)
	}
	if code := codeOf(t, w.post("/", rpc("SendMessage", say("m-1", "bye"))).Body.Bytes()); code != a2a.CodeInvalidParams {
		t.Errorf("changed content: code %d", code)
	}
}

// REQ-ERR-14, REQ-ERR-15: a full queue, a stop and a store that is away are told
// apart from faults, by HTTP and JSON-RPC alike. REQ-GEN-10, for what makes runs.
func TestLater(t *testing.T) {
	check := func(what string, rec *httptest.ResponseRecorder, status int, after string) {
		t.Helper()
		if rec.Code != status || rec.Header().Get("Retry-After") != after || codeOf(t, rec.Body.Bytes()) != a2a.CodeInternal ||
			!strings.Contains(rec.Body.String(), `"retryDelay":"`+after+`s"`) || !strings.Contains(rec.Body.String(), `"id":1`) {
			t.Errorf("%s: %d %v %s", what, rec.Code, rec.Header(), rec.Body)
		}
	}
	w := newWorld(t, options{
		engine: task.Config{PerCaller: 1, Queue: 1},
		config: func(cfg *server.Config) { cfg.Unavailable = func(error) bool { return true } },
	})
	send := func(id string) *httptest.ResponseRecorder {
		return w.post("/agents/gate", rpc("SendMessage", say(id, "hello", background)))
	}
	taskOf(t, send("m-1").Body.Bytes())
	<-w.gate.entered // so that nothing is queued
	taskOf(t, send("m-2").Body.Bytes())
	check("busy", send("m-3"), http.StatusTooManyRequests, "2")
	w.halt()
	check("stopping", send("m-4"), http.StatusServiceUnavailable, "5")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	check("store", w.post("/agents/gate", rpc("GetTask", `{"id":"t"}`)), http.StatusServiceUnavailable, "30")
}

// REQ-GEN-01: a task that would not fit is refused before it is made.
func TestTooLarge(t *testing.T) {
	w := newWorld(t, options{engine: task.Config{MaxBytes: 1000}})
	rec := w.post("/", rpc("SendMessage", say("m-1", strings.Repeat("x", 1000))))
	if codeOf(t, rec.Body.Bytes()) != a2a.CodeInvalidParams || !strings.Contains(rec.Body.String(), `"field":"message"`) {
		t.Errorf("answer: %s", rec.Body)
	}
	if total := w.total(t, "/", "client-a"); total != "0" {
		t.Errorf("%s tasks, want none", total)
	}
}

// REQ-ERR-16, REQ-GEN-04, REQ-GEN-09: requests, answers and causes are logged; what callers say is not.
func TestLogsHoldNoContent(t *testing.T) {
	w := newWorld(t, options{})
	for _, path := range []string{"/", "/agents/ask", "/agents/panic", "/agents/refuse", "/agents/reply"} {
		w.post(path, rpc("SendMessage", say("m-1", "hush", `,"metadata":{"urn:legation:skill:v1":{"skillId":"hush"}}`)))
		w.post(path, rpc("SendMessage", say("m-2", "hush", `},"configuration":{"blocking":true`)))
		w.post(path, rpc("SendStreamingMessage", say("m-3", "hush")))
		w.post(path, rpc("hush", `{}`))
		w.post(path, `{"hush"`)
	}
	w.post("/agents/panic", rpc("SendMessage", say("m-4", "error")))
	r := request("POST", "/", rpc("ListTasks", "{}"))
	r.Header.Set("X-Caller", "bug")
	w.do(r)
	for _, caller := range []string{"client-a", "denied", ""} {
		r := request("POST", "/", rpc("ListTasks", "{}"))
		r.Header.Set("X-Caller", caller)
		r.Header.Set("Authorization", "Bearer hush")
		w.do(r)
	}
	text := w.logs.String()
	for _, secret := range []string{"hush", "secret"} {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("the log has %q: …%s", secret, text[max(0, at-200):at+len(secret)])
		}
	}
	for _, want := range []string{"configuration.blocking", "the cause stays here", "server.panics.Respond", "method=SendMessage", "took="} {
		if !strings.Contains(strings.ReplaceAll(text, "server_test.", "server."), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if n := strings.Count(text, "configuration.blocking"); n != 5 {
		t.Errorf("blocking is mentioned %d times, want once for each request", n)
	}
}

// REQ-LIST-02, REQ-LIST-03, REQ-LIST-04, REQ-LIST-10, REQ-LIFE-03: the pages of
// many tasks hold each one once, newest first.
func TestPages(t *testing.T) {
	w := newWorld(t, options{})
	const n = 25
	for i := range n {
		w.post("/", rpc("SendMessage", say(fmt.Sprintf("m-%d", i), "hello")))
	}
	seen, last, token := map[string]bool{}, time.Time{}, ""
	for pages := 0; ; pages++ {
		body := w.post("/", rpc("ListTasks", fmt.Sprintf(`{"pageSize":7,"pageToken":%q}`, token))).Body.Bytes()
		_, result, _ := strings.Cut(string(body), `"result":`)
		page, violations, err := a2a.Decode[a2a.ListTasksResponse]([]byte(strings.TrimSuffix(result, "}")))
		if err != nil || len(violations) > 0 || page.TotalSize != n || pages > n {
			t.Fatalf("page %d: %v %v %s", pages, err, violations, body)
		}
		for _, listed := range page.Tasks {
			if seen[string(listed.ID)] || !last.IsZero() && listed.Status.Timestamp.After(last) {
				t.Errorf("task %s is out of place", listed.ID)
			}
			seen[string(listed.ID)], last = true, listed.Status.Timestamp
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if len(seen) != n {
		t.Errorf("%d tasks were listed, want %d", len(seen), n)
	}
}
