package trust

import (
	"errors"
	"strings"

	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
)

// State says what we believe of a remote agent.
type State string

// The states. Only an agent that is trusted is used.
const (
	// Unknown is an agent whose card was never read.
	Unknown State = "unknown"
	// Trusted is one whose card verifies, is young enough, and is what was
	// accepted.
	Trusted State = "trusted"
	// Stale is one whose card was not read for longer than the registration's
	// maximum card age.
	Stale State = "stale"
	// Quarantined is one whose card was read and is not believed, or cannot be
	// used.
	Quarantined State = "quarantined"
	// Inert is one whose registration lacks something, or does not have the
	// credential that the card asks for.
	Inert State = "inert"
	// Disabled is one whose registration does not let work be handed out.
	Disabled State = "disabled"
)

// Code says in a word why an agent is not trusted. Besides those below it is a
// [card.Reason].
type Code string

// The codes.
const (
	// CodeNeverRead is a card that was never read.
	CodeNeverRead Code = "never-read"
	// CodeTooOld is a card that was read too long ago.
	CodeTooOld Code = "too-old"
	// CodeStructure is a card that differs from the accepted one in how the
	// agent is called, whom it belongs to, or what it asks.
	CodeStructure Code = "structure"
	// CodeExtensionMissing is a card that does not announce an extension which
	// the registration requires.
	CodeExtensionMissing Code = "extension-missing"
	// CodeExtensionUnknown is a card that requires an extension which we do not
	// offer (a2a.proto, AgentExtension.required).
	CodeExtensionUnknown Code = "extension-unknown"
	// CodeInterface is a card without an interface that can be called at the
	// registered URL.
	CodeInterface Code = "interface"
	// CodeFaulty is a card with faults that could change whom we trust.
	CodeFaulty Code = "faulty"
	// CodeCredential is a card that is trusted and asks for another credential
	// than the registration has.
	CodeCredential Code = "credential-unmet"
	// CodeNotStored is trust that could not be written down.
	CodeNotStored Code = "not-stored"
	// CodeRegistration is a registration that is disabled, or lacks something.
	CodeRegistration Code = "registration"
	// CodeUnreachable is a card that could not be read, where nobody says more.
	CodeUnreachable Code = "unreachable"
)

// Reason says why an agent is not trusted.
type Reason struct {
	Code Code

	// Words say what was found, on one line; what they quote of a card is
	// bounded. Next says what would mend it, and may be empty.
	Words, Next string
}

// String puts the reason on one line.
func (r Reason) String() string {
	if r.Next == "" {
		return r.Words
	}
	return r.Words + "; " + r.Next
}

// reasonOf puts the refusal of a card in our terms.
func reasonOf(err error) Reason {
	if refused, ok := errors.AsType[*card.UntrustedError](err); ok {
		return Reason{Code: Code(refused.Reason), Words: refused.Problem, Next: refused.Next}
	}
	return Reason{Code: Code(card.ReasonMalformed), Words: "the card cannot be judged", Next: "ask the agent's operator to correct it"}
}

// Errors of a [Book]. Compare with errors.Is.
var (
	// ErrUnknown: there is no such remote agent.
	ErrUnknown = errors.New("no such remote agent")

	// ErrNotTrusted is behind every [NotTrustedError].
	ErrNotTrusted = errors.New("the remote agent is not trusted")

	// ErrNothingToAccept: the card is not one that waits to be accepted.
	ErrNothingToAccept = errors.New("there is no card that waits to be accepted")

	// ErrOtherCard: the card that waits is not the one that was meant.
	ErrOtherCard = errors.New("another card waits to be accepted by now")
)

// NotTrustedError says why a remote agent is not used. It wraps [ErrNotTrusted].
type NotTrustedError struct {
	Name    registry.Name
	State   State
	Reasons []Reason // at least one
}

// Error says so in one line.
func (e *NotTrustedError) Error() string {
	words := make([]string, 0, len(e.Reasons))
	for _, reason := range e.Reasons {
		words = append(words, reason.Words)
	}
	return "remote agent " + string(e.Name) + " is " + string(e.State) + ": " + strings.Join(words, "; ")
}

// Unwrap returns [ErrNotTrusted].
func (e *NotTrustedError) Unwrap() error { return ErrNotTrusted }
