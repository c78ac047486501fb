package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

// REQ-SEND-13.
func TestSendMessageAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		result string
		want   *a2a.SendMessageResponse
	}{
		"task": {`{"task":` + completed + `}`, &a2a.SendMessageResponse{Payload: &a2a.Task{
			ID: "t-1", ContextID: "c-1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted},
			Artifacts: []a2a.Artifact{{ArtifactID: "a-1", Parts: []a2a.Part{a2a.TextPart("done")}}},
		}}},
		"message": {`{"message":{"messageId":"m-2","contextId":"c-2","role":"ROLE_AGENT","parts":[{"text":"pong"}]}}`,
			&a2a.SendMessageResponse{Payload: &a2a.Message{
				MessageID: "m-2", ContextID: "c-2", Role: a2a.RoleAgent, Parts: []a2a.Part{a2a.TextPart("pong")},
			}}},
	} {
		peer := testkit.NewPeer(t, testkit.Result(tt.result))
		got, err := connect(t, peer, client.Config{}).SendMessage(t.Context(), request("ping"))
		if err != nil {
			t.Errorf("%s: error = %v", name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// REQ-RPC-08, REQ-RPC-17, REQ-ERR-20: answers that break the protocol, on every
// operation that is answered at once.
func TestAnswersThatBreakTheProtocol(t *testing.T) {
	for name, answer := range map[string]testkit.Answer{
		"array":             testkit.JSON(`[]`),
		"version":           testkit.JSON(`{"jsonrpc":"1.0","id":$ID,"result":{}}`),
		"no id":             testkit.JSON(`{"jsonrpc":"2.0","result":` + working + `}`),
		"null id":           testkit.JSON(`{"jsonrpc":"2.0","id":null,"result":` + working + `}`),
		"number for string": testkit.JSON(`{"jsonrpc":"2.0","id":1,"result":` + working + `}`),
		"both":              testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":1,"message":""}}`),
		"neither":           testkit.JSON(`{"jsonrpc":"2.0","id":$ID}`),
		"error of no code":  testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"error":{"message":"x"}}`),
		"duplicate names":   testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"result":{},"result":{}}`),
		"deep":              testkit.Result(strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100)),
		"a stream":          testkit.Events(`{"task":` + working + `}`),
	} {
		for method, call := range operations {
			if a2a.Streams(method) {
				continue
			}
			if name == "neither" && method == a2a.MethodDeleteTaskPushNotificationConfig {
				continue // PVP-10: there is nothing to say, see TestDeleteAnswers
			}
			peer := testkit.NewPeer(t, answer)
			err := call(t, connect(t, peer, client.Config{}))
			broken, ok := errors.AsType[*client.InvalidResponseError](err)
			if !ok || broken.Method != method || broken.Status != 200 {
				t.Errorf("%s, %s: error = %v, want an *InvalidResponseError", name, method, err)
			}
			if isPeerError(err) {
				t.Errorf("%s, %s: error = %v looks as if the peer had said it", name, method, err)
			}
		}
	}
}

func isPeerError(err error) bool {
	_, ok := errors.AsType[*a2a.Error](err)
	return ok
}

// REQ-ERR-20, REQ-PJ-08, REQ-PJ-10, REQ-MOD-06, REQ-MOD-11.
func TestResultsThatBreakTheProtocol(t *testing.T) {
	for _, tt := range []struct{ method, result, why string }{
		{a2a.MethodSendMessage, `{}`, "neither"},
		{a2a.MethodSendMessage, `null`, "not an object"},
		{a2a.MethodSendMessage, `"task"`, "not an object"},
		{a2a.MethodSendMessage, `{"task":` + working + `,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":""}]}}`, "only one of"},
		{a2a.MethodSendMessage, `{"task":{"id":"","status":{"state":"TASK_STATE_WORKING"}}}`, "no id"},
		{a2a.MethodSendMessage, `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`, "no parts"},
		{a2a.MethodGetTask, `{"task":` + working + `}`, "no id"},
		{a2a.MethodGetTask, `{"id":"t-2","status":{"state":"TASK_STATE_WORKING"}}`, "another task"},
		{a2a.MethodGetTask, `{"id":"t-1","status":"done"}`, "status"},
		{a2a.MethodGetTask, `{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":{}}`, "artifacts"},
		{a2a.MethodGetTask, `{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"x","url":"y"}]}]}`, "only one of"},
		{a2a.MethodGetTask, `{"id":"t-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"raw":"%%"}]}]}`, "base64"},
		{a2a.MethodCancelTask, `{"id":"t-2","status":{"state":"TASK_STATE_CANCELED"}}`, "another task"},
		{a2a.MethodListTasks, `{"tasks":[{"status":{"state":"TASK_STATE_WORKING"}}]}`, "no id"},
		{a2a.MethodGetTaskPushNotificationConfig, `{"url":"https://hooks.example"}`, "no id"},
		{a2a.MethodGetExtendedAgentCard, `[]`, "not an object"},
		{a2a.MethodGetExtendedAgentCard, `{"security":[{"oidc":[]}]}`, "security"},
	} {
		peer := testkit.NewPeer(t, testkit.Result(tt.result))
		err := operations[tt.method](t, connect(t, peer, client.Config{}))
		if _, ok := errors.AsType[*client.InvalidResponseError](err); !ok || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s %s: error = %v, want an *InvalidResponseError about %q", tt.method, tt.result, err, tt.why)
		}
	}
}

