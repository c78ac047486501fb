package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/server"
)

// F02, REQ-RPC-03: the methods of older revisions, a noun and a verb with a
// slash between, are unknown, and so is every other spelling of ours. Whoever
// asks is told how names look now. (PVX-14)
func TestOlderMethodsAreUnknown(t *testing.T) {
	older := map[string][]string{
		"message": {"send", "stream"},
		"tasks": {
			"send", "sendSubscribe", "get", "list", "cancel", "resubscribe",
			"pushNotification/set", "pushNotification/get",
			"pushNotificationConfig/set", "pushNotificationConfig/get", "pushNotificationConfig/list", "pushNotificationConfig/delete",
		},
		"agent": {"authenticatedExtendedCard", "get" + "AuthenticatedExtendedCard", "getExtendedCard"},
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

// REQ-STRM-02, REQ-SUBS-05, REQ-PCFG-01, REQ-XCARD-01: a capability that is said
// to be absent is as absent as one that is left out.
func TestCapabilitiesThatAreFalse(t *testing.T) {
	card := form("A", "echo")
	card.Capabilities = a2a.AgentCapabilities{Streaming: new(false), PushNotifications: new(false), ExtendedAgentCard: new(false)}
	w := newWorld(t, options{agents: []server.Agent{{Card: card}}})
	const config = `{"taskId":"t","id":"c"}`
	for method, test := range map[string]struct {
		params string
		want   a2a.Code
	}{
		"SendStreamingMessage":             {say("m-1", "hello"), a2a.CodeUnsupportedOperation},
		"SubscribeToTask":                  {`{"id":"t"}`, a2a.CodeUnsupportedOperation},
		"GetExtendedAgentCard":             {`{}`, a2a.CodeUnsupportedOperation},
		"CreateTaskPushNotificationConfig": {`{"taskId":"t","url":"https://client.example/hook"}`, a2a.CodePushNotificationNotSupported},
		"GetTaskPushNotificationConfig":    {config, a2a.CodePushNotificationNotSupported},
		"ListTaskPushNotificationConfigs":  {`{"taskId":"t"}`, a2a.CodePushNotificationNotSupported},
		"DeleteTaskPushNotificationConfig": {config, a2a.CodePushNotificationNotSupported},
	} {
		rec := w.post("/", rpc(method, test.params))
		if code := codeOf(t, rec.Body.Bytes()); code != test.want || rec.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %s, want code %d", method, rec.Header().Get("Content-Type"), rec.Body, test.want)
		}
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

// mirror puts out what came along with a message.
func mirror(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	artifact := a2a.Artifact{Parts: []a2a.Part{
		{Content: a2a.PartData(turn.Metadata)}, a2a.TextPart(strings.Join(turn.AcceptedOutputModes, "|")),
	}}
	return agent.Completed(), out.Artifact(ctx, artifact, agent.Chunk{Last: true})
}

// REQ-SEND-07, REQ-SEND-20, REQ-PJ-28: an agent sees the metadata of a request
// as it was sent, and what its caller can take.
func TestWhatComesAlongReachesTheAgent(t *testing.T) {
	w := newWorld(t, options{})
	const metadata = `{"urn:example:x":{"a_b":[1.50,null,{"":true}]},"n":-0}`
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		along := `},"metadata":` + metadata + `,"configuration":{"acceptedOutputModes":["text/plain","text/html"]`
		w.post("/agents/mirror", rpc(method, say("m-1", "hello", along)))
		got := taskOf(t, w.post("/agents/mirror", rpc("SendMessage", say("m-1", "hello", along))).Body.Bytes())
		want := []a2a.Part{{Content: a2a.PartData(metadata)}, a2a.TextPart("text/plain|text/html")}
		if diff := cmp.Diff(want, got.Artifacts[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
}

// REQ-GET-04, REQ-OPS-03: whoever reads, and however often, changes nothing.
func TestReadingChangesNothing(t *testing.T) {
	w := newWorld(t, options{})
	made := taskOf(t, w.post("/agents/ask", rpc("SendMessage", say("m-1", "hello"))).Body.Bytes())
	first := map[string]string{}
	for range 100 {
		for method, params := range map[string]string{
			"GetTask":              `{"id":"` + string(made.ID) + `"}`,
			"ListTasks":            `{"includeArtifacts":true}`,
			"GetExtendedAgentCard": `{}`,
		} {
			got := w.post("/agents/ask", rpc(method, params)).Body.String()
			if first[method] == "" {
				first[method] = got
			}
			if diff := cmp.Diff(first[method], got); diff != "" {
				t.Fatalf("%s answers otherwise (-first +now):\n%s", method, diff)
			}
		}
	}
}
