package card_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/card"
)

// flawless is a card that says enough for its kind of scheme to be left out of
// nothing.
const flawless = `{"name":"Billing","description":"Answers questions","version":"1.0.0","iconUrl":"https://a.example/i.png",
 "supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},{"url":"a.example:443","protocolBinding":"GRPC","protocolVersion":"1.0"}],
 "provider":{"organization":"Example","url":"https://example.com"},
 "capabilities":{"streaming":true,"extensions":[{"uri":"urn:example:one:v1"},{"uri":"https://e.example/x/2.0"}]},
 "securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://i.example/t","scopes":{"call":"to call"}}}}}},
 "securityRequirements":[{"schemes":{"o":{"list":["call"]}}}],
 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
 "skills":[{"id":"inv","name":"Invoices","description":"Explains","tags":["billing"],"inputModes":["text/plain; charset=utf-8"]}]}`

func TestLintOfFlawlessCards(t *testing.T) {
	signed := sign(t, flawless, newKey(t, card.ES256, "a"), newKey(t, card.EdDSA, "b"))
	for _, raw := range []string{flawless, string(signed)} {
		if found := card.Lint([]byte(raw)); len(found) > 0 {
			t.Errorf("Lint() = %v", found)
		}
	}
}

func TestLint(t *testing.T) {
	protected := func(head string) string {
		return `"signatures":[{"protected":"` + base64.RawURLEncoding.EncodeToString([]byte(head)) + `","signature":"AA"}],"name"`
	}
	tests := []struct{ name, old, with, want string }{
		// REQ-CARD-20
		{"a missing member", `"version":"1.0.0",`, ``, "error: version: "},
		{"an empty member", `"1.0.0"`, `""`, "error: version: must not be empty"},
		{"a missing member of a skill", `"id":"inv",`, ``, "error: skills[0].id: "},
		{"a member of the wrong type", `"1.0.0"`, `1`, "error: version: must be a string"},
		// REQ-CARD-33 REQ-CARD-34
		{"requirements of an older form", `[{"schemes":{"o":{"list":["call"]}}}]`, `[{"o":["call"]}]`, "error: securityRequirements[0]: has members but names no scheme"},
		{"an unknown kind of scheme", `"oauth2SecurityScheme"`, `"newSecurityScheme"`, "error: securitySchemes.o: "},
		// REQ-CARD-25
		{"plain HTTP", `"https://a.example/"`, `"http://a.example/"`, "error: supportedInterfaces[0].url: must be an https URL"},
		{"plain HTTP here", `"https://a.example/"`, `"http://127.0.0.1:8700/"`, "warning: supportedInterfaces[0].url: is an http URL of this machine"},
		{"no URL", `"https://a.example/"`, `"/rpc"`, "error: supportedInterfaces[0].url: is not an absolute URL"},
		{"a password", `"https://a.example/"`, `"https://u:p@a.example/"`, "error: supportedInterfaces[0].url: carries a user name or password"}, // REQ-CARD-11
		{"a password in a link", `https://example.com`, `https://u:p@example.com`, "error: provider.url: carries a user name or password"},
		{"a link over HTTP", `https://example.com`, `http://example.com`, "warning: provider.url: should be an https URL"},
		{"a link that is none", `https://a.example/i.png`, `i.png`, "warning: iconUrl: is not an absolute URL"},
		// REQ-CARD-30
		{"a patch version", `"protocolVersion":"1.0"}]`, `"protocolVersion":"1.0.1"}]`, `warning: supportedInterfaces[1].protocolVersion: "1.0.1" should be of the form Major.Minor`},
		{"a strange binding", `"GRPC"`, `"SOAP"`, `warning: supportedInterfaces[1].protocolBinding: "SOAP" is not JSONRPC`},
		{"no JSON-RPC", `"JSONRPC"`, `"HTTP+JSON"`, "warning: supportedInterfaces: none is JSONRPC of version 1.0"},
		{"an interface twice", `"supportedInterfaces":[`, `"supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"},`, "warning: supportedInterfaces[1]: says the same"},
		{"a version without order", `"1.0.0"`, `"june"`, `warning: version: "june" is not a semantic version`},
		{"a mode", `"defaultInputModes":["text/plain"]`, `"defaultInputModes":["text"]`, `warning: defaultInputModes[0]: "text" is not a media type`},
		{"a mode of a skill", `"text/plain; charset=utf-8"`, `"/"`, `warning: skills[0].inputModes[0]: "/" is not a media type`},
		{"no skills", flawless[strings.Index(flawless, `[{"id":"inv"`) : len(flawless)-1], `[]`, "warning: skills: there are none"},
		{"a skill twice", `"skills":[`, `"skills":[{"id":"inv","name":"n","description":"d","tags":["t"]},`, `error: skills[1].id: "inv" is the id of an earlier skill`},
		// REQ-EXT-10 REQ-EXT-16
		{"an extension without version", `urn:example:one:v1`, `urn:example:one`, "warning: capabilities.extensions[0].uri: has no version"},
		{"a required extension", `"uri":"urn:example:one:v1"`, `"uri":"urn:example:one:v1","required":true`, "warning: capabilities.extensions[0].required: locks out"},
		{"an extension without URI", `{"uri":"urn:example:one:v1"}`, `{"description":"d"}`, "error: capabilities.extensions[0].uri: is missing"},
		{"an extension whose URI is none", `urn:example:one:v1`, `one v1`, `error: capabilities.extensions[0].uri: "one v1" is not a URI`},
		{"an extension twice", `https://e.example/x/2.0`, `urn:example:one:v1`, "error: capabilities.extensions[1].uri: \"urn:example:one:v1\" is declared twice"},
		{"an undeclared scheme", `{"o":{"list":["call"]}}`, `{"p":{"list":["call"]}}`, "error: securityRequirements[0].schemes.p: names a scheme that"},
		{"an unused scheme", `{"o":{"list":["call"]}}`, `{"p":{"list":["call"]}}`, "warning: securitySchemes.o: is named by no requirement"},
		{"an undeclared scope", `["call"]`, `["all"]`, `warning: securityRequirements[0].schemes.o: asks for the scope "all"`},
		{"a requirement without scheme", `"securityRequirements":[`, `"securityRequirements":[{},`, "warning: securityRequirements[0]: names no scheme, so"},
		{"no requirements", `"securityRequirements":[{"schemes":{"o":{"list":["call"]}}}],`, ``, "warning: securityRequirements: there are none, so"},
		{"a place for a key", `"o":{"oauth2`, `"k":{"apiKeySecurityScheme":{"location":"body","name":"K"}},"o":{"oauth2`, `error: securitySchemes.k.apiKeySecurityScheme.location: "body" is not`},
		{"a discovery URL", `"o":{"oauth2`, `"k":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"http://i.example"}},"o":{"oauth2`, "warning: securitySchemes.k.openIdConnectSecurityScheme.openIdConnectUrl: should be an https URL"},
		{"a token URL", `https://i.example/t`, `http://i.example/t`, "warning: securitySchemes.o.oauth2SecurityScheme.flows.clientCredentials.tokenUrl: should be"},
		{"an authorization URL", `"clientCredentials":{`, `"authorizationCode":{"authorizationUrl":"x",`, "warning: securitySchemes.o.oauth2SecurityScheme.flows.authorizationCode.authorizationUrl: is not"},
		{"a device URL", `"clientCredentials":{`, `"deviceCode":{"deviceAuthorizationUrl":"x",`, "warning: securitySchemes.o.oauth2SecurityScheme.flows.deviceCode.deviceAuthorizationUrl: is not"},
		{"the implicit flow", `"clientCredentials"`, `"implicit"`, "warning: securitySchemes.o.oauth2SecurityScheme.flows.implicit: is deprecated"},
		{"the password flow", `"clientCredentials"`, `"password"`, "warning: securitySchemes.o.oauth2SecurityScheme.flows.password: is deprecated"},
		// REQ-PJ-01
		{"snake_case", `"defaultInputModes"`, `"default_input_modes"`, "error: default_input_modes: must be written defaultInputModes"},
		{"snake_case in a list", `"tokenUrl"`, `"token_url"`, "error: securitySchemes.o.oauth2SecurityScheme.flows.clientCredentials.token_url: must be written tokenUrl"},
		{"an unknown member", `"tags"`, `"x y":1,"tags"`, `warning: skills[0]["x y"]: is not known to the specification`},
		{"a member of older versions", `"iconUrl"`, `"preferredTransport":"JSONRPC","iconUrl"`, "warning: preferredTransport: is of versions before 1.0, and will be ignored; use supportedInterfaces"},
		// What implementations sign differently.
		{"empty optional text", `https://a.example/i.png`, ``, `warning: iconUrl: is "", which some implementations leave out`},
		{"empty REQUIRED text", `"Answers questions"`, `""`, `warning: description: is "", which some`},
		{"no scopes", `{"list":["call"]}`, `{}`, "warning: securityRequirements[0].schemes.o: is {}, which some"},
		{"nothing in params", `"uri":"urn:example:one:v1"`, `"uri":"urn:example:one:v1","params":{"a":[{"b":null}]}`, "warning: capabilities.extensions[0].params.a[0].b: is null, which some"},
		{"no canonical form", `"uri":"urn:example:one:v1"`, `"uri":"urn:example:one:v1","params":{"a":1e999}`, "error: the card can not be signed: "},
		// Signatures.
		{"a broken header", `"name"`, `"signatures":[{"protected":"%","signature":"AA"}],"name"`, "error: signatures[0].protected: is not base64url"},
		{"an empty header", `"name"`, `"signatures":[{"protected":"","signature":"AA"}],"name"`, "error: signatures[0].protected: must not be empty"},
		{"no key", `"name"`, protected(`{"alg":"ES256"}`), "error: signatures[0].protected: names no key (kid)"},
		{"no algorithm", `"name"`, protected(`{"kid":"k"}`), "error: signatures[0].protected: names no algorithm (alg)"},
		{"a rare algorithm", `"name"`, protected(`{"alg":"ES512","kid":"k"}`), `warning: signatures[0].protected: uses the algorithm "ES512"`},
		{"no type", `"name"`, protected(`{"alg":"ES256","kid":"k"}`), `warning: signatures[0].protected: should have "typ":"JOSE"`},
		{"a key set over HTTP", `"name"`, protected(`{"alg":"ES256","kid":"k","jku":"http://a.example/"}`), "error: signatures[0].protected: names a key set (jku)"},
		{"many signatures", `"name"`, `"signatures":[` + strings.Repeat(`{"protected":"e30","signature":"AA"},`, 16) + `{"protected":"e30","signature":"AA"}],"name"`, "error: signatures: there are 17"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(flawless, tt.old) {
				t.Fatalf("the card has no %s", tt.old)
			}
			found := card.Lint([]byte(strings.Replace(flawless, tt.old, tt.with, 1)))
			if !slices.ContainsFunc(found, func(f card.Finding) bool { return strings.HasPrefix(f.String(), tt.want) }) {
				t.Errorf("Lint() finds nothing like %q:\n%s", tt.want, lines(found))
			}
			if !slices.IsSortedFunc(found, func(a, b card.Finding) int { return strings.Compare(string(a.Severity), string(b.Severity)) }) {
				t.Errorf("errors do not come first:\n%s", lines(found))
			}
		})
	}
}

func lines(found []card.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

func TestLintIsBounded(t *testing.T) {
	many := strings.Repeat(`"a",`, 500) + `"a"`
	found := card.Lint([]byte(strings.Replace(flawless, `"defaultInputModes":["text/plain"]`, `"defaultInputModes":[`+many+`]`, 1)))
	if len(found) != 200 || found[199].Problem != "there are more findings" {
		t.Errorf("there are %d findings, the last is %v", len(found), found[len(found)-1])
	}
	want := []card.Finding{{Severity: card.SeverityError, Problem: "the card can not be read: the value is not an object at byte 0"}}
	if diff := cmp.Diff(want, card.Lint([]byte("[]"))); diff != "" {
		t.Errorf("Lint() (-want +got):\n%s", diff)
	}
}
