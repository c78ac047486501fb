package trust

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

// Candidate is a card that verifies and may be used, but for what only the client
// role can tell.
type Candidate struct {
	Registration

	// Canonical is what was verified, and Card what it says. Violations are the
	// faults of the card as it was received.
	Canonical  []byte
	Card       a2a.AgentCard
	Violations a2a.Violations

	// Extensions are what we offer.
	Extensions []string
}

// verdict is what a card is worth under a registration, its age left aside.
type verdict struct {
	state   State    // unknown, trusted or quarantined
	reasons []Reason // why it is not trusted

	// verified is the card, and nil if it does not verify. drift is how it
	// differs from the one that was accepted.
	verified *card.Trusted
	drift    card.Drift

	// extensions are those of ours that the card announces.
	extensions []string

	// unmet is why a card that is trusted can not be used with the credential of
	// the registration.
	unmet []Reason

	thumbprint string // of the key that verified
	claimed    string // the key that a card which does not verify names
}

// judge is the rules. It looks at nothing but what it is given, so that a change
// of the registration is judged like a change of the card. A card that makes it
// panic is not believed.
func (c *Config) judge(reg Registration, kept RemoteCard) (v verdict) {
	defer func() {
		if r := recover(); r != nil {
			c.Logger.Error("a panic while a card was judged", "remoteAgent", reg.Name, "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			v = verdict{state: Quarantined, reasons: []Reason{reasonOf(nil)}}
		}
	}()
	if kept.FetchedAt.IsZero() || kept.Asked != reg.Location() {
		// What was read elsewhere may be another agent's, though the key is the same.
		return verdict{state: Unknown, reasons: []Reason{{
			Code: CodeNeverRead, Words: "its card was not read yet", Next: "see whether it can be: legation agent check " + string(reg.Name),
		}}}
	}
	if kept.Fault != "" {
		return verdict{state: Quarantined, reasons: []Reason{{
			Code: Code(card.ReasonMalformed), Words: kept.Fault, Next: "check the URL of the card, or ask the agent's operator to correct it",
		}}}
	}
	verified, err := reg.verify(kept.Raw)
	if err != nil {
		return verdict{state: Quarantined, reasons: []Reason{reasonOf(err)}, claimed: claimedKey(err)}
	}
	v = verdict{state: Quarantined, verified: &verified, thumbprint: reg.thumbprint(verified.KeyID)}
	if before, ok := baseline(reg, kept); ok {
		v.drift = card.Compare(before, verified.Card)
	}
	if len(v.drift.Structure) > 0 {
		v.reasons = append(v.reasons, Reason{
			Code: CodeStructure, Words: "its card is no longer what was accepted: " + changes(v.drift.Structure),
			Next: "see the changes with legation agent show " + string(reg.Name) + ", and if they are right: legation agent accept " + string(reg.Name) + " --digest " + verified.Digest,
		})
	}
	offered := reg.offered(c.Understood)
	v.extensions = announced(offered, verified.Card)
	v.reasons = append(v.reasons, extensionReasons(reg, offered, verified.Card)...)
	if c.Usable != nil {
		for _, reason := range c.Usable(Candidate{
			Registration: reg, Canonical: verified.Canonical, Card: verified.Card, Violations: verified.Violations, Extensions: offered,
		}) {
			if reason.Code == CodeCredential {
				v.unmet = append(v.unmet, reason)
			} else {
				v.reasons = append(v.reasons, reason)
			}
		}
	}
	if len(v.reasons) == 0 {
		v.state = Trusted
	}
	return v
}

// baseline is the card that was accepted, if that was under this route.
func baseline(reg Registration, kept RemoteCard) (a2a.AgentCard, bool) {
	if len(kept.Accepted) == 0 || kept.Route != string(reg.Spec.URL) {
		return a2a.AgentCard{}, false
	}
	accepted, _, err := a2a.Decode[a2a.AgentCard](kept.Accepted)
	if err != nil {
		// Whatever it was, this is another one: a person has to look.
		return a2a.AgentCard{}, true
	}
	return accepted, true
}

func extensionReasons(reg Registration, offered []string, of a2a.AgentCard) []Reason {
	var reasons []Reason
	for _, uri := range reg.Spec.Extensions.Required {
		if !slices.ContainsFunc(of.Capabilities.Extensions, func(e a2a.AgentExtension) bool { return e.URI == string(uri) }) {
			reasons = append(reasons, Reason{
				Code: CodeExtensionMissing, Words: "its card does not announce the extension " + quote(string(uri)) + ", which the registration requires",
				Next: "ask the agent's operator for it, or take it from spec.extensions.required",
			})
		}
	}
	for _, extension := range of.Capabilities.Extensions {
		if extension.Required && !slices.Contains(offered, extension.URI) {
			reasons = append(reasons, Reason{
				Code: CodeExtensionUnknown, Words: "its card requires the extension " + quote(extension.URI) + ", which is not offered",
				Next: "if you know what it means, add it to spec.extensions.offered; else ask the agent's operator for an agent that does not require it",
			})
		}
	}
	const listed = 4 // a card may require many
	return reasons[:min(len(reasons), listed)]
}

// announced are the extensions of ours that a card announces.
func announced(offered []string, of a2a.AgentCard) []string {
	var both []string
	for _, uri := range offered {
		if slices.ContainsFunc(of.Capabilities.Extensions, func(e a2a.AgentExtension) bool { return e.URI == uri }) {
			both = append(both, uri)
		}
	}
	return both
}

// changes names the members that changed.
func changes(structure []card.Change) string {
	const listed = 5
	var paths []string
	for _, change := range structure[:min(len(structure), listed)] {
		paths = append(paths, bounded(change.Path))
	}
	if len(structure) > listed {
		paths = append(paths, "and others")
	}
	return strings.Join(paths, ", ")
}
