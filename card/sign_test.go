package card_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

// sample is a card as its author wrote it, without signatures.
const sample = `{
  "version": "2.3.0", "name": "Billing",
  "description": "Answers <billing> questions & more",
  "supportedInterfaces": [{"url":"https://agents.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
  "provider": {"organization":"Example","url":"https://example.com"},
  "capabilities": {"streaming":true,"extensions":[{"uri":"urn:example:v1","params":{"limit":1.50,"on":false}}]},
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
  "skills": [{"id":"inv","name":"Invoices","description":"Explains invoices","tags":["billing"]}]
}
`

// rsaKey takes long to make.
var rsaKey = sync.OnceValues(func() (*card.PrivateKey, error) { return card.GenerateKey(card.RS256) })

// newKey makes a key; those for RS256 are the same but for their ids.
func newKey(t testing.TB, alg card.Algorithm, id string) *card.PrivateKey {
	t.Helper()
	generate := rsaKey
	if alg != card.RS256 {
		generate = func() (*card.PrivateKey, error) { return card.GenerateKey(alg) }
	}
	key, err := generate()
	if err == nil {
		key, err = key.WithID(id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, raw string, keys ...*card.PrivateKey) []byte {
	t.Helper()
	var signers []card.Signer
	for _, key := range keys {
		signers = append(signers, card.Signer{Key: key})
	}
	signed, err := card.Sign([]byte(raw), signers...)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func publics(keys ...*card.PrivateKey) []card.PublicKey {
	var list []card.PublicKey
	for _, key := range keys {
		list = append(list, key.Public())
	}
	return list
}

func signaturesOf(t testing.TB, raw []byte) []a2a.AgentCardSignature {
	t.Helper()
	value, _, err := a2a.Decode[a2a.AgentCard](raw)
	if err != nil {
		t.Fatal(err)
	}
	return value.Signatures
}

func headerOf(t testing.TB, signature a2a.AgentCardSignature) map[string]any {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(signature.Protected)
	if err != nil {
		t.Fatal(err)
	}
	var head map[string]any
	if err := json.Unmarshal(text, &head); err != nil {
		t.Fatal(err)
	}
	return head
}

// The protected header has typ, which others may leave out (PVP-43).
func TestSignatureHeader(t *testing.T) {
	for _, alg := range card.Algorithms() {
		t.Run(string(alg), func(t *testing.T) {
			key := newKey(t, alg, "k1")
			signed, err := card.Sign([]byte(sample), card.Signer{Key: key, JWKSURL: "https://example.com/keys"}) // REQ-SIGN-01
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{"alg": string(alg), "kid": "k1", "typ": "JOSE", "jku": "https://example.com/keys"}
			// REQ-SIGN-08 REQ-SIGN-09 REQ-SIGN-10
			if diff := cmp.Diff(want, headerOf(t, signaturesOf(t, signed)[0])); diff != "" {
				t.Errorf("protected header (-want +got):\n%s", diff)
			}
			// Nobody has to ask the jku. REQ-SIGN-16
			if _, err := card.Verify(signed, card.Pin{Keys: publics(key)}); err != nil {
				t.Error(err)
			}
			plain := sign(t, sample, key)
			if _, has := headerOf(t, signaturesOf(t, plain)[0])["jku"]; has {
				t.Error("there is a jku that nobody asked for")
			}
		})
	}
}

func TestSignLeavesTheCardAsItIsWritten(t *testing.T) {
	key := newKey(t, card.EdDSA, "k1")
	signed := string(sign(t, sample, key))
	start := strings.Index(signed, `,"signatures":[`)
	if start < 0 || !strings.HasSuffix(signed, `"}]`+"\n}\n") || signed[:start]+"\n}\n" != sample {
		t.Errorf("the card became %s", signed)
	}

	// In the middle the member is replaced where it stands.
	raw := `{"signatures" : [ ] , "name" : "n"}`
	signed = string(sign(t, raw, key))
	if !strings.HasPrefix(signed, `{"signatures" : [{"protected":`) || !strings.HasSuffix(signed, `}] , "name" : "n"}`) {
		t.Errorf("the card became %s", signed)
	}
	if signed := string(sign(t, ` { } `, key)); !strings.HasPrefix(signed, ` {"signatures":[{`) {
		t.Errorf("the empty card became %s", signed)
	}
}

func TestSigningAgain(t *testing.T) {
	first, second := newKey(t, card.ES256, "first"), newKey(t, card.EdDSA, "second")
	both := sign(t, string(sign(t, sample, first)), second) // REQ-SIGN-17
	for _, key := range []*card.PrivateKey{first, second} {
		got, err := card.Verify(both, card.Pin{Keys: publics(key)}) // REQ-SIGN-07
		if err != nil || got.KeyID != key.ID() {
			t.Errorf("Verify() with %s = %q, %v", key.ID(), got.KeyID, err)
		}
	}
	// A changed card is signed anew by one, whose old signature goes.
	changed := strings.Replace(string(both), "2.3.0", "2.4.0", 1)
	again := sign(t, changed, second)
	var ids []any
	for _, signature := range signaturesOf(t, again) {
		ids = append(ids, headerOf(t, signature)["kid"])
	}
	if diff := cmp.Diff([]any{"first", "second"}, ids); diff != "" {
		t.Errorf("signatures (-want +got):\n%s", diff)
	}
	if got, err := card.Verify(again, card.Pin{Keys: publics(first, second)}); err != nil || got.KeyID != "second" {
		t.Errorf("Verify() = %q, %v", got.KeyID, err)
	}
}

func TestSignRefuses(t *testing.T) {
	key := newKey(t, card.EdDSA, "k")
	var many []card.Signer
	for i := range 17 {
		one, err := key.WithID(strings.Repeat("k", i+1))
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, card.Signer{Key: one})
	}
	tests := []struct {
		name    string
		raw     string
		signers []card.Signer
		want    string
	}{
		{"no card", "nothing", []card.Signer{{Key: key}}, "card: "},
		{"no key", sample, []card.Signer{{}}, "no key"},
		{"a key set over http", sample, []card.Signer{{Key: key, JWKSURL: "http://example.com/k"}}, "https"}, // REQ-SIGN-15
		{"a key set behind a password", sample, []card.Signer{{Key: key, JWKSURL: "https://u:p@example.com/k"}}, "https"},
		{"too many", sample, many, "more than 16"},
		{"broken signatures", `{"signatures":[{"protected":1}]}`, []card.Signer{{Key: key}}, "signatures[0].protected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			signed, err := card.Sign([]byte(tt.raw), tt.signers...)
			if err == nil || signed != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Sign() = %s, %v, want an error with %q", signed, err, tt.want)
			}
		})
	}
	if signed, err := card.Sign([]byte(sample), slices.Clone(many)[:16]...); err != nil || len(signaturesOf(t, signed)) != 16 {
		t.Errorf("16 signatures are refused: %v", err)
	}
}
