package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a client for a peer, with a card that was never fetched.
func connect(t *testing.T, peer *testkit.Peer, cfg client.Config, change ...func(*a2a.AgentCard)) *client.Client {
	t.Helper()
	described := testkit.Card(peer.URL + "/a2a?route=1")
	for _, c := range change {
		c(&described)
	}
	card, err := client.ParseCard([]byte(testkit.CardJSON(described)), peer.URL)
	if err != nil {
		t.Fatalf("ParseCard() error = %v", err)
	}
	cfg.Policy = peer.Policy()
	c, err := client.New(card, cfg)
	if err != nil {
		t.Fatalf("New() error = %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// request is a message to send, with an id that is always the same.
func request(text string) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(text))
	message.MessageID = "m-1"
	return &a2a.SendMessageRequest{Message: *message}
}

const (
	working   = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}`
	completed = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"done"}]}]}`
	hook      = `{"id":"h-1","taskId":"t-1","url":"https://hooks.example/1"}`
)

// operations calls every operation once, whatever it answers.
var operations = map[string]func(t *testing.T, c *client.Client) error{
	a2a.MethodSendMessage: func(t *testing.T, c *client.Client) error {
		_, err := c.SendMessage(t.Context(), request("hi"))
		return err
	},
	a2a.MethodSendStreamingMessage: func(t *testing.T, c *client.Client) error {
		s, err := c.SendStreamingMessage(t.Context(), request("hi"))
		if err == nil {
			s.Close()
		}
		return err
	},
	a2a.MethodGetTask: func(t *testing.T, c *client.Client) error {
		_, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1", Tenant: "ignored"})
		return err
	},
	a2a.MethodListTasks: func(t *testing.T, c *client.Client) error {
		_, err := c.ListTasks(t.Context(), nil)
		return err
	},
	a2a.MethodCancelTask: func(t *testing.T, c *client.Client) error {
		_, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "t-1"})
		return err
	},
	a2a.MethodSubscribeToTask: func(t *testing.T, c *client.Client) error {
		s, err := c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t-1"})
		if err == nil {
			s.Close()
		}
		return err
	},
	a2a.MethodCreateTaskPushNotificationConfig: func(t *testing.T, c *client.Client) error {
		_, err := c.CreateTaskPushNotificationConfig(t.Context(), &a2a.TaskPushNotificationConfig{TaskID: "t-1", URL: "https://hooks.example/1"})
		return err
	},
	a2a.MethodGetTaskPushNotificationConfig: func(t *testing.T, c *client.Client) error {
		_, err := c.GetTaskPushNotificationConfig(t.Context(), &a2a.GetTaskPushNotificationConfigRequest{TaskID: "t-1", ID: "h-1"})
		return err
	},
	a2a.MethodListTaskPushNotificationConfigs: func(t *testing.T, c *client.Client) error {
		_, err := c.ListTaskPushNotificationConfigs(t.Context(), &a2a.ListTaskPushNotificationConfigsRequest{TaskID: "t-1"})
		return err
	},
	a2a.MethodDeleteTaskPushNotificationConfig: func(t *testing.T, c *client.Client) error {
		return c.DeleteTaskPushNotificationConfig(t.Context(), &a2a.DeleteTaskPushNotificationConfigRequest{TaskID: "t-1", ID: "h-1"})
	},
	a2a.MethodGetExtendedAgentCard: func(t *testing.T, c *client.Client) error {
		_, err := c.GetExtendedAgentCard(t.Context())
		return err
	},
}

// results is a right answer to every operation.
var results = map[string]testkit.Answer{
	a2a.MethodSendMessage:                      testkit.Result(`{"task":` + completed + `}`),
	a2a.MethodSendStreamingMessage:             testkit.Events(`{"task":` + completed + `}`),
	a2a.MethodGetTask:                          testkit.Result(completed),
	a2a.MethodListTasks:                        testkit.Result(`{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`),
	a2a.MethodCancelTask:                       testkit.Result(working),
	a2a.MethodSubscribeToTask:                  testkit.Events(`{"task":` + working + `}`),
	a2a.MethodCreateTaskPushNotificationConfig: testkit.Result(hook),
	a2a.MethodGetTaskPushNotificationConfig:    testkit.Result(hook),
	a2a.MethodListTaskPushNotificationConfigs:  testkit.Result(`{"configs":[` + hook + `]}`),
	a2a.MethodDeleteTaskPushNotificationConfig: testkit.Result(`{}`),
	a2a.MethodGetExtendedAgentCard:             testkit.Result(testkit.CardJSON(testkit.Card("$URL/a2a"))),
}

