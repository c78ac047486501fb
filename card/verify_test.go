package card_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

func TestVerify(t *testing.T) {
	for _, alg := range card.Algorithms() {
		t.Run(string(alg), func(t *testing.T) {
			key := newKey(t, alg, "")
			signed := sign(t, sample, key)
			pin := card.Pin{
				Keys: publics(newKey(t, card.EdDSA, "other"), key),
				Name: "Billing", Organization: "Example", MinVersion: "2.3.0",
			}
			got, err := card.Verify(signed, pin) // REQ-SIGN-12
			if err != nil {
				t.Fatal(err)
			}
			form, err := card.Canonical([]byte(sample))
			if err != nil {
				t.Fatal(err)
			}
			want := card.Trusted{
				KeyID: key.Public().Thumbprint(), Algorithm: alg,
				Canonical: form, Digest: card.Digest(form),
			}
			want.Card, _, err = a2a.Decode[a2a.AgentCard](form)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Verify() (-want +got):\n%s", diff)
			}
			if got.Card.Skills[0].Name != "Invoices" || got.Card.Capabilities.Streaming == nil {
				t.Errorf("the card lost something: %+v", got.Card)
			}
		})
	}
}

// One signature that is right suffices, wherever it stands, and the same card
// written otherwise is the same card.
func TestVerifyTellsEqualCards(t *testing.T) {
	key := newKey(t, card.EdDSA, "k")
	signed := string(sign(t, sample, newKey(t, card.EdDSA, "unknown"), newKey(t, card.RS256, "other"), key))
	for name, raw := range map[string]string{
		"other spelling":  strings.NewReplacer(`"Billing"`, `"\u0042illing"`, "1.50", "15e-1", "defaultInputModes", "default_input_modes").Replace(signed),
		"defaults":        strings.Replace(signed, `"version":`, `"securitySchemes":{},"securityRequirements":[],"iconUrl":null,"version":`, 1),
		"no white space":  strings.Replace(signed, "\n  ", "", 1),
		"more signatures": string(sign(t, signed, newKey(t, card.ES256, "more"))),
	} {
		if _, err := card.Verify([]byte(raw), card.Pin{Keys: publics(key)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	key, other := newKey(t, card.ES256, "k"), newKey(t, card.ES256, "k")
	rsa := newKey(t, card.RS256, "k")
	signed := string(sign(t, sample, key))
	pin := card.Pin{Keys: publics(key)}
	alias, err := key.WithID("alias")
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string {
		if !strings.Contains(signed, old) {
			t.Fatalf("the card has no %s", old)
		}
		return strings.Replace(signed, old, with, 1)
	}
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"k"}`))
	many := `{"signatures":[` + strings.TrimSuffix(strings.Repeat(`{"protected":"e30","signature":"AA"},`, 17), ",") + `]}`
	tests := []struct {
		name   string
		raw    string
		pin    card.Pin
		reason card.Reason
		words  string
	}{
		{"no card", "[]", pin, card.ReasonMalformed, "can not be read"},
		{"no canonical form", `{"name":1e999,"signatures":[{"protected":"e30","signature":"AA"}]}`, pin, card.ReasonMalformed, "canonical form"},
		{"no keys", signed, card.Pin{}, card.ReasonNoKeys, "no key is pinned"},
		{"no signature", sample, pin, card.ReasonUnsigned, "not signed"},
		{"an empty list of signatures", `{"signatures":[]}`, pin, card.ReasonUnsigned, "not signed"},
		{"too many signatures", many, pin, card.ReasonMalformed, "more than 16"},
		{"another key with that id", signed, card.Pin{Keys: publics(other)}, card.ReasonSignature, "does not fit"},
		{"another key", signed, card.Pin{Keys: publics(newKey(t, card.ES256, "x"))}, card.ReasonUnknownKey, `"k", which is not pinned`},
		{"the same key under another id", signed, card.Pin{Keys: publics(alias)}, card.ReasonUnknownKey, "not pinned"},
		{"a changed member", replace("2.3.0", "2.3.1"), pin, card.ReasonSignature, "does not fit"},
		{"a new optional member", replace(`"version":`, `"iconUrl":"","version":`), pin, card.ReasonSignature, "does not fit"},
		{"a default of another type", replace(`"protocolVersion"`, `"tenant":false,"protocolVersion"`), pin, card.ReasonSignature, "does not fit"},
		{"a key of another type", signed, card.Pin{Keys: publics(rsa)}, card.ReasonAlgorithm, `names algorithm ES256, and key "k" is for RS256`}, // REQ-SIGN-18
		{"no algorithm", withProtected(sample, none, "AA"), pin, card.ReasonAlgorithm, `"none"`},                                                 // REQ-SIGN-18
		{"no signature bytes", withProtected(sample, none, ""), pin, card.ReasonAlgorithm, `"none"`},
		{"a revoked key", signed, card.Pin{Keys: publics(key, newKey(t, card.EdDSA, "x")), Revoked: []string{"k"}}, card.ReasonRevokedKey, "revoked"}, // REQ-SIGN-13
		{"a revoked key that is not pinned", signed, card.Pin{Keys: publics(newKey(t, card.EdDSA, "x")), Revoked: []string{"k"}}, card.ReasonRevokedKey, "revoked"},
		{"a key whose thumbprint is revoked", signed, card.Pin{Keys: publics(key, newKey(t, card.EdDSA, "x")), Revoked: []string{key.Public().Thumbprint()}}, card.ReasonRevokedKey, "revoked"},
		{"a key that is revoked under another id", signed, card.Pin{Keys: publics(key, alias, newKey(t, card.EdDSA, "x")), Revoked: []string{"alias"}}, card.ReasonRevokedKey, "revoked"},
		{"all keys revoked", signed, card.Pin{Keys: publics(key), Revoked: []string{"k"}}, card.ReasonNoKeys, "not revoked"},
		{"another name", signed, card.Pin{Keys: publics(key), Name: "billing"}, card.ReasonName, `"Billing", and "billing" is expected`},
		{"another organization", signed, card.Pin{Keys: publics(key), Organization: "Other"}, card.ReasonOrganization, `"Example", and "Other"`},
		{"no organization", string(sign(t, `{"name":"n"}`, key)), card.Pin{Keys: publics(key), Organization: "Other"}, card.ReasonOrganization, `"", and "Other"`},
		{"an old version", signed, card.Pin{Keys: publics(key), MinVersion: "2.10.0"}, card.ReasonVersion, `"2.3.0", and at least "2.10.0"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := card.Verify([]byte(tt.raw), tt.pin)
			if !errors.Is(err, card.ErrUntrusted) {
				t.Fatalf("Verify() error = %v, want ErrUntrusted", err)
			}
			refused, ok := errors.AsType[*card.UntrustedError](err)
			if tt.name == "another key with that id" && !strings.HasPrefix(refused.Next, `the key pinned as "k" is not theirs`) {
				t.Errorf("what to do: %s", refused.Next)
			}
			if !ok || refused.Reason != tt.reason || !strings.Contains(err.Error(), tt.words) || refused.Next == "" {
				t.Errorf("Verify() error = %#v, want reason %s and words %q", err, tt.reason, tt.words)
			}
			if diff := cmp.Diff(card.Trusted{}, got); diff != "" {
				t.Errorf("Verify() says something of a card it refuses:\n%s", diff)
			}
		})
	}
}