// REQ-PCFG-14, PVP-10.
func TestDeleteAnswers(t *testing.T) {
	for _, answer := range []testkit.Answer{testkit.Result(`{}`), testkit.Result(`null`), testkit.JSON(`{"jsonrpc":"2.0","id":$ID}`)} {
		peer := testkit.NewPeer(t, answer)
		if err := operations[a2a.MethodDeleteTaskPushNotificationConfig](t, connect(t, peer, client.Config{})); err != nil {
			t.Errorf("error = %v", err)
		}
	}
}

// REQ-ERR-19, REQ-FWD-03, DEC-01: an error of the peer at any HTTP status, on
// every operation.
func TestErrorsOfThePeer(t *testing.T) {
	for method, call := range operations {
		for _, status := range []int{200, 400, 401, 500, 503} {
			peer := testkit.NewPeer(t, testkit.HTTP(status, "application/json", testkit.Failure(-32001, "no such task")))
			err := call(t, connect(t, peer, client.Config{}))
			said, ok := errors.AsType[*client.PeerError](err)
			if !ok || said.Method != method || said.Status != status || said.Err.Message != "no such task" {
				t.Errorf("%s, HTTP %d: error = %v, want the peer's", method, status, err)
			}
			if !errors.Is(err, a2a.ErrTaskNotFound) || !isPeerError(err) {
				t.Errorf("%s, HTTP %d: error = %v does not match ErrTaskNotFound", method, status, err)
			}
		}
	}
	peer := testkit.NewPeer(t, testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32010,"message":"late","data":{"reason":"x"}}}`))
	err := operations[a2a.MethodGetTask](t, connect(t, peer, client.Config{}))
	if said, ok := errors.AsType[*a2a.Error](err); !ok || said.Code != -32010 {
		t.Errorf("error = %v, want code -32010", err)
	}
}

func TestAMethodThePeerDoesNotKnow(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Fail(-32601, "Method not found"))
	for method, call := range operations {
		err := call(t, connect(t, peer, client.Config{}))
		if !isPeerError(err) || !strings.Contains(err.Error(), "does not know "+method) || !strings.Contains(err.Error(), "older version") {
			t.Errorf("error = %v, want one that suspects an older version", err)
		}
	}
}

// F36: who refused, what for, and never a secret.
func TestHTTPErrors(t *testing.T) {
	hidden := http.Header{"Authorization": {"Bearer s3cret"}}
	for _, tt := range []struct {
		name    string
		answer  testkit.Answer
		headers http.Header
		want    client.HTTPError
		text    string
	}{
		{"login page", testkit.Page(200), nil,
			client.HTTPError{Status: 200, ContentType: "text/html", IsHTML: true, Server: "gatekeeper/1.0"}, "web page (text/html), probably from a proxy or a login page"},
		{"plain text", testkit.HTTP(200, "text/plain; charset=utf-8", "s3cret"), nil,
			client.HTTPError{Status: 200, ContentType: "text/plain"}, `"text/plain" instead of JSON`},
		{"unauthorized", testkit.HTTP(401, "application/json", `{"detail":"s3cret"}`, `WWW-Authenticate: Bearer realm="s3cret"`), hidden,
			client.HTTPError{Status: 401, ContentType: "application/json", Challenge: "Bearer"}, `asking for "Bearer" credentials`},
		{"anonymous", testkit.HTTP(403, "", ""), nil,
			client.HTTPError{Status: 403}, "HTTP 403 Forbidden"},
		{"forbidden with a reason", testkit.HTTP(403, "text/plain; charset=utf-8", "only\nfrom\x00 here "+strings.Repeat("ü", 400)), nil,
			client.HTTPError{Status: 403, ContentType: "text/plain", Said: "only from here " + strings.Repeat("ü", 141) + "…"}, `saying "only from here ü`},
		{"unauthorized with a reason", testkit.HTTP(401, "text/plain", "no"), nil,
			client.HTTPError{Status: 401, ContentType: "text/plain", Said: "no"}, `saying "no"`},
		{"nobody there", testkit.HTTP(404, "", ""), nil,
			client.HTTPError{Status: 404, Hint: "there is no agent at the URL its card names"}, "no agent at the URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer := testkit.NewPeer(t, tt.answer)
			err := operations[a2a.MethodSendMessage](t, connect(t, peer, client.Config{Headers: tt.headers}))
			got, ok := errors.AsType[*client.HTTPError](err)
			if !ok {
				t.Fatalf("error = %v, want an *HTTPError", err)
			}
			tt.want.Method = a2a.MethodSendMessage
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error = %q, want %q in it and no secret", err, tt.text)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	elsewhere := testkit.ListenPeer(t, testkit.Script())
	for method, call := range operations {
		peer := testkit.ListenPeer(t, testkit.Redirect(307, elsewhere.URL))
		err := call(t, connect(t, peer, client.Config{Headers: http.Header{"Authorization": {"Bearer s3cret"}}}))
		if redirect, ok := errors.AsType[*guard.RedirectError](err); !ok || redirect.Status != 307 {
			t.Errorf("%s: error = %v, want a *guard.RedirectError", method, err)
		}
	}
}

