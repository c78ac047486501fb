package main

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
)

const cardPath = "/.well-known/agent-card.json"

// The card says what the set has, and nothing else.
func TestCard(t *testing.T) {
	inBothSets(t, func(r *rig, on bool) {
		rec := r.get(cardPath)
		var c a2a.AgentCard
		if err := c.UnmarshalJSON(rec.Body.Bytes()); err != nil {
			r.t.Fatal(err)
		}
		if streaming := c.Capabilities.Streaming != nil && *c.Capabilities.Streaming; streaming != on {
			r.t.Errorf("streaming = %v", streaming)
		}
		required := false
		for _, extension := range c.Capabilities.Extensions {
			required = required || extension.URI == requiredExtension && extension.Required
		}
		if required != on || strings.Contains(rec.Body.String(), requiredExtension) != on {
			r.t.Errorf("the extension is required: %v", required)
		}
		for _, absent := range []string{"pushNotifications", "urn:legation:retry"} {
			if strings.Contains(rec.Body.String(), absent) {
				r.t.Errorf("the card promises %s", absent)
			}
		}
		h := rec.Header()
		if !strings.Contains(h.Get("Cache-Control"), "max-age=") || h.Get("ETag") == "" || h.Get("Last-Modified") == "" {
			r.t.Errorf("header: %v", h)
		}
	})
}

// Only messages that probe for it are refused without the extension, and only
// where it is declared. Nobody is told of an extension that was not asked for.
func TestRequiredExtension(t *testing.T) {
	const header = "A2A-Extensions"
	inBothSets(t, func(r *rig, on bool) {
		for _, name := range []string{`"tck-cap-ext-004-1" "x"`, `"m-1" "tck-cap-ext-004"`} {
			id, text, _ := strings.Cut(strings.Trim(name, `"`), `" "`)
			for _, path := range []string{"", "/"} {
				for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
					open := r.task(say("tck-input-required", "x"))
					for _, params := range []string{say(id, text), say(id, text, in(open.ID))} {
						want := map[bool]a2a.Code{true: a2a.CodeExtensionSupportRequired}[on]
						if !on && method == "SendStreamingMessage" {
							want = a2a.CodeUnsupportedOperation
						}
						rec := r.post("http://localhost"+path, method, params)
						if got := code(r.t, rec); got != want || rec.Header().Get(header) != "" {
							r.t.Errorf("%s %s: %s, header %q, want %s", method, params, got, rec.Header().Get(header), want)
						}
					}
				}
			}
			rec := r.post("/", "SendMessage", say(id, text), header, "urn:other:v1, "+requiredExtension)
			want := map[bool]string{true: requiredExtension}[on]
			if code(r.t, rec) != 0 || rec.Header().Get(header) != want {
				r.t.Errorf("with the extension: %s, header %q", rec.Body, rec.Header().Get(header))
			}
		}
		for _, test := range []struct{ method, params, asked, told string }{
			{"SendMessage", say("m-1", "x"), "", ""},
			{"SendMessage", say("tck-complete-task", "tck-cap-ext-004"), "", ""},
			{"SendMessage", say("m-1", "about tck-cap-ext-004"), "", ""},
			{"SendMessage", say("m-1", "x"), "urn:legation:skill:v1", "urn:legation:skill:v1"},
			{"ListTasks", `{"contextId":"tck-cap-ext-004"}`, "", ""},
		} {
			rec := r.post("/", test.method, test.params, header, test.asked)
			if code(r.t, rec) != 0 || rec.Header().Get(header) != test.told {
				r.t.Errorf("%s %s: %s, header %q", test.method, test.params, rec.Body, rec.Header().Get(header))
			}
		}
		// What cannot be read is refused for what it is.
		if got := code(r.t, r.post("/", "SendMessage", `"tck-cap-ext-004`)); got != a2a.CodeParse {
			r.t.Errorf("a broken body: %s", got)
		}
		if got := code(r.t, r.post("/", "SendMessage", `{"message":["tck-cap-ext-004"]}`)); got != a2a.CodeInvalidParams {
			r.t.Errorf("broken parameters: %s", got)
		}
	})
}

