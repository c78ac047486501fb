package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

// F02, REQ-RPC-03: the methods of older revisions, a noun and a verb with a
// slash between, are unknown, and so is every other spelling of ours. Whoever
// asks is told how names look now.
func TestOlderMethodsAreUnknown(t *testing.T) {
	older := map[string][]string{
		"message": {"send", "stream"},
		"tasks": {
			"send", "sendSubscribe", "get", "list", "cancel", "resubscribe",
			"pushNotification/set", "pushNotification/get",
			"pushNotificationConfig/set", "pushNotificationConfig/get", "pushNotificationConfig/list", "pushNotificationConfig/delete",
		},
		"agent": {"authenticatedExtendedCard", "getAuthenticatedExtendedCard", "getExtendedCard"},
	}
	names := []string{"sendMessage", "SENDMESSAGE", "SendMessage ", "a2a.SendMessage", "A2AService/SendMessage"}
	for noun, verbs := range older {
		for _, verb := range verbs {
			names = append(names, noun+"/"+verb)
		}
	}
	w := newWorld(t, options{})
	for _, name := range names {
		for _, params := range []string{`{}`, say("m-1", "hello"), `{"id":"t"}`} {
			rec := w.post("/", rpc(name, params))
			if rec.Code != http.StatusOK || codeOf(t, rec.Body.Bytes()) != a2a.CodeMethodNotFound ||
				!strings.Contains(rec.Body.String(), `"id":1,`) || !strings.Contains(rec.Body.String(), "names like SendMessage") {
				t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
			}
		}
		r := request("POST", "/", rpc(name, `{}`))
		r.Header.Del("A2A-Version") // which is how older callers come
		if code := codeOf(t, w.do(r).Body.Bytes()); code != a2a.CodeVersionNotSupported {
			t.Errorf("%s without a version: code %d", name, code)
		}
	}
	if total := w.total(t, "/", "client-a"); total != "0" {
		t.Errorf("%s tasks came of it", total)
	}
}

// A skill that is on the card and served by nobody is no fault of the caller's,
// nor one to look up in the log.
func TestSkillThatNobodyServes(t *testing.T) {
	w := newWorld(t, options{agents: []server.Agent{{Card: form("A", "nothing")}}})
	for i, method := range []string{"SendMessage", "SendStreamingMessage"} {
		rec := w.post("/", rpc(method, say(fmt.Sprint("m-", i), "hello")))
		if rec.Code != http.StatusOK || codeOf(t, rec.Body.Bytes()) != a2a.CodeUnsupportedOperation ||
			!strings.Contains(rec.Body.String(), "the skill is on the card, but nothing answers for it here") {
			t.Errorf("%s: %d %s", method, rec.Code, rec.Body)
		}
	}
	if total := w.total(t, "/", "client-a"); total != "0" {
		t.Errorf("%s tasks came of it", total)
	}
	if strings.Contains(w.logs.String(), "a request failed") {
		t.Error("it was logged as a fault of the server")
	}
}
