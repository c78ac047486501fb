package conformance_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/conformance"
)

// What a served card has, lacks or says otherwise is named, at every depth.
func TestServedCard(t *testing.T) {
	server, err := seen()
	if err != nil {
		t.Fatal(err)
	}
	const member = "card member: served card: claimed "
	tests := []struct {
		name, before, after string
		want                []string
	}{
		{"binding", `"protocolBinding":"JSONRPC"`, `"protocolBinding":"JSON-RPC"`, []string{
			"interface binding: served card: claimed JSONRPC, found JSON-RPC " + toServe,
		}},
		{"version", `"protocolVersion":"1.0"`, `"protocolVersion":"1.0.1"`, []string{
			"interface version: served card: claimed 1.0, found 1.0.1 " + toServe,
		}},
		{"capability", `"streaming":true`, `"streaming":false`, []string{
			"capability streaming: served card: claimed true, found false (a capability is set exactly where SendStreamingMessage is served)",
			"capability streaming: served card: claimed true, found false (a capability is set exactly where SubscribeToTask is served)",
		}},
		{"unknown member", `"skills":[{`, `"skills":[{"price":1,`, []string{
			member + "no member AgentCard.skills[0].price, found one " + toServe,
		}},
		{"missing member", `"protocolVersion":"1.0"`, `"tenant":"t"`, []string{
			member + "AgentCard.supportedInterfaces[0].protocolVersion, found nothing " + toServe,
			"interface version: served card: claimed 1.0, found nothing " + toServe,
		}},
		{"no list", `"tags":["echo"]`, `"tags":{}`, []string{
			member + "AgentCard.skills[0].tags as a list, found an object " + toServe,
		}},
		{"no string", `"tags":["echo"]`, `"tags":[1,null]`, []string{
			member + "AgentCard.skills[0].tags[0] as a string, found a number " + toServe,
			member + "AgentCard.skills[0].tags[1] as a string, found null " + toServe,
		}},
		{"maps", `{"name":`, `{"securitySchemes":{"a":{"mtlsSecurityScheme":{"x":true}},"b":[]},"name":`, []string{
			member + "no member AgentCard.securitySchemes.a.mtlsSecurityScheme.x, found one " + toServe,
			member + "AgentCard.securitySchemes.b as an object, found a list " + toServe,
		}},
		{"no map", `{"name":`, `{"securitySchemes":true,"name":`, []string{
			member + "AgentCard.securitySchemes as an object, found a truth value " + toServe,
		}},
		{"required extension", `{"uri":"urn:legation:skill:v1",`, `{"uri":"urn:legation:skill:v1","required":true,`, []string{
			"extension urn:legation:skill:v1: served card: claimed optional, found required " + toServe,
		}},
		{"other types", `"capabilities":{`, `"capabilities":{"extendedAgentCard":"no",`, []string{
			member + "AgentCard.capabilities.extendedAgentCard as a truth value, found a string " + toServe,
			member + "members of the wire's types, found others " + toServe,
		}},
		{"no card", `{`, `[`, []string{member + "a card, found no JSON " + toServe}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(server.Card(), test.before) {
				t.Fatalf("the card has no %s: %s", test.before, server.Card())
			}
			card := strings.Replace(server.Card(), test.before, test.after, 1)
			if diff := cmp.Diff(test.want, news(t, checkout(t), card)); diff != "" {
				t.Errorf("differences differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A server that does not start, or speaks another version, is one difference.
func TestServerThatDoesNotAnswer(t *testing.T) {
	server, err := seen()
	if err != nil {
		t.Fatal(err)
	}
	before, err := asItIs()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		got  func() (*conformance.Report, error)
		want string
	}{
		{
			"does not start",
			func() (*conformance.Report, error) {
				return conformance.CompareWithout(checkout(t), errors.New("its card: name is required"))
			},
			"server: this program: claimed one that runs, found its card: name is required " + toServe,
		},
		{
			"other version",
			func() (*conformance.Report, error) {
				return conformance.Compare(checkout(t), server.WithVersionRefused())
			},
			"version literal: running server: claimed A2A-Version: 1.0 served, found refused with -32009 " + toServe,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after, err := lines(test.got())
			if err != nil {
				t.Fatal(err)
			}
			after = slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) })
			if diff := cmp.Diff([]string{test.want}, after); diff != "" {
				t.Errorf("differences differ (-want +got):\n%s", diff)
			}
		})
	}
}