func TestAnswersThatAreTooLarge(t *testing.T) {
	padding := strings.Repeat(" ", 2000)
	for method, call := range operations {
		peer := testkit.NewPeer(t, testkit.JSON(testkit.Envelope(working)+padding))
		err := call(t, connect(t, peer, client.Config{MaxAnswerBytes: 1000}))
		if large, ok := errors.AsType[*guard.TooLargeError](err); !ok || large.Limit != 1000 {
			t.Errorf("%s: error = %v, want a *guard.TooLargeError", method, err)
		}
	}
}

// F36: a token that expired is renewed once, for what is safe to repeat.
func TestExpiredCredentials(t *testing.T) {
	reads := map[string]bool{
		a2a.MethodGetTask: true, a2a.MethodListTasks: true, a2a.MethodSubscribeToTask: true, a2a.MethodGetExtendedAgentCard: true,
		a2a.MethodGetTaskPushNotificationConfig: true, a2a.MethodListTaskPushNotificationConfigs: true,
	}
	for method, call := range operations {
		peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
			if r.Header.Get("Authorization") != "Bearer new" {
				testkit.HTTP(401, "", "")(w, r)
				return
			}
			results[method](w, r)
		})
		var asked []bool
		c := connect(t, peer, client.Config{Credentials: func(_ context.Context, renew bool) (http.Header, error) {
			asked = append(asked, renew)
			return http.Header{"Authorization": {map[bool]string{false: "Bearer old", true: "Bearer new"}[renew]}}, nil
		}})
		err := call(t, c)
		if reads[method] {
			if err != nil || !cmp.Equal(asked, []bool{false, true}) {
				t.Errorf("%s: error = %v, credentials asked %v, want a renewal and success", method, err, asked)
			}
		} else if refused, ok := errors.AsType[*client.HTTPError](err); !ok || refused.Status != 401 || !cmp.Equal(asked, []bool{false}) {
			t.Errorf("%s: error = %v, credentials asked %v, want 401 at once", method, err, asked)
		}
	}
}

func TestCredentialsThatFail(t *testing.T) {
	for name, credentials := range map[string]func(context.Context, bool) (http.Header, error){
		"error":      func(context.Context, bool) (http.Header, error) { return nil, io.ErrClosedPipe },
		"line break": func(context.Context, bool) (http.Header, error) { return http.Header{"X-Key": {"s3cret\n"}}, nil },
		"protocol":   func(context.Context, bool) (http.Header, error) { return http.Header{"A2A-Version": {"s3cret"}}, nil },
	} {
		peer := testkit.NewPeer(t, testkit.Script())
		err := operations[a2a.MethodSendMessage](t, connect(t, peer, client.Config{Credentials: credentials}))
		if _, ok := errors.AsType[*client.CredentialsError](err); !ok || client.Classify(err, false) != client.Retryable || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error = %v, want a *CredentialsError without the secret", name, err)
		}
	}
}