// A body that is too large is refused whether or not it was looked into.
func TestLargeBody(t *testing.T) {
	inBothSets(t, func(r *rig, _ bool) {
		if rec := r.post("/", "SendMessage", say("m-1", strings.Repeat("x", maxBody))); rec.Code != 413 {
			r.t.Errorf("status %d: %.200s", rec.Code, rec.Body)
		}
		task := r.task(say("tck-complete-task", strings.Repeat("x", maxBody-1000)))
		if got := len(task.History[0].Text()); got != maxBody-1000 {
			r.t.Errorf("%d bytes arrived", got)
		}
	})
}

// What kits ask besides the scripts.
func TestProbes(t *testing.T) {
	inBothSets(t, func(r *rig, on bool) {
		ended := `{"id":"` + string(r.task(say("tck-complete-task", "x")).ID) + `"}`
		unknown := `{"id":"00000000-0000-0000-0000-000000000000"}`
		withType := func(kind string) string {
			return `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"raw":"eA==","mediaType":"` + kind + `"}]}}`
		}
		for _, test := range []struct {
			method, params string
			want           a2a.Code
		}{
			{"GetTask", unknown, a2a.CodeTaskNotFound},
			{"CancelTask", unknown, a2a.CodeTaskNotFound},
			{"CancelTask", ended, a2a.CodeTaskNotCancelable},
			{"SubscribeToTask", ended, a2a.CodeUnsupportedOperation},
			{"SendMessage", say("m-1", "x", in("unknown")), a2a.CodeTaskNotFound},
			{"SendMessage", withType("application/x-unsupported-type"), a2a.CodeContentTypeNotSupported},
			{"SendMessage", withType("application/x-foo"), a2a.CodeContentTypeNotSupported},
			{"SendMessage", withType("application/pdf"), 0},
			{"SendMessage", withType("image/png"), 0},
			{"SendMessage", `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"data":{"a":1}}]}}`, 0},
			{"CreateTaskPushNotificationConfig", `{"taskId":"t","url":"https://example.com/hook"}`, a2a.CodePushNotificationNotSupported},
		} {
			if got := code(r.t, r.post("/", test.method, test.params)); got != test.want {
				r.t.Errorf("%s %s: %s, want %s", test.method, test.params, got, test.want)
			}
		}
		rec := r.post("/", "GetTask", unknown)
		for _, part := range []string{`"reason":"TASK_NOT_FOUND"`, `"domain":"a2a-protocol.org"`} {
			if !strings.Contains(rec.Body.String(), part) {
				r.t.Errorf("no %s in %s", part, rec.Body)
			}
		}
		if rec := r.post("/", "ListTasks", `{}`, "Content-Type", "text/plain"); rec.Code != 415 || code(r.t, rec) != a2a.CodeContentTypeNotSupported {
			r.t.Errorf("another content type: %d %s", rec.Code, rec.Body)
		}
		if !on {
			if got := code(r.t, r.post("/", "SendStreamingMessage", say("m-1", "x"))); got != a2a.CodeUnsupportedOperation {
				r.t.Errorf("streaming: %s", got)
			}
		}
	})
}

// A repeated id makes a task of its own.
func TestRepeatedMessage(t *testing.T) {
	inBothSets(t, func(r *rig, _ bool) {
		if first, again := r.task(say("m-1", "x")), r.task(say("m-1", "x")); first.ID == again.ID {
			r.t.Error("the same message joined its task")
		}
	})
}

// A subscription to an open task begins with the task and ends with it.
func TestSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, true)
		defer r.stop()
		open := r.task(say("tck-input-required", "x"))
		streamed := make(chan []string)
		go func() {
			streamed <- story(events(t, r.post("/", "SubscribeToTask", `{"id":"`+string(open.ID)+`"}`)))
		}()
		synctest.Wait()
		r.task(say("tck-complete-task", "x", in(open.ID)))
		want := []string{"task", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED Hello from TCK"}
		if diff := cmp.Diff(want, slices.Compact(<-streamed)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
