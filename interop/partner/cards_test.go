package partner_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/card"
)

// agreed is a card that every implementation signs alike.
const agreed = `{"name":"Billing","description":"Answers <billing> questions & more","version":"2.3.0",` +
	`"supportedInterfaces":[{"url":"https://agents.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
	`"provider":{"organization":"Example","url":"https://example.com"},` +
	`"capabilities":{"streaming":true,"pushNotifications":false,"extensions":[{"uri":"urn:example:v1","required":false,"params":{"limit":1}}]},` +
	`"securityRequirements":[{"schemes":{"oidc":{"list":["openid"]}}}],` +
	`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
	`"skills":[{"id":"inv","name":"Invoices","description":"Explains invoices","tags":["billing"]}]}`

// cardCases are cards by what is special about them: a part of the agreed one,
// and what stands in its place.
var cardCases = map[string][2]string{
	"nothing special":           {},
	"a name beyond ASCII":       {`"Billing"`, `"Zoë € 😀"`},
	"line separators":           {`"Billing"`, `"a\u2028b"`},
	"members to sort by UTF-16": {`{"limit":1}`, `{"` + "\uff01" + `":1,"😀":2,"Z":3,"a":4}`},
	"numbers":                   {`{"limit":1}`, `{"a":1.0,"b":1e21,"c":1e-6,"d":1e-7,"e":0.5,"f":-3,"g":123456789}`},
	"false and zero in params":  {`{"limit":1}`, `{"a":false,"b":0}`},
	"empty REQUIRED list":       {`["billing"]`, `[]`},
	"empty REQUIRED text":       {`"Explains invoices"`, `""`},
	"empty optional text":       {`"version"`, `"iconUrl":"","version"`},
	"a security scheme":         {`"version"`, `"securitySchemes":{"oidc":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://id.example/"}}},"version"`},
	"empty scheme":              {`"version"`, `"securitySchemes":{"mtls":{"mtlsSecurityScheme":{}}},"version"`},
	"requirement without scope": {`["openid"]`, `[]`},
	"empty values in params":    {`{"limit":1}`, `{"a":"","b":[],"c":{}}`},
	"null in params":            {`{"limit":1}`, `{"a":null,"b":1}`},
	"an unknown member":         {`"version"`, `"newer":{"a":1},"version"`},
}

const (
	// empties is what both SDKs do to the form that they sign.
	empties = " leaves empty values out of what is signed, also REQUIRED, set and free-form ones (specification 1.0.1, section 8.4.1)"
	// schemeless is what becomes of a card that was read, as the SDK's own client
	// and server hand it over.
	schemeless = " reads a card that it has read a second time before it signs, and loses what kind each security scheme is: its signatures do not cover them (specification 1.0.1, section 8.4.1)"
	// unknowns is what they do to members of later revisions.
	unknowns = " does not cover members that it does not know; ours verifies it without them"
)

// cardFaults are the cards on which a partner and we cannot agree, by SDK,
// direction and case. One that passes fails the test: the list only shrinks.
var cardFaults = cardDivergences()

func cardDivergences() map[string]string {
	known := map[string]string{}
	for _, partner := range []sdk{python, javascript} {
		for _, direction := range []string{cardsOfOurs, cardsOfTheirs} {
			for _, name := range []string{
				"empty REQUIRED list", "empty REQUIRED text", "empty optional text", "empty scheme", "requirement without scope",
				"empty values in params", "null in params",
			} {
				known[partner.name+direction+"/"+name] = partner.name + empties
			}
		}
		known[partner.name+cardsOfOurs+"/an unknown member"] = partner.name + unknowns
	}
	for _, direction := range []string{cardsOfOurs, cardsOfTheirs} {
		known[javascript.name+direction+"/a security scheme"] = javascript.name + schemeless
	}
	return known
}

const (
	cardsOfOurs   = " verifies a card of ours"
	cardsOfTheirs = " signs a card that we verify"
)

type cardCase struct {
	Card jsontext.Value `json:"card"`
	Key  jsontext.Value `json:"key"`
}

type cardResult struct {
	Case  string         `json:"case"`
	Card  jsontext.Value `json:"card"`
	Error string         `json:"error"`
}

func TestCardsWithPython(t *testing.T)     { testCards(t, python, "cards.py") }
func TestCardsWithJavaScript(t *testing.T) { testCards(t, javascript, "cards.mjs") }

// testCards lets the SDK verify what we sign, and us what it signs, for each
// card and algorithm.
func testCards(t *testing.T, partner sdk, program string) {
	partner.installed(t)
	keys := map[string]*card.PrivateKey{}
	ours, plain := map[string]cardCase{}, map[string]cardCase{}
	for _, alg := range card.Algorithms() {
		key, err := card.GenerateKey(alg)
		if err != nil {
			t.Fatal(err)
		}
		jwk, err := key.JWK()
		if err != nil {
			t.Fatal(err)
		}
		for name, change := range cardCases {
			raw := agreed
			if change[0] != "" {
				raw = strings.Replace(agreed, change[0], change[1], 1)
			}
			if change[0] != "" && raw == agreed {
				t.Fatalf("%s: the card has no %s", name, change[0])
			}
			signed, err := card.Sign([]byte(raw), card.Signer{Key: key})
			if err != nil {
				t.Fatal(err)
			}
			id := name + ", " + string(alg)
			keys[id] = key
			ours[id], plain[id] = cardCase{signed, jwk}, cardCase{jsontext.Value(raw), jwk}
		}
	}
	verified := partner.cards(t, program, ours)
	signed := partner.cards(t, program, plain)
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		name, _, _ := strings.Cut(id, ",")
		partner.judge(t, cardsOfOurs, name, id, verified[id].Error)
		failure := signed[id].Error
		if failure == "" {
			if _, err := card.Verify(signed[id].Card, card.Pin{Keys: []card.PublicKey{keys[id].Public()}}); err != nil {
				failure = err.Error()
			}
		}
		partner.judge(t, cardsOfTheirs, name, id, failure)
	}
}

// judge holds what came of a case to the list of faults.
func (s sdk) judge(t *testing.T, direction, name, id, failure string) {
	t.Helper()
	reason, listed := cardFaults[s.name+direction+"/"+name]
	switch {
	case failure != "" && !listed:
		t.Errorf("%s%s: %s: %s", s.name, direction, id, failure)
	case failure == "" && listed:
		t.Errorf("%s%s: %s passes; take it off the list of faults", s.name, direction, id)
	case listed:
		t.Logf("%s%s: %s: fault: %s", s.name, direction, id, reason)
	}
}

// cards runs the SDK's program over cases.
func (s sdk) cards(t *testing.T, program string, cases map[string]cardCase) map[string]cardResult {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := s.command(ctx, program)
	cmd.Stdin = bytes.NewReader(input)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, complaints.Bytes())
	}
	results := map[string]cardResult{}
	for line := range bytes.Lines(out) {
		var result cardResult
		if err := json.Unmarshal(line, &result); err != nil {
			t.Fatal(fmt.Errorf("%s: line %q: %w", program, line, err))
		}
		results[result.Case] = result
	}
	for id := range cases {
		if _, ok := results[id]; !ok {
			t.Errorf("%s says nothing of %s", program, id)
		}
	}
	return results
}
