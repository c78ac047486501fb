package testkit

import (
	"github.com/legation/legation/a2a"
)

// Card returns a complete card of an agent with one JSON-RPC interface at a
// URL and every capability. It may contain $URL, see [Wire.Write].
func Card(url string) a2a.AgentCard {
	yes := true
	return a2a.AgentCard{
		Name:        "Test agent",
		Description: "Answers what a test says.",
		Version:     "1.2.3",
		SupportedInterfaces: []a2a.AgentInterface{
			{URL: url, ProtocolBinding: a2a.BindingJSONRPC, ProtocolVersion: a2a.ProtocolVersion},
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: &yes, PushNotifications: &yes, ExtendedAgentCard: &yes},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "test", Name: "Test", Description: "Is tested.", Tags: []string{"test"}}},
	}
}

// CardJSON is the JSON text of a card.
func CardJSON(card a2a.AgentCard) string { return string(card.AppendJSON(nil)) }
