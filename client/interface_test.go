package client_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// PVP-17, PVP-24, REQ-RPC-16,
// REQ-CARD-26, REQ-CARD-27, REQ-CARD-28,
// REQ-VER-06, REQ-VER-10, REQ-VER-11, REQ-VER-12, REQ-FWD-05.
func TestChooseInterface(t *testing.T) {
	at := func(url, version string) a2a.AgentInterface {
		return a2a.AgentInterface{URL: url, ProtocolBinding: "JSONRPC", ProtocolVersion: version}
	}
	grpc := a2a.AgentInterface{URL: "https://agent.example/", ProtocolBinding: "GRPC", ProtocolVersion: "1.0"}
	const here = "https://agent.example/typed"
	for _, tt := range []struct {
		name, route string
		interfaces  []a2a.AgentInterface
		want        string // the URL, or text of the error
		older, none bool
	}{
		{"the only one", here, []a2a.AgentInterface{at("https://agent.example/a2a", "1.0")}, "https://agent.example/a2a", false, false},
		{"as it is written", here, []a2a.AgentInterface{at("HTTPS://Agent.Example:443/a2a?x=1", "1.0")}, "HTTPS://Agent.Example:443/a2a?x=1", false, false},
		{"third", here, []a2a.AgentInterface{grpc, at("https://agent.example/0", "0.3"), at("https://agent.example/1", "1.0")}, "https://agent.example/1", false, false},
		{"first of two", here, []a2a.AgentInterface{at("https://agent.example/1", "1.0"), at("https://agent.example/2", "1.0")}, "https://agent.example/1", false, false},
		{"patch", here, []a2a.AgentInterface{at("https://agent.example/1", "1.0.7")}, "https://agent.example/1", false, false},
		{"later version beside", here, []a2a.AgentInterface{at("https://agent.example/11", "1.1"), at("https://agent.example/10", "1.0")}, "https://agent.example/10", false, false},
		{"other host beside", here, []a2a.AgentInterface{at("https://evil.example/", "1.0"), at("https://agent.example/", "1.0")}, "https://agent.example/", false, false},
		{"older only", here, []a2a.AgentInterface{at("https://agent.example/", "0.3"), at("https://agent.example/", "0.2.6")}, "only versions before 1.0", true, true},
		{"older and gRPC", here, []a2a.AgentInterface{grpc, at("https://agent.example/", "0.3")}, "only versions before 1.0", true, true},
		{"later only", here, []a2a.AgentInterface{at("https://agent.example/", "1.1")}, `version "1.1" and not 1.0`, false, true},
		{"gRPC only", here, []a2a.AgentInterface{grpc}, `speaks "GRPC"`, false, true},
		{"no interface", here, nil, "names no interface", false, true},
		{"other host", here, []a2a.AgentInterface{at("https://evil.example/", "1.0")}, "another origin than https://agent.example:443", false, true},
		{"other port", here, []a2a.AgentInterface{at("https://agent.example:8443/", "1.0")}, "another origin", false, true},
		{"downgrade", here, []a2a.AgentInterface{at("http://agent.example/", "1.0")}, "another origin", false, true},
		{"downgrade with port", here, []a2a.AgentInterface{at("http://agent.example:443/", "1.0")}, "another origin", false, true},
		{"below a host", here, []a2a.AgentInterface{at("https://agent.example.evil.example/", "1.0")}, "another origin", false, true},
		{"userinfo", here, []a2a.AgentInterface{at("https://agent.example@evil.example/", "1.0")}, "user name", false, true},
		{"relative", here, []a2a.AgentInterface{at("/a2a", "1.0")}, "not an absolute", false, true},
		{"other scheme", here, []a2a.AgentInterface{at("ftp://agent.example/", "1.0")}, "not an absolute", false, true},
		{"broken", here, []a2a.AgentInterface{at("https://[::1/", "1.0")}, "not an absolute", false, true},
		{"lower case binding", here, []a2a.AgentInterface{{URL: "https://agent.example/", ProtocolBinding: "jsonrpc", ProtocolVersion: "1.0"}}, `speaks "jsonrpc"`, false, true},

		{"this machine by number", "http://localhost:8080", []a2a.AgentInterface{at("http://127.0.0.1:8080/a2a", "1.0")}, "http://localhost:8080/a2a", false, false},
		{"this machine by name", "http://127.0.0.1:8080", []a2a.AgentInterface{at("http://LOCALHOST:8080/a2a?x=1", "1.0")}, "http://127.0.0.1:8080/a2a?x=1", false, false},
		{"this machine in six", "http://[::1]:8080/x", []a2a.AgentInterface{at("http://localhost:8080", "1.0")}, "http://[::1]:8080", false, false},
		{"six spelt out", "http://[::1]:8080/x", []a2a.AgentInterface{at("http://[0:0:0:0:0:0:0:1]:8080/", "1.0")}, "http://[0:0:0:0:0:0:0:1]:8080/", false, false},
		{"standard port", "http://localhost", []a2a.AgentInterface{at("http://127.0.0.1:80/", "1.0")}, "http://localhost/", false, false},
		{"this machine, other port", "http://localhost:8080", []a2a.AgentInterface{at("http://127.0.0.1:8081/", "1.0")}, "another origin", false, true},
		{"this machine, other scheme", "http://localhost:8080", []a2a.AgentInterface{at("https://127.0.0.1:8080/", "1.0")}, "another origin", false, true},
		{"from outside to this machine", here, []a2a.AgentInterface{at("https://127.0.0.1/", "1.0")}, "another origin", false, true},
		{"other loopback address", "http://127.0.0.1:8080", []a2a.AgentInterface{at("http://127.0.0.2:8080/", "1.0")}, "another origin", false, true},
		{"every origin", "", []a2a.AgentInterface{at("https://other.example/", "1.0")}, "https://other.example/", false, false},
	} {
		var route *url.URL
		if tt.route != "" {
			route, _ = url.Parse(tt.route)
		}
		got, err := client.ChooseInterface(a2a.AgentCard{SupportedInterfaces: tt.interfaces}, route)
		if !tt.none {
			if err != nil || got.URL != tt.want {
				t.Errorf("%s: ChooseInterface() = %q, %v, want %q", tt.name, got.URL, err, tt.want)
			}
			continue
		}
		refused := new(client.InterfaceError)
		if !isA[*client.InterfaceError](err) {
			t.Errorf("%s: ChooseInterface() = %q, %v, want an *InterfaceError", tt.name, got.URL, err)
			continue
		}
		refused = err.(*client.InterfaceError)
		if !strings.Contains(err.Error(), tt.want) || refused.Older != tt.older || len(refused.Rejected) != len(tt.interfaces) {
			t.Errorf("%s: error = %q (older %v), want %q", tt.name, err, refused.Older, tt.want)
		}
	}
}

