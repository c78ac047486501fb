package server_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/server"
)

// thrifty are two agents that keep to a budget; the second requires one.
func thrifty() []server.Agent {
	strict := form("Thrifty", "budget")
	strict.Capabilities.Extensions = []a2a.AgentExtension{{URI: server.TokenBudgetExtension, Required: true}}
	return []server.Agent{
		{Name: "thrifty", Card: form("Thrifty", "budget"), TokenBudget: true},
		{Name: "thriftier", Card: strict},
	}
}

// budget tells how much it may use, and asks on until it is told "done".
func budget(_ context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
	text := fmt.Sprintf("turn %d may use %d tokens", turn.Number, turn.MaxTokens)
	if turn.Message.Text() == "done" {
		return agent.Rejected(text), nil
	}
	return agent.AskInput(text), nil
}

// A card announces a budget where it is kept, and only there; what an agent
// says of it itself stays.
func TestWhoAnnouncesABudget(t *testing.T) {
	w := newWorld(t, options{})
	for name, want := range map[string]string{"ask": "", "thrifty": "optional", "thriftier": "required"} {
		body := w.do(httptest.NewRequest("GET", "/agents/"+name+"/.well-known/agent-card.json", nil)).Body.Bytes()
		card, _, err := a2a.Decode[a2a.AgentCard](body)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range card.Capabilities.Extensions {
			if e.URI == server.TokenBudgetExtension {
				got += map[bool]string{false: "optional", true: "required"}[e.Required]
			}
		}
		if got != want {
			t.Errorf("the card of %s announces %q, want %q", name, got, want)
		}
	}
}
