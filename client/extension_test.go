package client_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// announcing puts extensions on a card.
func announcing(extensions ...a2a.AgentExtension) func(*a2a.AgentCard) {
	return func(card *a2a.AgentCard) {
		card.Capabilities.Streaming = new(true)
		card.Capabilities.Extensions = extensions
	}
}

func cardWith(t *testing.T, extensions ...a2a.AgentExtension) *client.Card {
	t.Helper()
	described := testkit.Card("https://agent.example/a2a")
	announcing(extensions...)(&described)
	card, err := client.ParseCard([]byte(testkit.CardJSON(described)), "https://agent.example")
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// What we require of an agent it has to announce, whatever it requires of us.
func TestExtensionsRequiredOfAnAgent(t *testing.T) {
	card := cardWith(t, a2a.AgentExtension{URI: "urn:a:v1"}, a2a.AgentExtension{URI: "urn:b:v1", Required: true})
	for _, tt := range []struct {
		cfg  client.Config
		want *client.ExtensionError
	}{
		{client.Config{RequiredExtensions: []string{"urn:a:v1", "urn:b:v1"}}, nil},
		{client.Config{RequiredExtensions: []string{"urn:a:v1"}, Extensions: []string{"urn:b:v1"}}, nil},
		{
			client.Config{RequiredExtensions: []string{"urn:a:v2", "URN:a:v1"}, Extensions: []string{"urn:b:v1"}},
			&client.ExtensionError{Unannounced: []string{"urn:a:v2", "URN:a:v1"}},
		},
		{
			client.Config{RequiredExtensions: []string{"urn:c:v1"}},
			&client.ExtensionError{URIs: []string{"urn:b:v1"}, Unannounced: []string{"urn:c:v1"}},
		},
	} {
		_, err := client.New(card, tt.cfg)
		got, _ := errors.AsType[*client.ExtensionError](err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("New() with %q and %q (-want +got)\n%s", tt.cfg.Extensions, tt.cfg.RequiredExtensions, diff)
		}
		if err == nil {
			continue
		}
		for _, uri := range append(got.URIs, got.Unannounced...) {
			if !strings.Contains(err.Error(), `"`+uri+`"`) {
				t.Errorf("%v does not name %s", err, uri)
			}
		}
	}
}

// REQ-EXT-03: a budget travels in the metadata, the message and the header, of
// the request that needs it alone, and only to an agent that keeps to it.
func TestTokenBudget(t *testing.T) {
	budget := a2a.AgentExtension{URI: client.TokenBudgetExtension}
	peer := testkit.NewPeer(t, testkit.Routes(results))
	c := connect(t, peer, client.Config{Extensions: []string{"urn:a:v1"}}, announcing(budget))
	for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
		req := request("hi")
		req.Message.Metadata = a2a.Struct(`{"x":1}`)
		req.Message.Extensions = []string{"urn:a:v1"}
		before := req.Message
		limited, err := c.Card().LimitTokens(&req.Message, 1<<53-1)
		if err != nil || !limited {
			t.Fatalf("LimitTokens() = %v, %v", limited, err)
		}
		if before.Metadata.String() != `{"x":1}` || len(before.Extensions) != 1 {
			t.Errorf("a copy made before has changed: %s %q", before.Metadata, before.Extensions)
		}
		if _, err := c.Card().LimitTokens(&req.Message, 500); err != nil { // the last one counts
			t.Fatal(err)
		}
		if method == a2a.MethodSendMessage {
			_, err = c.SendMessage(t.Context(), req)
		} else {
			var s *client.Stream
			if s, err = c.SendStreamingMessage(t.Context(), req); err == nil {
				s.Close()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		sent := peer.Requests()[len(peer.Requests())-1]
		want := `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hi"}],` +
			`"metadata":{"x":1,"` + client.TokenBudgetExtension + `":{"maxTokens":500}},` +
			`"extensions":["urn:a:v1","` + client.TokenBudgetExtension + `"]}}`
		if diff := cmp.Diff(want, sent.Params); diff != "" {
			t.Errorf("%s (-want +got)\n%s", method, diff)
		}
		if got, want := sent.Header.Get("A2A-Extensions"), "urn:a:v1, "+client.TokenBudgetExtension; got != want {
			t.Errorf("%s asks for %q, want %q", method, got, want)
		}
	}
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"}); err != nil {
		t.Fatal(err)
	}
	if got := peer.Requests()[len(peer.Requests())-1].Header.Get("A2A-Extensions"); got != "urn:a:v1" {
		t.Errorf("GetTask asks for %q", got)
	}
}

func TestBudgetsThatAreNotSent(t *testing.T) {
	req := request("hi")
	limited, err := cardWith(t).LimitTokens(&req.Message, 500)
	if limited || err != nil || req.Message.Metadata != nil || req.Message.Extensions != nil {
		t.Errorf("LimitTokens() for an agent without budgets = %v, %v, and %s", limited, err, req.Message.Metadata)
	}
	for _, n := range []int64{0, -1, 1 << 53} {
		if limited, err := cardWith(t, a2a.AgentExtension{URI: client.TokenBudgetExtension}).LimitTokens(&req.Message, n); err == nil || limited {
			t.Errorf("LimitTokens(%d) = %v, %v", n, limited, err)
		}
	}

	peer := testkit.NewPeer(t, testkit.Routes(results))
	strict := a2a.AgentExtension{URI: client.TokenBudgetExtension, Required: true}
	c := connect(t, peer, client.Config{Extensions: []string{client.TokenBudgetExtension}}, announcing(strict))
	bad := request("hi")
	bad.Message.Metadata = a2a.Struct(`{"` + client.TokenBudgetExtension + `":{"maxTokens":"500"}}`)
	odd := request("hi")
	odd.Message.Extensions = []string{"urn:a:v1\r\nX-Evil: 1"}
	for name, req := range map[string]*a2a.SendMessageRequest{"missing": request("hi"), "malformed": bad, "no URI": odd} {
		_, err := c.SendMessage(t.Context(), req)
		if _, ok := errors.AsType[*client.RequestError](err); !ok {
			t.Errorf("%s: error = %v, want a *client.RequestError", name, err)
		}
	}
	if got := peer.Operations(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}

func TestDeduplicates(t *testing.T) {
	for params, want := range map[string]time.Duration{
		`{"window":"720h"}`: 720 * time.Hour, `{"window":"90s","more":1}`: 90 * time.Second,
		`{"window":"0s"}`: 0, `{"window":"-1h"}`: 0, `{"window":"for ever"}`: 0, `{"window":7}`: 0, `{}`: 0, ``: 0,
	} {
		e := a2a.AgentExtension{URI: client.RetryExtension}
		if params != "" {
			e.Params = a2a.Struct(params)
		}
		if got, ok := cardWith(t, e).Deduplicates(); got != want || ok != (want > 0) {
			t.Errorf("%s: Deduplicates() = %v, %v, want %v", params, got, ok, want)
		}
	}
	if _, ok := cardWith(t, a2a.AgentExtension{URI: client.RetryExtension + "1", Params: a2a.Struct(`{"window":"1h"}`)}).Deduplicates(); ok {
		t.Error("another extension counts")
	}
}