// REQ-VER-01, REQ-VER-08, REQ-TEN-01, REQ-TEN-02, REQ-VER-07, REQ-EXT-03, REQ-SEC-11, REQ-RPC-01,
// REQ-RPC-02, REQ-RPC-03, REQ-RPC-04, REQ-RPC-06, REQ-RPC-16, DEC-03.
func TestWhatEveryRequestCarries(t *testing.T) {
	if got, want := len(operations), len(a2a.Methods()); got != want {
		t.Fatalf("the table has %d operations, want %d", got, want)
	}
	for _, tenant := range []string{"billing", ""} {
		for method, call := range operations {
			t.Run(method+"/"+tenant, func(t *testing.T) {
				peer := testkit.NewPeer(t, testkit.Routes(results))
				c := connect(t, peer, client.Config{
					Extensions: []string{"urn:a:v1", "urn:b:v1"},
					Headers:    http.Header{"X-Api-Key": {"s3cret"}},
				}, func(card *a2a.AgentCard) { card.SupportedInterfaces[0].Tenant = tenant })
				if err := call(t, c); err != nil {
					t.Fatalf("error = %v", err)
				}
				sent := peer.Requests()
				if len(sent) != 1 {
					t.Fatalf("the peer was sent %d requests, want 1", len(sent))
				}
				r := sent[0]
				accept := "application/json"
				if a2a.Streams(method) {
					accept = "text/event-stream, application/json"
				}
				want := map[string]string{
					"A2A-Version": "1.0", "A2A-Extensions": "urn:a:v1, urn:b:v1", "Content-Type": "application/json",
					"Accept": accept, "X-Api-Key": "s3cret",
				}
				for name, value := range want {
					if got := r.Header.Values(name); !cmp.Equal(got, []string{value}) {
						t.Errorf("header %s = %q, want %q", name, got, value)
					}
				}
				if r.Method != "POST" || r.Target != "/a2a?route=1" || r.Operation != method {
					t.Errorf("request = %s %s %s, want the interface's URL as it is", r.Method, r.Target, r.Operation)
				}
				if !strings.HasPrefix(r.ID, `"`) {
					t.Errorf("id = %s, want a string", r.ID)
				}
				if got := strings.Contains(r.Params, `"tenant":"billing"`); got != (tenant != "") {
					t.Errorf("params = %s, want tenant %q", r.Params, tenant)
				}
				if tenant == "" && strings.Contains(r.Params, "tenant") {
					t.Errorf("params = %s, want no tenant", r.Params)
				}
			})
		}
	}
}

// REQ-OPS-02, REQ-XCARD-12: no request leaves when the card says no.
func TestCapabilitiesThatAreNotOffered(t *testing.T) {
	needs := map[string]string{
		a2a.MethodSendStreamingMessage: "streaming", a2a.MethodSubscribeToTask: "streaming",
		a2a.MethodCreateTaskPushNotificationConfig: "pushNotifications", a2a.MethodGetTaskPushNotificationConfig: "pushNotifications",
		a2a.MethodListTaskPushNotificationConfigs: "pushNotifications", a2a.MethodDeleteTaskPushNotificationConfig: "pushNotifications",
		a2a.MethodGetExtendedAgentCard: "extendedAgentCard",
	}
	no := false
	for name, capabilities := range map[string]a2a.AgentCapabilities{
		"absent": {}, "false": {Streaming: &no, PushNotifications: &no, ExtendedAgentCard: &no},
	} {
		peer := testkit.NewPeer(t, testkit.Routes(results))
		c := connect(t, peer, client.Config{}, func(card *a2a.AgentCard) { card.Capabilities = capabilities })
		for method, capability := range needs {
			err := operations[method](t, c)
			unsupported, ok := errors.AsType[*client.UnsupportedError](err)
			if !ok || unsupported.Capability != capability || !errors.Is(err, client.ErrUnsupported) {
				t.Errorf("%s, %s: error = %v, want unsupported for want of %s", name, method, err, capability)
			}
			if errors.Is(err, a2a.ErrUnsupportedOperation) {
				t.Errorf("%s: error = %v looks as if the peer had said it", method, err)
			}
		}
		inline := request("hi")
		inline.Configuration = &a2a.SendMessageConfiguration{TaskPushNotificationConfig: &a2a.TaskPushNotificationConfig{URL: "https://hooks.example/1"}}
		if _, err := c.SendMessage(t.Context(), inline); !errors.Is(err, client.ErrUnsupported) {
			t.Errorf("SendMessage with a webhook: error = %v, want unsupported", err)
		}
		if sent := peer.Operations(); len(sent) > 0 {
			t.Errorf("the peer was asked %v, want nothing", sent)
		}
	}
}

