package card

import (
	"fmt"
	"strings"

	"github.com/legation/legation/a2a"
)

// Identify believes a card without a signature if it is who is expected. It is
// for agents that do not sign: then nothing but the connection says who wrote
// the card. Keys of the pin are not asked for; a card that shows a signature by
// a revoked one is refused. Of Trusted, KeyID and Algorithm are empty.
//
// A refusal is an *[UntrustedError] and wraps [ErrUntrusted].
func Identify(raw []byte, pin Pin) (Trusted, error) {
	value, violations, err := read(raw)
	if err != nil {
		return Trusted{}, &UntrustedError{
			Reason: ReasonMalformed, Problem: "the card can not be read: " + err.Error(),
			Next: "check the URL of the card, or ask the agent's operator to correct it",
		}
	}
	revoked := pin.revoked()
	for _, signature := range value.Signatures[:min(len(value.Signatures), maxSignatures)] {
		if _, problem := pin.keyFor(signature, revoked); problem != nil && problem.Reason == ReasonRevokedKey {
			return Trusted{}, problem
		}
	}
	known, err := CanonicalKnown(raw)
	if err != nil {
		return Trusted{}, &UntrustedError{
			Reason: ReasonMalformed, Problem: "the card has no canonical form: " + strings.TrimPrefix(err.Error(), "card: "),
			Next: "ask the agent's operator to correct the card",
		}
	}
	trusted := Trusted{Violations: violations, KnownOnly: true, Canonical: known, Digest: Digest(known)}
	trusted.Card, _, err = a2a.Decode[a2a.AgentCard](known)
	if err != nil {
		return Trusted{}, fmt.Errorf("card: read what was canonical: %w", err)
	}
	if refused := checkIdentity(trusted, pin); refused != nil {
		return Trusted{}, refused
	}
	return trusted, nil
}
