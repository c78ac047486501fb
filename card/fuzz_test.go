package card_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/legation/legation/card"
)

// covered is a card of which a signature covers every byte: it is its own
// canonical form.
const covered = `{"capabilities":{"extensions":[{"params":{"limit":12,"list":[true,null,""],"é":"<&>"},"required":true,` +
	`"uri":"urn:example:v1"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"description":"Answers","iconUrl":"","name":"Billing","newer":{"a":1},"provider":{"organization":"Example","url":"https://example.com"},` +
	`"securityRequirements":[{"schemes":{"key":{}}}],"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},` +
	`"skills":[{"description":"Explains","id":"inv","name":"Invoices","tags":["billing"]}],` +
	`"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agents.example/a2a"}],"version":"2.3.0"}`

// FuzzChangedByte changes one byte of a signed card. No card that says anything
// else than what was signed verifies. REQ-SIGN-12
func FuzzChangedByte(f *testing.F) {
	form, err := card.Canonical([]byte(covered))
	if err != nil || string(form) != covered {
		f.Fatalf("Canonical() = %s, %v, want the card itself", form, err)
	}
	key := newKey(f, card.EdDSA, "k")
	pin := card.Pin{Keys: publics(key)}
	signed := sign(f, covered, key)
	if _, err := card.Verify(signed, pin); err != nil {
		f.Fatal(err)
	}
	last := len(covered) - 1 // the brace, which the signatures go before
	for at := range last {
		f.Add(uint16(at), covered[at]^1)
	}
	f.Fuzz(func(t *testing.T, at uint16, to byte) {
		if int(at) >= last || signed[at] == to {
			return
		}
		changed := slices.Clone(signed)
		changed[at] = to
		got, err := card.Verify(changed, pin)
		if err == nil {
			t.Fatalf("with byte %d changed to %q the card verifies:\n%s", at, to, got.Canonical)
		}
		if !errors.Is(err, card.ErrUntrusted) {
			t.Errorf("Verify() error = %v, want ErrUntrusted", err)
		}
	})
}

// FuzzCards reads anything. What has a canonical form has one, and is linted
// and signed in bounds.
func FuzzCards(f *testing.F) {
	for _, seed := range []string{sample, covered, bare, `{"signatures":[{"protected":"e30","signature":"AA"}],"x":1e999}`} {
		f.Add([]byte(seed))
	}
	key := newKey(f, card.EdDSA, "k")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if found := card.Lint(raw); len(found) > 200 {
			t.Errorf("there are %d findings", len(found))
		}
		form, err := card.Canonical(raw)
		if err != nil {
			return
		}
		again, err := card.Canonical(form)
		if err != nil || string(again) != string(form) {
			t.Fatalf("the canonical form %s has the canonical form %s, %v", form, again, err)
		}
		signed, err := card.Sign(raw, card.Signer{Key: key})
		if err != nil {
			return // its signatures are broken
		}
		got, err := card.Verify(signed, card.Pin{Keys: publics(key)})
		if err != nil || string(got.Canonical) != string(form) {
			t.Fatalf("what was signed does not verify: %v\n%s", err, signed)
		}
		if drift := card.Compare(got.Card, got.Card); !drift.Empty() {
			t.Errorf("a card differs from itself: %v", drift)
		}
	})
}