// REQ-PJ-15, REQ-MOD-04, REQ-MOD-06, REQ-PJ-09: what breaks the protocol never
// leaves.
func TestRequestsThatAreNone(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Routes(results))
	c := connect(t, peer, client.Config{})
	ctx := t.Context()
	broken := func(change func(*a2a.SendMessageRequest)) *a2a.SendMessageRequest {
		r := request("hi")
		change(r)
		return r
	}
	calls := map[string]func() error{
		"send nothing": func() error { _, err := c.SendMessage(ctx, nil); return err },
		"no message id": func() error {
			_, err := c.SendMessage(ctx, broken(func(r *a2a.SendMessageRequest) { r.Message.MessageID = "" }))
			return err
		},
		"agent's role": func() error {
			_, err := c.SendMessage(ctx, broken(func(r *a2a.SendMessageRequest) { r.Message.Role = a2a.RoleAgent }))
			return err
		},
		"no parts": func() error {
			_, err := c.SendStreamingMessage(ctx, broken(func(r *a2a.SendMessageRequest) { r.Message.Parts = nil }))
			return err
		},
		"an empty part": func() error {
			_, err := c.SendMessage(ctx, broken(func(r *a2a.SendMessageRequest) { r.Message.Parts = []a2a.Part{{}} }))
			return err
		},
		"get nothing":      func() error { _, err := c.GetTask(ctx, nil); return err },
		"cancel nothing":   func() error { _, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{}); return err },
		"subscribe":        func() error { _, err := c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{}); return err },
		"create a webhook": func() error { _, err := c.CreateTaskPushNotificationConfig(ctx, nil); return err },
		"webhook, no task": func() error { // PVP-09
			_, err := c.CreateTaskPushNotificationConfig(ctx, &a2a.TaskPushNotificationConfig{URL: "https://hooks.example/1"})
			return err
		},
		"get a webhook":    func() error { _, err := c.GetTaskPushNotificationConfig(ctx, nil); return err },
		"list webhooks":    func() error { _, err := c.ListTaskPushNotificationConfigs(ctx, nil); return err },
		"delete a webhook": func() error { return c.DeleteTaskPushNotificationConfig(ctx, nil) },
	}
	for name, call := range calls {
		err := call()
		if _, ok := errors.AsType[*client.RequestError](err); !ok {
			t.Errorf("%s: error = %v, want a *RequestError", name, err)
		}
		if got := client.Classify(err, false); got != client.Refused {
			t.Errorf("%s: Classify() = %v, want refused", name, got)
		}
	}
	if sent := peer.Operations(); len(sent) > 0 {
		t.Errorf("the peer was asked %v, want nothing", sent)
	}
}

// REQ-SEND-18, PVP-05, PVP-09, DEC-34: the webhook of a send names neither task
// nor tenant.
func TestTheWebhookOfASend(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Routes(results))
	c := connect(t, peer, client.Config{})
	r := request("hi")
	webhook := &a2a.TaskPushNotificationConfig{TaskID: "t-9", Tenant: "x", URL: "https://hooks.example/1"}
	r.Configuration = &a2a.SendMessageConfiguration{TaskPushNotificationConfig: webhook}
	if _, err := c.SendMessage(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	params := peer.Requests()[0].Params
	if strings.Contains(params, "taskId") || strings.Contains(params, "tenant") {
		t.Errorf("params = %s, want neither task nor tenant", params)
	}
	if !strings.Contains(params, `"configuration":{"taskPushNotificationConfig":{"url":"https://hooks.example/1"}}`) {
		t.Errorf("params = %s, want the webhook", params)
	}
	if webhook.TaskID != "t-9" || r.Configuration.TaskPushNotificationConfig != webhook {
		t.Error("the caller's request was changed")
	}
}

