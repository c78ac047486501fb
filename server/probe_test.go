package server_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
)

// byTask are the parameters of every method, with ID for what is somebody
// else's task.
var byTask = map[string]string{
	"GetTask":                          `{"id":"ID"}`,
	"CancelTask":                       `{"id":"ID","metadata":{"why":"ID"}}`,
	"SubscribeToTask":                  `{"id":"ID"}`,
	"SendMessage":                      say("MESSAGE", "hello", `,"taskId":"ID"`),
	"SendStreamingMessage":             say("MESSAGE", "hello", `,"taskId":"ID"`),
	"ListTasks":                        `{"contextId":"ID"}`,
	"CreateTaskPushNotificationConfig": `{"taskId":"ID","id":"ID","url":"https://a.example"}`,
	"GetTaskPushNotificationConfig":    `{"taskId":"ID","id":"ID"}`,
	"ListTaskPushNotificationConfigs":  `{"taskId":"ID"}`,
	"DeleteTaskPushNotificationConfig": `{"taskId":"ID","id":"ID"}`,
	"GetExtendedAgentCard":             `{}`,
}

// probe has others ask with what is one owner's, of each kind: the same caller
// at the other agent, and another caller.
func (e *estate) probe(victim *owned) {
	one := func(all []string, what string) string { return rapid.SampledFrom(all).Draw(e.T, what) }
	task, context := one(victim.tasks, "task"), one(victim.contexts, "context")
	message, token := one(victim.messages, "message"), one(victim.tokens, "token")
	before := e.view(victim)
	var strangers []*owned
	at := slices.Index(e.owners, victim)
	itself := e.owners[at^1] // at the other agent
	for _, o := range e.owners {
		if o != victim && o != itself {
			strangers = append(strangers, o)
		}
	}
	for _, s := range []*owned{itself, rapid.SampledFrom(strangers).Draw(e.T, "stranger")} {
		for _, method := range a2a.Methods() {
			params, ok := byTask[method]
			if !ok {
				e.Fatalf("%s is not covered", method)
			}
			params = strings.ReplaceAll(params, "MESSAGE", a2a.NewID())
			e.same(s, method+" with a task", task, func(id string) *httptest.ResponseRecorder {
				return e.send(s, method, strings.ReplaceAll(params, "ID", id))
			})
		}
		e.same(s, "a message with a reference", task, func(id string) *httptest.ResponseRecorder {
			return e.say(s, a2a.NewID(), s.word, skilled("recall"), `,"referenceTaskIds":["`+id+`"]`)
		})
		e.same(s, "the id of a message", message, func(id string) *httptest.ResponseRecorder {
			return e.say(s, id, s.word, skilled("echo"))
		})
		if !slices.Contains(s.contexts, context) { // else it has one of its own by that id
			e.same(s, "a list of a context", context, func(id string) *httptest.ResponseRecorder {
				return e.send(s, "ListTasks", `{"contextId":"`+id+`","includeArtifacts":true}`)
			})
			e.same(s, "a message in a context", context, func(id string) *httptest.ResponseRecorder {
				return e.say(s, a2a.NewID(), s.word, skilled("recall"), member("contextId", id))
			})
		}
		never := base64.RawURLEncoding.EncodeToString([]byte(a2a.NewID() + a2a.NewID())[:60])
		foreign := e.send(s, "ListTasks", `{"pageSize":1,"pageToken":"`+token+`"}`)
		e.equal(s, "a page token", foreign, e.send(s, "ListTasks", `{"pageSize":1,"pageToken":"`+never+`"}`))
	}
	if after := e.view(victim); after != before {
		e.Fatalf("what %s has at %s has changed:\n%s\n%s", victim.caller, victim.path, before, after)
	}
	if body := e.send(victim, "ListTasks", `{"pageSize":1,"pageToken":"`+token+`"}`).Body.String(); !strings.Contains(body, `"tasks":[{`) {
		e.Fatalf("its own page token is answered with %s", body)
	}
}

// same compares the answer to what is somebody else's with that to what never
// was.
func (e *estate) same(s *owned, what, id string, ask func(id string) *httptest.ResponseRecorder) {
	never := a2a.NewID()
	foreign, none := ask(id), ask(never)
	foreign.Body = bytes.NewBufferString(strings.ReplaceAll(foreign.Body.String(), id, never))
	e.equal(s, what, foreign, none)
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// equal compares answers, but for ids that the server makes.
func (e *estate) equal(s *owned, what string, foreign, none *httptest.ResponseRecorder) {
	plain := func(rec *httptest.ResponseRecorder) string {
		body := rec.Body.String()
		if strings.Contains(body, `"result"`) { // errors have none
			body = uuid.ReplaceAllString(body, "UUID")
		}
		return fmt.Sprint(rec.Code, rec.Header(), body)
	}
	if got, want := plain(foreign), plain(none); got != want {
		e.Fatalf("%s, of %s at %s:\nsomebody else's %s\nof no one         %s", what, s.caller, s.path, got, want)
	}
}
