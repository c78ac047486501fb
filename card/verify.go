package card

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/legation/legation/a2a"
)

// Pin is who is expected behind a card. Nothing in a card adds to it: neither
// jku nor x5c nor jwk of a signature is a source of trust.
type Pin struct {
	// Keys are the keys that may sign; any one of them suffices. Without a key
	// nothing verifies.
	Keys []PublicKey

	// Revoked are ids, or thumbprints, of keys that are no longer believed,
	// pinned or not. The same key under another id is not believed either.
	Revoked []string

	// Name is what AgentCard.name must be. Empty is not compared.
	Name string

	// Organization is what AgentCard.provider.organization must be. Empty is
	// not compared.
	Organization string

	// MinVersion is the lowest AgentCard.version. It is compared where both are
	// semantic versions; empty is not compared.
	MinVersion string
}

// Trusted is a card that verified.
type Trusted struct {
	// Card is what the signature covers, and nothing else. Its Signatures are
	// empty.
	Card a2a.AgentCard

	// Violations are the faults of the card as it was received, as a2a.Decode
	// finds them. Whether the card is usable in spite of them is for the caller.
	Violations a2a.Violations

	// KeyID names the pinned key that verified, and Algorithm is the key's.
	KeyID     string
	Algorithm Algorithm

	// KnownOnly is set where the signature does not cover members that the
	// specification does not know. They are not in Card in any case.
	KnownOnly bool

	// Canonical is what the signature covers, see [Canonical] and
	// [CanonicalKnown], and Digest is its [Digest].
	Canonical []byte
	Digest    string
}

// Verify believes a card if a pinned key signed it, and it is who is expected
// (specification 1.0.1, section 8.4.3). Each signature is checked against the
// card with the members that the specification does not know, then against the
// card without them.
//
// A refusal is an *[UntrustedError] and wraps [ErrUntrusted].
func Verify(raw []byte, pin Pin) (Trusted, error) {
	value, violations, err := read(raw)
	if err != nil {
		return Trusted{}, &UntrustedError{
			Reason: ReasonMalformed, Problem: "the card can not be read: " + err.Error(),
			Next: "check the URL of the card, or ask the agent's operator to correct it",
		}
	}
	trusted, refused := verifySignatures(raw, value.Signatures, pin)
	if refused == nil {
		trusted.Card, _, err = a2a.Decode[a2a.AgentCard](trusted.Canonical)
		if err != nil {
			return Trusted{}, fmt.Errorf("card: read what was verified: %w", err)
		}
		trusted.Violations = violations
		refused = checkIdentity(trusted, pin)
	}
	if refused != nil {
		return Trusted{}, refused
	}
	return trusted, nil
}

func verifySignatures(raw []byte, signatures []a2a.AgentCardSignature, pin Pin) (Trusted, *UntrustedError) {
	revoked := pin.revoked()
	usable := slices.ContainsFunc(pin.Keys, func(k PublicKey) bool { return k.key != nil && !revoked[k.Thumbprint()] })
	switch {
	case !usable:
		return Trusted{}, &UntrustedError{
			Reason: ReasonNoKeys, Problem: "no key is pinned that is not revoked",
			Next: "pin a key of the agent, got from its operator by another way than the card",
		}
	case len(signatures) == 0:
		return Trusted{}, &UntrustedError{
			Reason: ReasonUnsigned, Problem: "the card is not signed",
			Next: "ask the agent's operator to sign it with a pinned key",
		}
	case len(signatures) > maxSignatures:
		return Trusted{}, &UntrustedError{
			Reason: ReasonMalformed, Problem: fmt.Sprintf("the card has more than %d signatures", maxSignatures),
			Next: "ask the agent's operator to remove signatures that nobody needs",
		}
	}
	forms, refused := signedForms(raw)
	if refused != nil {
		return Trusted{}, refused
	}
	for _, signature := range signatures {
		key, problem := pin.keyFor(signature, revoked)
		if problem != nil {
			refused = closer(refused, problem)
			continue
		}
		for _, form := range forms {
			if key.verifies(signature, form.text) {
				return Trusted{
					KeyID: key.id, Algorithm: key.alg, KnownOnly: form.knownOnly,
					Canonical: form.text, Digest: Digest(form.text),
				}, nil
			}
		}
		refused = closer(refused, &UntrustedError{
			Reason: ReasonSignature, KeyID: key.id,
			Problem: fmt.Sprintf("the signature by key %q does not fit the card", bounded(key.id)),
			Next: fmt.Sprintf("the key pinned as %q is not theirs (compare it with what their operator publishes, of legation: legation card jwks), or ", bounded(key.id)) +
				"the card was changed after it was signed, or signed in a form that is not RFC 8785; ask the agent's operator to sign it anew",
		})
	}
	return Trusted{}, refused
}

// form is one reading of what a signature covers.
type form struct {
	text      []byte
	knownOnly bool
}

