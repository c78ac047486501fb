package remotes

import (
	"errors"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/trust"
)

// usable says why a card that verifies could not be called. Extensions are judged
// by the book.
func (r *Remotes) usable(c trust.Candidate) []trust.Reason {
	card, err := client.ParseCard(c.Canonical, string(c.Spec.URL))
	if err == nil {
		card.Violations = c.Violations
		_, err = client.New(card, client.Config{Guard: r.idle, Extensions: c.Extensions})
	}
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*client.ExtensionError](err); ok {
		return nil
	}
	reason := trust.Reason{Code: trust.CodeFaulty, Words: oneLine(err.Error()), Next: "ask the agent's operator to correct the card"}
	if unusable, ok := errors.AsType[*client.InterfaceError](err); ok {
		reason.Code = trust.CodeInterface
		reason.Next = "if one of the interfaces named above is the right one, write its origin into spec.url; else ask the agent's operator"
		if unusable.Older || len(unusable.Rejected) == 0 {
			reason.Next = "ask the agent's operator for an interface of version 1.0 over JSON-RPC"
		}
	}
	return []trust.Reason{reason}
}
