package server_test

import (
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

// TestF25 is F25: what the card does not offer, or offers and does not have, is
// told apart, and nobody without a credential is told either. REQ-XCARD-01,
// REQ-XCARD-02, REQ-XCARD-03.
func TestF25(t *testing.T) {
	still := form("Still", "echo")
	still.Capabilities = a2a.AgentCapabilities{Streaming: new(false)}
	promising := form("Promising", "echo")
	promising.Capabilities.ExtendedAgentCard = new(true)
	w := newWorld(t, options{agents: []server.Agent{
		{Card: still},
		{Name: "promising", Card: promising},
		{Name: "full", Card: form("Full", "echo", "gate"), DefaultSkill: "echo", Private: []string{"gate"}},
	}})
	for _, test := range []struct {
		path, method, params string
		want                 a2a.Code
	}{
		{"/", a2a.MethodSendStreamingMessage, say("m-1", "hello"), a2a.CodeUnsupportedOperation},
		{"/", a2a.MethodSubscribeToTask, `{"id":"t"}`, a2a.CodeUnsupportedOperation},
		{"/", a2a.MethodGetExtendedAgentCard, `{}`, a2a.CodeUnsupportedOperation},
		{"/agents/promising", a2a.MethodGetExtendedAgentCard, `{}`, a2a.CodeExtendedAgentCardNotConfigured},
		{"/agents/full", a2a.MethodGetExtendedAgentCard, `{}`, 0},
	} {
		if rec := w.post(test.path, rpc(test.method, test.params)); rec.Code != 200 || codeOf(t, rec.Body.Bytes()) != test.want {
			t.Errorf("%s at %s: %d %s, want code %d", test.method, test.path, rec.Code, rec.Body, test.want)
		}
		stranger := request("POST", test.path, rpc(test.method, test.params))
		stranger.Header.Del("X-Caller")
		if rec := w.do(stranger); rec.Code != 401 || rec.Header().Get("WWW-Authenticate") != `Bearer realm="test"` {
			t.Errorf("%s at %s without a credential: %d %v %s", test.method, test.path, rec.Code, rec.Header(), rec.Body)
		}
	}
	if total := w.total(t, "/", "client-a"); total != "0" {
		t.Errorf("%s tasks came of it", total)
	}
}