// signedForms are the two passes. The second is safe because members that are
// not known are not read either.
func signedForms(raw []byte) ([]form, *UntrustedError) {
	known, err := CanonicalKnown(raw)
	if err != nil {
		return nil, &UntrustedError{
			Reason: ReasonMalformed, Problem: "the card has no canonical form: " + strings.TrimPrefix(err.Error(), "card: "),
			Next: "ask the agent's operator to correct the card",
		}
	}
	second := form{known, true}
	whole, err := Canonical(raw)
	switch {
	case err != nil:
		return []form{second}, nil //nolint:nilerr // By a number in what is not known.
	case bytes.Equal(whole, known):
		return []form{{whole, false}}, nil
	}
	return []form{{whole, false}, second}, nil
}

// revoked are the thumbprints that are not believed, and the names they go by.
func (p Pin) revoked() map[string]bool {
	revoked := map[string]bool{}
	for _, id := range p.Revoked {
		revoked[id] = true
	}
	for _, key := range p.Keys {
		if revoked[key.id] {
			revoked[key.Thumbprint()] = true
		}
	}
	return revoked
}

// keyFor finds the pinned key that a signature names.
func (p Pin) keyFor(signature a2a.AgentCardSignature, revoked map[string]bool) (PublicKey, *UntrustedError) {
	head, err := readHeader(signature)
	if err != nil {
		return PublicKey{}, &UntrustedError{
			Reason: ReasonMalformed, Problem: "a signature can not be read: its protected header " + err.Error(),
			Next: "ask the agent's operator to sign the card anew",
		}
	}
	id := bounded(head.KeyID)
	refuse := func(reason Reason, next, format string, args ...any) (PublicKey, *UntrustedError) {
		return PublicKey{}, &UntrustedError{Reason: reason, KeyID: id, Problem: fmt.Sprintf(format, args...), Next: next}
	}
	at := slices.IndexFunc(p.Keys, func(k PublicKey) bool { return k.id == head.KeyID })
	switch {
	case revoked[head.KeyID], at >= 0 && revoked[p.Keys[at].Thumbprint()]:
		return refuse(ReasonRevokedKey, "ask the agent's operator to sign it with a key that is not revoked, and pin that",
			"the card is signed by key %q, which is revoked", id)
	case !slices.Contains(Algorithms(), Algorithm(head.Algorithm)):
		return refuse(ReasonAlgorithm, "ask the agent's operator to sign it with "+algorithmList(),
			"the signature by key %q uses the algorithm %q, and only %s are accepted", id, bounded(head.Algorithm), algorithmList())
	case at < 0:
		return refuse(ReasonUnknownKey, "if the operator has a new key, get it by another way than the card and pin it",
			"the card is signed by key %q, which is not pinned", id)
	case p.Keys[at].alg != Algorithm(head.Algorithm):
		return refuse(ReasonAlgorithm, "ask the agent's operator to sign it with the algorithm of the key",
			"the signature names algorithm %s, and key %q is for %s", head.Algorithm, id, p.Keys[at].alg)
	}
	return p.Keys[at], nil
}

// verifies reports whether a signature is this key's over a payload.
func (k PublicKey) verifies(signature a2a.AgentCardSignature, payload []byte) bool {
	if _, ok := decodeBase64(signature.Signature); !ok {
		return false
	}
	signed, err := jose.ParseDetached(signature.Protected+".."+signature.Signature, payload, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(k.alg)})
	return err == nil && signed.DetachedVerify(payload, k.key) == nil
}

// closeness orders the reasons a signature is refused for: the card that is
// nearest to verifying tells most about what is wrong.
var closeness = map[Reason]int{
	ReasonMalformed: 1, ReasonUnknownKey: 2, ReasonAlgorithm: 3, ReasonSignature: 4, ReasonRevokedKey: 5,
}

func closer(a, b *UntrustedError) *UntrustedError {
	if a == nil || cmp.Less(closeness[a.Reason], closeness[b.Reason]) {
		return b
	}
	return a
}

func checkIdentity(trusted Trusted, pin Pin) *UntrustedError {
	card := trusted.Card
	refuse := func(reason Reason, next, format string, args ...any) *UntrustedError {
		return &UntrustedError{Reason: reason, KeyID: trusted.KeyID, Problem: fmt.Sprintf(format, args...), Next: next}
	}
	organization := ""
	if card.Provider != nil {
		organization = card.Provider.Organization
	}
	const other = "if that is who is meant, change the pin; else check the URL"
	switch {
	case pin.Name != "" && card.Name != pin.Name:
		return refuse(ReasonName, other,
			"the card is of %q, and %q is expected", bounded(card.Name), bounded(pin.Name))
	case pin.Organization != "" && organization != pin.Organization:
		return refuse(ReasonOrganization, other,
			"the card is of the organization %q, and %q is expected", bounded(organization), bounded(pin.Organization))
	case pin.MinVersion != "" && olderVersion(card.Version, pin.MinVersion):
		return refuse(ReasonVersion, "an old card may have been played back; if the older version is wanted, lower the minimum version",
			"the card has version %q, and at least %q is expected", bounded(card.Version), bounded(pin.MinVersion))
	}
	return nil
}
