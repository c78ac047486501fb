package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
)

// opened is what a client holds open: a task's first stream, a subscription to
// it, and a message whose answer waits for its task.
type opened struct {
	sent, subscribed *stream
	waiting          chan *reply
	task             a2a.TaskID
}

func (h *house) openAll(p proof, name string) opened {
	h.Helper()
	o := opened{waiting: make(chan *reply, 1)}
	o.sent = h.stream(p, "/agents/gate", a2a.MethodSendStreamingMessage, said(name+" streams"))
	first, ok := o.sent.next()
	if o.task = (&reply{envelope: first}).task().ID; !ok || o.task == "" {
		h.Fatalf("the stream begins with %s", first.Result)
	}
	o.subscribed = h.stream(p, "/agents/gate", a2a.MethodSubscribeToTask, fmt.Sprintf(`{"id":%q}`, o.task))
	if event, ok := o.subscribed.next(); !ok {
		h.Fatalf("the subscription begins with %s", event.Result)
	}
	ctx, cancel := context.WithTimeout(h.Context(), 30*time.Second)
	h.Cleanup(cancel)
	web, req := h.web(p), h.request(ctx, p, "/agents/gate", a2a.MethodSendMessage, said(name+" waits"))
	go func() {
		got, err := exchange(web, req)
		if err != nil {
			got = &reply{body: err.Error()}
		}
		o.waiting <- got
	}()
	for range 2 {
		h.gate.wait(h.T)
	}
	return o
}

// TestWhatIsWithdrawnEndsAtOnce is REQ-GEN-06 for what is open: it ends with an
// error that says why, the task goes on, and nobody else notices.
func TestWhatIsWithdrawnEndsAtOnce(t *testing.T) {
	h := build(t, remoteClient("bystander", "", "gate/gate", ""))
	from := newIssuer(t)
	bystander := h.openAll(bearer(h.key("bystander").Key), "bystander")
	const withdrawn = "the credential or the rights that this was opened with were taken away"

	for _, test := range []struct {
		name   string
		take   func(client, key string)
		status int    // of a message whose answer waited
		words  string // to it, and at the end of streams
		after  int    // status of what is asked with the same credential
	}{
		{"revoked", func(client, key string) { h.revoke(client, key) }, 403, withdrawn, 401},
		{"disabled", func(client, _ string) {
			h.apply(strings.Replace(remoteClient(client, "", "gate/gate, desk/open", ""), "enabled: true", "enabled: false", 1))
		}, 403, withdrawn, 403},
		{"narrowed", func(client, _ string) { h.apply(remoteClient(client, "", "desk/open", "")) }, 403, withdrawn, 403},
		{"tightened", func(client, _ string) {
			h.apply(remoteClient(client, "", "gate/gate, desk/open", "  limits: {tasksPerDay: 2}\n"))
		}, 403, withdrawn, 429},
		{"deleted", func(client, _ string) { h.manage("DELETE", "/admin/resources/RemoteClient/"+client, "", "") }, 403, withdrawn, 401},
		{"expired", nil, 401, "the credential that this was opened with has expired; come back with a new one", 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := *h
			h.T = t
			credentials := ""
			if test.take == nil {
				credentials = "oidc: [" + from.identity("authorizedParty", test.name) + "]"
			}
			h.apply(remoteClient(test.name, credentials, "gate/gate, desk/open", ""))
			key, other := h.key(test.name), bearer(h.key(test.name).Key)
			p := bearer(key.Key)
			if test.take == nil { // a second more is given for the clocks
				p = from.token(from.claims(test.name, "").with("exp", time.Now().Add(2*time.Second).Unix()))
			}
			o := h.openAll(p, test.name)
			if test.take != nil {
				test.take(test.name, key.ID)
			}
			for what, s := range map[string]*stream{"its first stream": o.sent, "a subscription": o.subscribed} {
				if last := s.last(); last.Error.Code != a2a.CodeInvalidRequest || last.Error.Message != test.words || string(last.ID) != "7" {
					t.Errorf("%s ends with %s %+v", what, last.Result, last.Error)
				}
			}
			if got := <-o.waiting; got.status != test.status || got.Error.Message != test.words || (got.status == 401) != (got.header.Get("WWW-Authenticate") != "") {
				t.Errorf("a message that waits: %d %v %s", got.status, got.header, got.body)
			}
			if got := h.call(p, "/agents/gate", a2a.MethodSendMessage, said("again")); got.status != test.after {
				t.Errorf("afterwards: %d %s", got.status, got.body)
			}
			if test.after == 401 && test.name != "deleted" { // of a client with another credential
				got := h.call(other, "/agents/gate", a2a.MethodGetTask, fmt.Sprintf(`{"id":%q}`, o.task))
				if state := got.task().Status.State; state == "" || state.Terminal() {
					t.Errorf("its task: %d %s", got.status, got.body)
				}
			}
		})
	}

	h.gate.release("bystander streams")
	h.gate.release("bystander waits")
	for what, s := range map[string]*stream{"its first stream": bystander.sent, "a subscription": bystander.subscribed} {
		if last := s.last(); !strings.Contains(string(last.Result), "TASK_STATE_COMPLETED") {
			t.Errorf("%s of a bystander ends with %s %+v", what, last.Result, last.Error)
		}
	}
	if got := <-bystander.waiting; got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("a bystander's message: %d %s", got.status, got.body)
	}
}

// TestWiderRightsEndNothing changes a client for the better while it listens.
func TestWiderRightsEndNothing(t *testing.T) {
	h := build(t, remoteClient("partner", "", "gate/gate", ""))
	p := bearer(h.key("partner").Key)
	o := h.openAll(p, "partner")
	h.apply(remoteClient("partner", "", "gate/gate, desk/open", "  limits: {tasksPerDay: 20000}\n"))
	if got := h.call(p, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("what is new: %d %s", got.status, got.body)
	}
	h.gate.release("partner streams")
	h.gate.release("partner waits")
	if last := o.sent.last(); !strings.Contains(string(last.Result), "TASK_STATE_COMPLETED") {
		t.Errorf("the stream ends with %s %+v", last.Result, last.Error)
	}
	if got := <-o.waiting; got.task().Status.State != a2a.TaskStateCompleted {
		t.Errorf("the message: %d %s", got.status, got.body)
	}
}
