package remotes

import (
	"errors"
	"strings"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/credential"
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
		return unmet(c)
	}
	if _, ok := errors.AsType[*client.ExtensionError](err); ok {
		return unmet(c)
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

// unmet says that the card asks for another credential than the registration has.
func unmet(c trust.Candidate) []trust.Reason {
	refused, ok := errors.AsType[*credential.UnmetError](credential.Satisfies(c.Card, c.Spec.Credential))
	if !ok {
		return nil
	}
	words, next := unmetWords(refused)
	return []trust.Reason{{Code: trust.CodeCredential, Words: words, Next: next}}
}

func unmetWords(unmet *credential.UnmetError) (words, next string) {
	next = unmet.Change
	if next == "" {
		next = "no credential that is known here would do; ask the agent's operator for another way"
	}
	return "the card asks for " + oneLine(strings.Join(unmet.Asked, ", or ")) + "; configured is " + unmet.Configured, next
}