// REQ-LIFE-05, REQ-CTX-05: a message goes out without a task and a context of our
// own making. REQ-CTX-06, REQ-CTX-10, REQ-CTX-13: what it names is passed on as
// it is, in every combination.
func TestWhatASendNames(t *testing.T) {
	for names, want := range map[string]string{
		"nothing":    ``,
		"context":    `"contextId":"Ω/ c",`,
		"task":       `"taskId":"t 1",`,
		"both":       `"contextId":"Ω/ c","taskId":"t 1",`,
		"references": `"contextId":"Ω/ c",`,
	} {
		for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
			peer := testkit.NewPeer(t, testkit.Routes(results))
			c := connect(t, peer, client.Config{})
			r, tail := request("hi"), ""
			if names != "nothing" && names != "task" {
				r.Message.ContextID = "Ω/ c"
			}
			if names == "task" || names == "both" {
				r.Message.TaskID = "t 1"
			}
			if names == "references" {
				r.Message.ReferenceTaskIDs, tail = []a2a.TaskID{"t-0", "t-1"}, `,"referenceTaskIds":["t-0","t-1"]`
			}
			var err error
			if method == a2a.MethodSendMessage {
				_, err = c.SendMessage(t.Context(), r)
			} else {
				var s *client.Stream
				if s, err = c.SendStreamingMessage(t.Context(), r); err == nil {
					s.Close()
				}
			}
			if err != nil {
				t.Fatalf("%s naming %s: error = %v", method, names, err)
			}
			want := `{"message":{"messageId":"m-1",` + want + `"role":"ROLE_USER","parts":[{"text":"hi"}]` + tail + `}}`
			if diff := cmp.Diff(want, peer.Requests()[0].Params); diff != "" {
				t.Errorf("%s naming %s (-want +got)\n%s", method, names, diff)
			}
		}
	}
}

// REQ-CARD-32, REQ-EXT-08.
func TestRequiredExtensions(t *testing.T) {
	described := testkit.Card("https://agent.example/a2a")
	described.Capabilities.Extensions = []a2a.AgentExtension{
		{URI: "urn:known:v1", Required: true}, {URI: "urn:odd:v1", Required: true}, {URI: "urn:nice:v1"},
	}
	card, err := client.ParseCard([]byte(testkit.CardJSON(described)), "https://agent.example")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.New(card, client.Config{Extensions: []string{"urn:known:v1", "URN:odd:v1"}})
	refused, ok := errors.AsType[*client.ExtensionError](err)
	if !ok || !cmp.Equal(refused.URIs, []string{"urn:odd:v1"}) || client.Classify(err, false) != client.Refused {
		t.Errorf("New() error = %v, want one about urn:odd:v1", err)
	}
	_, err = client.New(card, client.Config{Extensions: []string{"urn:known:v2", "urn:odd:v1"}})
	if refused, ok := errors.AsType[*client.ExtensionError](err); !ok || !cmp.Equal(refused.URIs, []string{"urn:known:v1"}) {
		t.Errorf("New() with another version: error = %v, want one about urn:known:v1", err)
	}
	if _, err := client.New(card, client.Config{Extensions: []string{"urn:known:v1", "urn:odd:v1"}}); err != nil {
		t.Errorf("New() with both extensions: error = %v", err)
	}
}

// REQ-RPC-18, too: no header of another meaning takes a name of the protocol.
func TestConfigurationsThatAreRefused(t *testing.T) {
	card, err := client.ParseCard([]byte(testkit.CardJSON(testkit.Card("https://agent.example"))), "https://agent.example")
	if err != nil {
		t.Fatal(err)
	}
	header := func(name, value string) client.Config { return client.Config{Headers: http.Header{name: {value}}} }
	for name, cfg := range map[string]client.Config{
		"line break":   header("X-Api-Key", "s3cret\r\nX-Evil: 1"),
		"bad name":     header("X Api", "s3cret"),
		"version":      header("a2a-version", "s3cret"),
		"reserved":     header("A2a-Later", "s3cret"),
		"host":         header("Host", "s3cret"),
		"replay":       header("Idempotency-Key", "s3cret"),
		"replay too":   header("x-idempotency-key", "s3cret"),
		"limit":        {Timeout: -1},
		"extension":    {Extensions: []string{"a,b"}},
		"no extension": {Extensions: []string{""}},
	} {
		_, err := client.New(card, cfg)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: New() error = %v, want one without the value", name, err)
		}
	}
}