// REQ-VER-11: the card of an older version says so in words.
func TestOlderCards(t *testing.T) {
	for _, raw := range []string{
		`{"name":"Old","url":"https://agent.example/","protocolVersion":"0.3.0","preferredTransport":"JSONRPC","security":[{"a":[]}],"skills":[]}`,
		`{"name":"Old","url":"https://agent.example/"}`,
	} {
		peer := testkit.NewPeer(t, testkit.JSON(raw))
		_, err := client.Dial(t.Context(), peer.URL, client.Config{Policy: peer.Policy()})
		if !isA[*client.InterfaceError](err) || !strings.Contains(err.Error(), "only versions before 1.0") {
			t.Errorf("Dial() error = %v, want one about older versions", err)
		}
	}
	card, err := client.ParseCard([]byte(`{"name":"Odd"}`), "https://agent.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.New(card, client.Config{}); !isA[*client.InterfaceError](err) || strings.Contains(err.Error(), "before") {
		t.Errorf("New() error = %v, want one about no interface", err)
	}
}

// A card made by hand has no route but its URL, and is no way around one.
func TestCardsMadeByHand(t *testing.T) {
	described := testkit.Card("https://agent.example/a2a")
	for url, usable := range map[string]bool{"https://agent.example/card.json": true, "https://other.example": false, "": false} {
		_, err := client.New(&client.Card{AgentCard: described, URL: url}, client.Config{})
		if (err == nil) != usable {
			t.Errorf("New() with a card from %q: error = %v", url, err)
		}
	}
}

func TestManyRejectedInterfaces(t *testing.T) {
	many := make([]a2a.AgentInterface, 100)
	_, err := client.ChooseInterface(a2a.AgentCard{SupportedInterfaces: many}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "and 92 more") {
		t.Errorf("error = %v, want it bounded", err)
	}
}

// REQ-CARD-28: Dial, then a call to the URL of the interface, by the name that
// was typed.
func TestDial(t *testing.T) {
	var port string
	peer := testkit.ListenPeer(t, func(w *testkit.Wire, r *testkit.Request) {
		testkit.Routes(map[string]testkit.Answer{
			"GET " + wellKnown: testkit.JSON(testkit.CardJSON(testkit.Card("http://localhost:" + port + "/rpc?x=1"))),
			a2a.MethodGetTask:  testkit.Result(working),
		})(w, r)
	})
	port = peer.URL[strings.LastIndexByte(peer.URL, ':')+1:]
	c, err := client.Dial(t.Context(), peer.URL, client.Config{Policy: peer.Policy()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, want := c.Interface().URL, "http://127.0.0.1:"+port+"/rpc?x=1"; got != want {
		t.Errorf("Interface().URL = %q, want %q", got, want)
	}
	if c.Card().AgentCard.Name != "Test agent" {
		t.Errorf("Card() = %+v", c.Card())
	}
	if err := operations[a2a.MethodGetTask](t, c); err != nil {
		t.Error(err)
	}
	if got := peer.Requests()[1]; got.Target != "/rpc?x=1" || got.Host != "127.0.0.1:"+port {
		t.Errorf("request to %s at %s", got.Target, got.Host)
	}
}
