package card

import (
	"errors"
	"strings"
)

// ErrUntrusted is behind every refusal of [Verify].
var ErrUntrusted = errors.New("card: untrusted")

// Reason says which check a card failed.
type Reason string

// The reasons, in the order of the checks.
const (
	// ReasonMalformed is a card, or a signature, that cannot be read.
	ReasonMalformed Reason = "malformed"
	// ReasonNoKeys is a pin without a key that could be used.
	ReasonNoKeys Reason = "no-keys"
	// ReasonUnsigned is a card without signatures.
	ReasonUnsigned Reason = "unsigned"
	// ReasonUnknownKey is a signature by a key that is not pinned.
	ReasonUnknownKey Reason = "unknown-key"
	// ReasonAlgorithm is an algorithm that is not accepted, or not the key's.
	ReasonAlgorithm Reason = "algorithm"
	// ReasonSignature is a signature that does not fit the card.
	ReasonSignature Reason = "signature"
	// ReasonRevokedKey is a signature by a key that was revoked.
	ReasonRevokedKey Reason = "revoked-key"
	// ReasonName is a card with another name than the pin.
	ReasonName Reason = "name"
	// ReasonOrganization is a card of another organization than the pin.
	ReasonOrganization Reason = "organization"
	// ReasonVersion is a card below the minimum version of the pin.
	ReasonVersion Reason = "version"
)

// UntrustedError says why a card is not believed. It wraps [ErrUntrusted].
type UntrustedError struct {
	// Reason is the check that failed. Where several signatures fail, it is the
	// one that came closest.
	Reason Reason

	// KeyID is the key that was named, empty where none was. Somebody else
	// may have written it; it has at most 256 bytes.
	KeyID string

	// Problem says what was found. What it quotes of the card is bounded.
	Problem string

	// Next says what would mend it.
	Next string
}

// Error returns the problem. It is fit for one line.
func (e *UntrustedError) Error() string {
	return strings.Join([]string{ErrUntrusted.Error(), e.Problem}, ": ")
}

// Unwrap returns [ErrUntrusted].
func (e *UntrustedError) Unwrap() error { return ErrUntrusted }
