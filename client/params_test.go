package client_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// REQ-SEC-12, REQ-EXT-02, REQ-MIG-01, REQ-FWD-09: a request has the members of
// 1.0 that were asked for and no other, under their names of today; credentials
// are not among them, and extensions are not asked for unasked.
func TestNothingElseIsSent(t *testing.T) {
	const message = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	want := map[string]string{
		a2a.MethodSendMessage:                      message,
		a2a.MethodSendStreamingMessage:             message,
		a2a.MethodGetTask:                          `{"id":"t-1"}`,
		a2a.MethodListTasks:                        `{}`,
		a2a.MethodCancelTask:                       `{"id":"t-1"}`,
		a2a.MethodSubscribeToTask:                  `{"id":"t-1"}`,
		a2a.MethodCreateTaskPushNotificationConfig: `{"taskId":"t-1","url":"https://hooks.example/1"}`,
		a2a.MethodGetTaskPushNotificationConfig:    `{"taskId":"t-1","id":"h-1"}`,
		a2a.MethodListTaskPushNotificationConfigs:  `{"taskId":"t-1"}`,
		a2a.MethodDeleteTaskPushNotificationConfig: `{"taskId":"t-1","id":"h-1"}`,
		a2a.MethodGetExtendedAgentCard:             `{}`,
	}
	got := map[string]string{}
	for method, call := range operations {
		peer := testkit.NewPeer(t, testkit.Routes(results))
		c := connect(t, peer, client.Config{Headers: http.Header{"Authorization": {"Bearer s3cret"}}}, secured([]string{"bearer"}))
		if err := call(t, c); err != nil {
			t.Fatalf("%s: error = %v", method, err)
		}
		sent := peer.Requests()[0]
		got[sent.Operation] = sent.Params
		if sent.Header.Get("Authorization") != "Bearer s3cret" || strings.Contains(sent.Target+sent.Params+sent.ID, "s3cret") {
			t.Errorf("%s: the credential is not in its header alone: %+v", method, sent)
		}
		if asked := sent.Header.Values("A2A-Extensions"); len(asked) > 0 {
			t.Errorf("%s asks for the extensions %q", method, asked)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("params (-want +got)\n%s", diff)
	}
}