// withProtected adds a signature that somebody made up.
func withProtected(raw, protected, signature string) string {
	return strings.TrimSuffix(strings.TrimSpace(raw), "}") + `,"signatures":[{"protected":"` + protected + `","signature":"` + signature + `"}]}`
}

// Whoever knows the public key, as everybody may, can make none of these pass.
func TestVerifyWithConfusedAlgorithms(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// A key set with this key, and one that must never be taken for it.
	x := base64.RawURLEncoding.EncodeToString(public)
	keys, err := card.ParseJWKS([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"` + x + `"},{"kty":"oct","kid":"secret","k":"` + x + `"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	form, err := card.Canonical([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	input := func(head string) []byte {
		return []byte(base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + base64.RawURLEncoding.EncodeToString(form))
	}
	byMAC := func(in []byte) []byte {
		mac := hmac.New(sha256.New, public)
		mac.Write(in)
		return mac.Sum(nil)
	}
	bySelf := func(in []byte) []byte {
		signature, err := private.Sign(nil, in, crypto.Hash(0))
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	jwk := `{"kty":"OKP","crv":"Ed25519","x":"` + x + `"}`
	tests := []struct {
		name   string
		head   string
		sign   func([]byte) []byte
		reason card.Reason // empty where it verifies
	}{
		{"as it should be", `{"alg":"EdDSA","kid":"k"}`, bySelf, ""}, // REQ-SIGN-09: typ is not insisted on. REQ-SIGN-11
		{"with members that play no part", `{"alg":"EdDSA","kid":"k","jku":"http://10.0.0.1/","iat":1}`, bySelf, ""},
		{"a MAC with the public key", `{"alg":"HS256","kid":"k"}`, byMAC, card.ReasonAlgorithm}, // REQ-SIGN-18
		{"a MAC with a key of the set", `{"alg":"HS256","kid":"secret"}`, byMAC, card.ReasonAlgorithm},
		{"another algorithm", `{"alg":"ES256","kid":"k"}`, bySelf, card.ReasonAlgorithm},
		{"none in other letters", `{"alg":"nOnE","kid":"k"}`, func([]byte) []byte { return nil }, card.ReasonAlgorithm},
		{"a key in the header", `{"alg":"EdDSA","jwk":` + jwk + `}`, bySelf, card.ReasonMalformed},
		{"a key in the header under an unknown id", `{"alg":"EdDSA","kid":"x","jwk":` + jwk + `}`, bySelf, card.ReasonUnknownKey},
		{"a certificate in the header", `{"alg":"EdDSA","kid":"x","x5c":["AA"]}`, bySelf, card.ReasonUnknownKey},
		{"a key set elsewhere", `{"alg":"EdDSA","kid":"x","jku":"https://example.com/keys"}`, bySelf, card.ReasonUnknownKey}, // REQ-SIGN-19
		{"no id", `{"alg":"EdDSA"}`, bySelf, card.ReasonMalformed},
		{"no algorithm", `{"kid":"k"}`, bySelf, card.ReasonMalformed},
		{"an id twice", `{"alg":"EdDSA","kid":"x","kid":"k"}`, bySelf, card.ReasonMalformed},
		{"a critical extension", `{"alg":"EdDSA","kid":"k","crit":["b64"],"b64":false}`, bySelf, card.ReasonMalformed},
		{"an extension that is not critical", `{"alg":"EdDSA","kid":"k","b64":false}`, bySelf, card.ReasonMalformed},
		{"no object", `null`, bySelf, card.ReasonMalformed},
		{"nothing", ``, bySelf, card.ReasonMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := input(tt.head)
			protected, _, _ := bytes.Cut(in, []byte("."))
			raw := withProtected(sample, string(protected), base64.RawURLEncoding.EncodeToString(tt.sign(in)))
			_, err := card.Verify([]byte(raw), card.Pin{Keys: keys})
			if tt.reason == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if refused, ok := errors.AsType[*card.UntrustedError](err); !ok || refused.Reason != tt.reason {
				t.Errorf("Verify() error = %v, want reason %s", err, tt.reason)
			}
		})
	}
	unprotected := `,"signatures":[{"protected":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA"}`)) + `","signature":"AA","header":{"kid":"k"}}]}`
	_, err = card.Verify([]byte(strings.TrimSuffix(strings.TrimSpace(sample), "}")+unprotected), card.Pin{Keys: keys})
	if refused, ok := errors.AsType[*card.UntrustedError](err); !ok || refused.Reason != card.ReasonMalformed {
		t.Errorf("with the id in the unprotected header Verify() error = %v", err)
	}
}

// The signature that came closest says why, and each is read strictly.
func TestVerifySaysWhatCameClosest(t *testing.T) {
	key, unknown := newKey(t, card.EdDSA, "k"), newKey(t, card.EdDSA, "u")
	signed := strings.Replace(string(sign(t, sample, key, unknown)), "2.3.0", "2.3.1", 1)
	_, err := card.Verify([]byte(signed), card.Pin{Keys: publics(key)})
	if refused, ok := errors.AsType[*card.UntrustedError](err); !ok || refused.Reason != card.ReasonSignature || refused.KeyID != "k" {
		t.Errorf("Verify() error = %#v", err)
	}
	list := signaturesOf(t, sign(t, sample, key))
	for _, loose := range []string{list[0].Signature + "=", list[0].Signature + "\n", list[0].Signature[:40]} {
		text, _ := a2a.NewValue(loose)
		raw := strings.Replace(string(sign(t, sample, key)), `"`+list[0].Signature+`"`, text.String(), 1)
		if _, err := card.Verify([]byte(raw), card.Pin{Keys: publics(key)}); err == nil {
			t.Errorf("the signature %q verifies", loose)
		}
	}
}

func TestVerifyUnknownMembers(t *testing.T) {
	key := newKey(t, card.ES256, "k")
	pin := card.Pin{Keys: publics(key)}
	newer := strings.Replace(sample, `"version"`, `"newer":{"a":""},"version"`, 1)

	// A signer of a later revision covers them. REQ-SIGN-20
	got, err := card.Verify(sign(t, newer, key), pin)
	if err != nil || got.KnownOnly || !strings.Contains(string(got.Canonical), `"newer"`) {
		t.Errorf("Verify() = %+v, %v", got, err)
	}
	// A signer that knows none of them does not.
	list := signaturesOf(t, sign(t, sample, key))
	raw := withProtected(newer, list[0].Protected, list[0].Signature)
	got, err = card.Verify([]byte(raw), pin)
	if err != nil || !got.KnownOnly || strings.Contains(string(got.Canonical), "newer") {
		t.Errorf("Verify() = %+v, %v", got, err)
	}
	// What is not covered is not believed, but its faults are told: here that a
	// requirement would be lost.
	old := strings.Replace(sample, `"version"`, `"security":[{"key":[]}],"version"`, 1)
	got, err = card.Verify([]byte(withProtected(old, list[0].Protected, list[0].Signature)), pin)
	if _, found := got.Violations.Find(a2a.Shape); err != nil || !found {
		t.Errorf("Verify() = %+v, %v; want a violation", got.Violations, err)
	}
}

func TestMinimumVersion(t *testing.T) {
	tests := []struct {
		version, minimum string
		older            bool
	}{
		{"1.0.0", "1.0.0", false},
		{"1.0.0", "1.0.1", true},
		{"1.9.0", "1.10.0", true},
		{"2.0.0", "1.10.0", false},
		{"1.0.0-alpha", "1.0.0", true},
		{"1.0.0", "1.0.0-alpha", false},
		{"1.0.0-alpha.2", "1.0.0-alpha.10", true},
		{"1.0.0-alpha.2", "1.0.0-alpha.b", true},
		{"1.0.0-b", "1.0.0-2", false},
		{"1.0.0-alpha", "1.0.0-alpha.1", true},
		{"1.0.0-beta", "1.0.0-alpha", false},
		{"1.0.0+1", "1.0.0+2", false},
		{"99999999999999999999.0.0", "100000000000000000000.0.0", true},
		// Not compared where one is no semantic version.
		{"1.0", "2.0.0", false},
		{"1.0.0", "2", false},
		{"01.0.0", "2.0.0", false},
		{"1.0.x", "2.0.0", false},
		{"1.0.0-", "2.0.0", false},
		{"1.0.0-01", "2.0.0", false},
		{"1.0.0+", "2.0.0", false},
		{"1.0.0-ä", "2.0.0", false},
		{"1.0.0-" + strings.Repeat("a", 300), "2.0.0", false},
		{"", "2.0.0", false},
	}
	key := newKey(t, card.EdDSA, "k")
	for _, tt := range tests {
		signed := sign(t, `{"version":"`+tt.version+`"}`, key)
		_, err := card.Verify(signed, card.Pin{Keys: publics(key), MinVersion: tt.minimum})
		if got := err != nil; got != tt.older {
			t.Errorf("version %q below %q: %v, want %v (%v)", tt.version, tt.minimum, got, tt.older, err)
		}
	}
}
