package card_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/legation/legation/card"
)

// The vector was computed by an independent ECMAScript implementation.
func TestCanonicalVector(t *testing.T) {
	raw, want := file(t, "testdata/vector.json"), file(t, "testdata/vector.canonical")
	got, err := card.Canonical(raw) // REQ-SIGN-02 REQ-SIGN-20
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("Canonical() (-want +got):\n%s", diff)
	}
	const digest = "sha256:50d88266e5ec6c978674d010202ca7cf0510b11256af9decdf4b70dc51ceb3ce"
	if got := card.Digest(got); got != digest {
		t.Errorf("Digest() = %s, want %s", got, digest)
	}
	again, err := card.Canonical(got)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("the canonical form of a canonical form is %s, %v", again, err)
	}
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What every card has in canonical form, before and after the members that a
// test is about: c…, s…; those in between are in the test.
const (
	bare = `{"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"description":"",` +
		`"name":"","skills":[],"supportedInterfaces":[],"version":""}`
	head = `{"capabilities":`
	tail = `,"defaultInputModes":[],"defaultOutputModes":[],"description":"",` +
		`"name":"","skills":[],"supportedInterfaces":[],"version":""}`
)

// What is stripped of a card before it is signed is what presence allows, and
// never a required member (PVX-04).
func TestCanonicalPresence(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"REQUIRED members are put back", `{}`, bare}, // REQ-SIGN-05
		{"REQUIRED members stay when empty", bare, bare},
		{"null is absent", `{"name":null,"provider":null,"skills":null,"iconUrl":null,"securitySchemes":null}`, bare},
		{"members in snake_case are the same", `{"default_input_modes":["a"]}`, strings.Replace(bare, `InputModes":[]`, `InputModes":["a"]`, 1)},
		// REQ-SIGN-07
		{"signatures are no part of it", `{"signatures":[{"protected":"e30","signature":"AA"}]}`, bare},
		{"signatures of any form are no part of it", `{"signatures":{"x":1}}`, bare},
		// REQ-SIGN-03 is the first case: what is optional and absent is not there.
		// REQ-SIGN-04
		{"optional text stays when empty", `{"documentationUrl":""}`, strings.Replace(bare, `"name"`, `"documentationUrl":"","name"`, 1)},
		{"an optional boolean stays when false", `{"capabilities":{"streaming":false,"extended_agent_card":false}}`,
			head + `{"extendedAgentCard":false,"streaming":false}` + tail},
		{"a message stays when empty", `{"provider":{}}`, strings.Replace(bare, `"skills"`, `"provider":{"organization":"","url":""},"skills"`, 1)},
		// REQ-SIGN-06
		{"other lists are dropped when empty", `{"securityRequirements":[],"capabilities":{"extensions":[]}}`, bare},
		{"other maps are dropped when empty", `{"securitySchemes":{}}`, bare},
		{"other text and booleans are dropped", `{"capabilities":{"extensions":[{"uri":"","description":"","required":false}]}}`,
			head + `{"extensions":[{}]}` + tail},
		{"other members stay when set", `{"capabilities":{"extensions":[{"uri":"u","required":true}]}}`,
			head + `{"extensions":[{"required":true,"uri":"u"}]}` + tail},
		{"free-form content is left alone", `{"capabilities":{"extensions":[{"params":{"a":null,"b":[],"c":{},"d":"","e":false,"f":0}}]}}`,
			head + `{"extensions":[{"params":{"a":null,"b":[],"c":{},"d":"","e":false,"f":0}}]}` + tail},
		{"empty free-form content stays", `{"capabilities":{"extensions":[{"params":{}}]}}`, head + `{"extensions":[{"params":{}}]}` + tail},
		{"a member of the wrong type is no default", `{"capabilities":{"extensions":[{"required":"","uri":0,"description":[]}]}}`,
			head + `{"extensions":[{"description":[],"required":"","uri":0}]}` + tail},
		{"a message of the wrong type is left alone", `{"capabilities":[{"extensions":[]}]}`, head + `[{"extensions":[]}]` + tail},
		{"elements of the wrong type are left alone", `{"capabilities":{"extensions":[null,1,{"uri":"u"}]}}`,
			head + `{"extensions":[null,1,{"uri":"u"}]}` + tail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := card.Canonical([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("Canonical() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCanonicalSecurity(t *testing.T) {
	tests := []struct{ name, scheme, want string }{
		{"an empty scheme", `{"mtlsSecurityScheme":{"description":""}}`, `{"mtlsSecurityScheme":{}}`},
		{"a key", `{"api_key_security_scheme":{"name":"K"}}`, `{"apiKeySecurityScheme":{"location":"","name":"K"}}`},
		{"bearer", `{"httpAuthSecurityScheme":{"bearerFormat":""}}`, `{"httpAuthSecurityScheme":{"scheme":""}}`},
		{"OpenID", `{"openIdConnectSecurityScheme":{}}`, `{"openIdConnectSecurityScheme":{"openIdConnectUrl":""}}`},
		{"OAuth without flow", `{"oauth2SecurityScheme":{"oauth2_metadata_url":""}}`, `{"oauth2SecurityScheme":{"flows":{}}}`},
		{"authorization code", `{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"pkceRequired":true,"refreshUrl":""}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":"","pkceRequired":true,"scopes":{},"tokenUrl":""}}}}`},
		{"client credentials", `{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"a":"","":"b"}}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"scopes":{"":"b","a":""},"tokenUrl":""}}}}`},
		{"device code", `{"oauth2SecurityScheme":{"flows":{"deviceCode":{}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"deviceCode":{"deviceAuthorizationUrl":"","scopes":{},"tokenUrl":""}}}}`},
		{"implicit", `{"oauth2SecurityScheme":{"flows":{"implicit":{"authorizationUrl":"","scopes":{}}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"implicit":{}}}}`},
		{"password", `{"oauth2SecurityScheme":{"flows":{"password":{"tokenUrl":"t","scopes":{}}}}}`,
			`{"oauth2SecurityScheme":{"flows":{"password":{"tokenUrl":"t"}}}}`},
		{"null", `null`, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := card.Canonical([]byte(`{"securitySchemes":{"s":` + tt.scheme + `}}`))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(bare, `"skills":[]`, `"securitySchemes":{"s":`+tt.want+`},"skills":[]`, 1)
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("Canonical() (-want +got):\n%s", diff)
			}
		})
	}
}

// F38: what has tripped up other implementations.
func TestCanonicalPitfalls(t *testing.T) {
	params := func(value string) string {
		return `{"capabilities":{"extensions":[{"params":` + value + `}]}}`
	}
	tests := []struct{ name, raw, want string }{
		{"a name beyond ASCII", `{"name":"Zo\u00eb"}`, strings.Replace(bare, `"name":""`, `"name":"Zoë"`, 1)},
		{"keys by UTF-16 units", params("{\"\uff01\":1,\"\U0001f600\":2}"), params("{\"\U0001f600\":2,\"\uff01\":1}")},
		{"keys of a map by UTF-16 units", "{\"securitySchemes\":{\"\uff01\":{},\"\U0001f600\":{}}}",
			"{\"securitySchemes\":{\"\U0001f600\":{},\"\uff01\":{}}}"},
		{"small numbers", params(`{"n":1e-6,"m":1e-7}`), params(`{"m":1e-7,"n":0.000001}`)},
		{"whole numbers", params(`{"n":1.0,"m":-0}`), params(`{"m":0,"n":1}`)},
		{"large numbers", params(`{"n":1e21,"m":1E20}`), params(`{"m":100000000000000000000,"n":1e+21}`)},
		{"numbers beyond 53 bits", params(`{"n":9007199254740993}`), params(`{"n":9007199254740992}`)},
		{"explicit false where it is the default", `{"capabilities":{"extensions":[{"uri":"u","required":false}]}}`,
			`{"capabilities":{"extensions":[{"uri":"u"}]}}`},
		{"explicit false where it is optional", `{"capabilities":{"streaming":false}}`, `{"capabilities":{"streaming":false}}`},
		{"empty extensions", `{"capabilities":{"extensions":[]}}`, `{"capabilities":{}}`},
		{"letters of HTML", `{"name":"<\u0026\u003e"}`, `{"name":"<&>"}`},
		{"line separators", `{"name":"\u2028\u2029"}`, "{\"name\":\"\u2028\u2029\"}"},
		{"control characters", `{"name":"\u0000\b\u007f\/"}`, "{\"name\":\"\\u0000\\b\u007f/\"}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := card.Canonical([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			// The second implementation orders what is already put back and dropped.
			want, err := card.Canonical([]byte(tt.want))
			if err != nil {
				t.Fatal(err)
			}
			second, err := jcs.Transform(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(second), string(got)); diff != "" {
				t.Errorf("another implementation of RFC 8785 differs (-it +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("Canonical() (-want +got):\n%s", diff)
			}
			inner := strings.TrimSuffix(strings.TrimPrefix(tt.want, "{"), "}")
			if !strings.Contains(string(got), inner) {
				t.Errorf("Canonical() = %s, want in it %s", got, inner)
			}
		})
	}
}

func TestCanonicalUnknownMembers(t *testing.T) {
	raw := `{"x":{"b":1,"a":""},"capabilities":{"x":false,"extensions":[{"params":{"x":1},"x":[]}]},` +
		`"securitySchemes":{"x":{"fooSecurityScheme":{}}},"supportedInterfaces":[{"x":null}]}`
	whole, err := card.Canonical([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"capabilities":{"extensions":[{"params":{"x":1},"x":[]}],"x":false},"defaultInputModes":[],"defaultOutputModes":[],` +
		`"description":"","name":"","securitySchemes":{"x":{"fooSecurityScheme":{}}},"skills":[],` +
		`"supportedInterfaces":[{"protocolBinding":"","protocolVersion":"","url":"","x":null}],"version":"","x":{"a":"","b":1}}`
	if diff := cmp.Diff(want, string(whole)); diff != "" {
		t.Errorf("Canonical() (-want +got):\n%s", diff)
	}
	known, err := card.CanonicalKnown([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want = `{"capabilities":{"extensions":[{"params":{"x":1}}]},"defaultInputModes":[],"defaultOutputModes":[],` +
		`"description":"","name":"","securitySchemes":{"x":{}},"skills":[],` +
		`"supportedInterfaces":[{"protocolBinding":"","protocolVersion":"","url":""}],"version":""}`
	if diff := cmp.Diff(want, string(known)); diff != "" {
		t.Errorf("CanonicalKnown() (-want +got):\n%s", diff)
	}
}

func TestCanonicalRefuses(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	tests := []struct{ name, raw, want string }{
		{"nothing", ``, ""},
		{"a list", `[]`, "not an object"},
		{"two values", `{}{}`, ""},
		{"a member that occurs twice", `{"x":1,"x":2}`, ""},
		{"a member in both spellings", `{"iconUrl":"a","icon_url":"a"}`, ""},
		{"a lone surrogate", `{"name":"\ud800"}`, ""},
		{"bytes that are not UTF-8", "{\"name\":\"\xff\"}", ""},
		{"a number that is too large", `{"x":1e999}`, "beyond what a double can hold"},
		{"a number that is too large, within", `{"capabilities":{"extensions":[{"params":{"a":[1,-1E999]}}]}}`, "beyond what a double can hold"},
		{"a number that is too long", `{"x":1` + strings.Repeat("0", 400) + `}`, "beyond what a double can hold"},
		{"too much depth", `{"x":` + deep + `}`, "64 levels"},
		{"too many bytes", `{"x":"` + strings.Repeat("a", card.MaxBytes) + `"}`, "1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := card.Canonical([]byte(tt.raw))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Canonical() error = %v, want one with %q", err, tt.want)
			}
		})
	}
	// In what is left out a number does no harm.
	if got, err := card.CanonicalKnown([]byte(`{"x":1e999}`)); err != nil || string(got) != bare {
		t.Errorf("CanonicalKnown() = %s, %v", got, err)
	}
	for _, raw := range []string{`{"x":1e-999}`, `{"x":"1e999"}`} {
		if _, err := card.Canonical([]byte(raw)); err != nil {
			t.Errorf("Canonical(%s) = %v", raw, err)
		}
	}
}

// Whatever free-form content holds, it is written as another implementation of
// RFC 8785 writes it.
func TestCanonicalMatchesAnotherImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := object(3).Draw(t, "content")
		form, err := card.Canonical([]byte(`{"capabilities":{"extensions":[{"params":` + content + `}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		want, err := jcs.Transform([]byte(content))
		if err != nil {
			t.Skip(err)
		}
		got := strings.TrimSuffix(strings.TrimPrefix(string(form), head+`{"extensions":[{"params":`), `}]}`+tail)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Fatalf("Canonical() of %s (-want +got):\n%s", content, diff)
		}
	})
}
