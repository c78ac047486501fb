package server

import (
	"slices"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
)

// checkBudget judges the token budget of a message to an agent whose card
// announces that it keeps to one. Where the card does not, a budget is an
// extension nobody knows. Where the card requires one, it has to be there: the
// header alone, which was checked before, bounds nothing.
func (f *faults) checkBudget(e *endpoint, m *a2a.Message) {
	if !slices.Contains(e.extensions, TokenBudgetExtension) {
		return
	}
	n, err := extension.Tokens(m.Metadata)
	switch {
	case err != nil:
		f.add("message.metadata", "%v", err)
	case n == 0 && slices.Contains(e.required, TokenBudgetExtension):
		f.add("message.metadata", `must have a token budget, as in {"%s":{"maxTokens":10000}}: this agent requires one with every message`, TokenBudgetExtension)
	}
}