// REQ-EXT-18.
func TestObserve(t *testing.T) {
	var seen []client.Answer
	peer := testkit.NewPeer(t, testkit.HTTP(200, "application/json", testkit.Envelope(working), "A2A-Extensions: urn:a:v1, urn:b:v1", "a2a-extensions: urn:c:v1"))
	c := connect(t, peer, client.Config{Observe: func(a client.Answer) { seen = append(seen, a) }})
	if err := operations[a2a.MethodGetTask](t, c); err != nil {
		t.Fatal(err)
	}
	want := []client.Answer{{Method: a2a.MethodGetTask, Status: 200, Extensions: []string{"urn:a:v1", "urn:b:v1", "urn:c:v1"}}}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// REQ-LIST-05, REQ-LIST-17.
func TestListTasks(t *testing.T) {
	task := func(id string) string { return fmt.Sprintf(`{"id":%q,"status":{"state":2}}`, id) }
	peer := testkit.NewPeer(t, testkit.Script(
		testkit.Result(`{"tasks":[`+task("1")+`,`+task("2")+`],"nextPageToken":"p2","pageSize":2,"totalSize":3}`),
		testkit.Result(`{"tasks":[],"nextPageToken":"p3"}`),
		testkit.Result(`{"tasks":[`+task("3")+`]}`),
	))
	c := connect(t, peer, client.Config{})
	var ids []a2a.TaskID
	for task, err := range c.AllTasks(t.Context(), &a2a.ListTasksRequest{ContextID: "c-1"}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	if diff := cmp.Diff([]a2a.TaskID{"1", "2", "3"}, ids); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var params []string
	for _, r := range peer.Requests() {
		params = append(params, r.Params)
	}
	want := []string{`{"contextId":"c-1"}`, `{"contextId":"c-1","pageToken":"p2"}`, `{"contextId":"c-1","pageToken":"p3"}`}
	if diff := cmp.Diff(want, params); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestListTasksThatDoesNotEnd(t *testing.T) {
	var asked atomic.Int32
	peer := testkit.NewPeer(t, func(w *testkit.Wire, r *testkit.Request) {
		asked.Add(1)
		testkit.Result(`{"tasks":[`+working+`],"nextPageToken":"again"}`)(w, r)
	})
	c := connect(t, peer, client.Config{})
	count, last := 0, error(nil)
	for _, err := range c.AllTasks(t.Context(), nil) {
		count++
		last = err
	}
	if _, ok := errors.AsType[*client.InvalidResponseError](last); !ok || count != 3 || asked.Load() != 2 {
		t.Errorf("yielded %d after %d pages, last %v, want an end at the repeated page", count, asked.Load(), last)
	}
	for range c.AllTasks(t.Context(), nil) {
		break // leaving early is fine
	}
}

// REQ-CANC-05, PVX-02, F35: what an answer to our own cancel says.
func TestIsOver(t *testing.T) {
	for code, want := range map[int]bool{-32002: true, -32001: true, -32004: false, -32603: false} {
		peer := testkit.NewPeer(t, testkit.Fail(code, "x"))
		err := operations[a2a.MethodCancelTask](t, connect(t, peer, client.Config{}))
		if got := client.IsOver(err); got != want {
			t.Errorf("IsOver(%v) = %v, want %v", err, got, want)
		}
	}
}

// REQ-XCARD-08: the extended card may take the place of the public one, which
// stays as it is for others.
func TestExtendedCard(t *testing.T) {
	raw := testkit.CardJSON(testkit.Card("$URL/a2a"))
	raw = strings.Replace(raw, "{", `{"laterMember":1,`, 1)
	peer := testkit.NewPeer(t, testkit.Result(raw))
	raw = strings.ReplaceAll(raw, "$URL", peer.URL)
	c := connect(t, peer, client.Config{}, func(card *a2a.AgentCard) { card.Name = "Public" })
	card, err := c.GetExtendedAgentCard(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(card, client.Config{}); err != nil {
		t.Errorf("New() with the extended card: %v", err)
	}
	if got := c.Card().AgentCard.Name; got != "Public" {
		t.Errorf("the public card has become that of %q", got)
	}
	if string(card.Raw) != raw || card.AgentCard.Name != "Test agent" {
		t.Errorf("card = %s, want it byte for byte", card.Raw)
	}
	if _, _, err := card.Revalidate(t.Context()); err == nil {
		t.Error("Revalidate() of an extended card: no error")
	}
}
