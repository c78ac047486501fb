package card_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

const known = `{"name":"Billing","description":"Answers questions","version":"1.0.0",
 "supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
 "provider":{"organization":"Example","url":"https://example.com"},
 "capabilities":{"streaming":true,"extensions":[{"uri":"urn:may:v1"},{"uri":"urn:must:v1","required":true,"params":{"a":1,"b":2}}]},
 "securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"K","description":"a key"}}},
 "securityRequirements":[{"schemes":{"key":{}}},{"schemes":{"key":{"list":["b","a"]},"id":{}}}],
 "defaultInputModes":["text/plain","text/html"],"defaultOutputModes":["text/plain"],
 "skills":[{"id":"inv","name":"Invoices","description":"Explains","tags":["billing"],"examples":["why?"]},{"id":"pay","name":"Pay","description":"Pays","tags":["billing"]}]}`

func TestCompare(t *testing.T) {
	tests := []struct {
		name, old, with    string
		structure, wording []string
	}{
		{name: "nothing"},
		{name: "another order", old: `"text/plain","text/html"`, with: `"text/html","text/plain"`},
		{name: "another order of scopes", old: `["b","a"]`, with: `["a","b"]`},
		{name: "another order of params", old: `{"a":1,"b":2}`, with: `{"b":2.0, "a":1}`},
		{name: "an explicit false", old: `"streaming":true`, with: `"streaming":true,"pushNotifications":false`},
		{name: "the name", old: `"Billing"`, with: `"Paying"`, structure: []string{"name was Billing, is Paying"}},
		{name: "the organization", old: `"Example"`, with: `"Other"`, structure: []string{"provider.organization was Example, is Other"}},
		{name: "the provider", old: `"provider"`, with: `"formerly"`,
			structure: []string{"provider.organization is gone: Example"}, wording: []string{"provider.url is gone: https://example.com"}},
		{name: "the interface", old: `https://a.example/`, with: `https://b.example/`,
			structure: []string{"supportedInterfaces[0] was JSONRPC 1.0 at https://a.example/, is JSONRPC 1.0 at https://b.example/"}},
		{name: "a tenant", old: `"protocolBinding"`, with: `"tenant":"t","protocolBinding"`,
			structure: []string{`supportedInterfaces[0] was JSONRPC 1.0 at https://a.example/, is JSONRPC 1.0 at https://a.example/ for tenant "t"`}},
		{name: "an interface", old: `"supportedInterfaces":[`, with: `"supportedInterfaces":[{"url":"https://g.example","protocolBinding":"GRPC","protocolVersion":"1.0"},`,
			structure: []string{
				"supportedInterfaces[0] was JSONRPC 1.0 at https://a.example/, is GRPC 1.0 at https://g.example",
				"supportedInterfaces[1] is new: JSONRPC 1.0 at https://a.example/",
			}},
		{name: "a capability", old: `"streaming":true,`, with: ``, structure: []string{"capabilities.streaming was offered, is not offered"}},
		{name: "an optional extension", old: `"urn:may:v1"`, with: `"urn:may:v2"`, wording: []string{
			`capabilities.extensions["urn:may:v1"] is gone: optional`, `capabilities.extensions["urn:may:v2"] is new: optional`}},
		{name: "a required extension", old: `"urn:must:v1"`, with: `"urn:must:v2"`, structure: []string{
			`capabilities.extensions["urn:must:v1"] is gone: required`, `capabilities.extensions["urn:must:v2"] is new: required`}},
		{name: "an extension that becomes required", old: `"uri":"urn:may:v1"`, with: `"uri":"urn:may:v1","required":true`,
			structure: []string{`capabilities.extensions["urn:may:v1"].required was optional, is required`}},
		{name: "params of a required extension", old: `{"a":1,"b":2}`, with: `{"a":1}`,
			structure: []string{`capabilities.extensions["urn:must:v1"].params was {"a":1,"b":2}, is {"a":1}`}},
		{name: "params of an optional extension", old: `"uri":"urn:may:v1"`, with: `"uri":"urn:may:v1","params":{},"description":"d"`,
			wording: []string{`capabilities.extensions["urn:may:v1"].description is new: d`, `capabilities.extensions["urn:may:v1"].params is new: {}`}},
		{name: "a scheme", old: `"header"`, with: `"query"`, structure: []string{
			`securitySchemes["key"] was {"apiKeySecurityScheme":{"location":"header","name":"K"}}, is {"apiKeySecurityScheme":{"location":"query","name":"K"}}`}},
		{name: "the name of a scheme", old: `"securitySchemes":{"key":`, with: `"securitySchemes":{"other":`, structure: []string{
			`securitySchemes["key"] is gone: {"apiKeySecurityScheme":{"location":"header","name":"K"}}`,
			`securitySchemes["other"] is new: {"apiKeySecurityScheme":{"location":"header","name":"K"}}`}},
		{name: "the text of a scheme", old: `"a key"`, with: `"the key"`, wording: []string{`securitySchemes["key"].description was a key, is the key`}},
		{name: "requirements", old: `{"schemes":{"key":{}}},`, with: `{},`, structure: []string{
			`securityRequirements was "id" and "key" for a, b, "key", is "id" and "key" for a, b, nothing`}},
		{name: "modes", old: `"defaultOutputModes":["text/plain"]`, with: `"defaultOutputModes":["text/plain","image/png"]`,
			structure: []string{"defaultOutputModes was text/plain, is image/png, text/plain"}},
		{name: "a skill", old: `"id":"pay"`, with: `"id":"refund"`, structure: []string{`skills["pay"] is gone: Pay`, `skills["refund"] is new: Pay`}},
		{name: "modes of a skill", old: `"id":"pay"`, with: `"id":"pay","inputModes":["text/plain"]`, structure: []string{`skills["pay"].inputModes is new: text/plain`}},
		{name: "requirements of a skill", old: `"id":"pay"`, with: `"id":"pay","securityRequirements":[{"schemes":{"key":{}}}]`,
			structure: []string{`skills["pay"].securityRequirements is new: "key"`}},
		{name: "the text of a skill", old: `"Explains","tags":["billing"],"examples":["why?"]`, with: `"Explains all","tags":["bills"],"examples":[]`, wording: []string{
			`skills["inv"].description was Explains, is Explains all`, `skills["inv"].tags was billing, is bills`, `skills["inv"].examples is gone: why?`}},
		{name: "texts", old: `"description":"Answers questions","version":"1.0.0"`, with: `"description":"Asks","version":"1.1.0","iconUrl":"i","documentationUrl":"d"`,
			wording: []string{"description was Answers questions, is Asks", "version was 1.0.0, is 1.1.0", "documentationUrl is new: d", "iconUrl is new: i"}},
		{name: "a long text", old: `"Answers questions"`, with: `"Answers questions` + strings.Repeat("\\n much", 100) + `"`,
			wording: []string{"description was Answers questions, is Answers questions" + (strings.Repeat(" much", 100))[:63] + "…"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(known, tt.old) {
				t.Fatalf("the card has no %s", tt.old)
			}
			got := card.Compare(decode(t, known), decode(t, strings.Replace(known, tt.old, tt.with, 1)))
			if diff := cmp.Diff(tt.structure, inWords(got.Structure)); diff != "" {
				t.Errorf("structure (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wording, inWords(got.Wording)); diff != "" {
				t.Errorf("wording (-want +got):\n%s", diff)
			}
			if got.Empty() != (len(tt.structure)+len(tt.wording) == 0) {
				t.Errorf("Empty() = %v", got.Empty())
			}
		})
	}
}

// What differs is seen however it is shown: values are compared, and not the words
// for them.
func TestCompareWhatLooksAlike(t *testing.T) {
	for name, tt := range map[string]struct{ old, with, again, path string }{
		"a mode with a comma":              {`"text/plain","text/html"`, `"text/html, text/plain"`, "", "defaultInputModes"},
		"a tenant in a URL":                {`"url":"https://a.example/"`, `"tenant":"x","url":"https://a.example/"`, `"url":"https://a.example/ for tenant \"x\""`, "supportedInterfaces[0]"},
		"a scope with a comma":             {`["b","a"]`, `["a, b"]`, "", "securityRequirements"},
		"a scope like a scheme":            {`{"key":{"list":["b","a"]},"id":{}}`, `{"key":{"list":["b"]},"id":{"list":["r"]}}`, `{"id":{"list":["r and \"key\" for b"]}}`, "securityRequirements"},
		"a name with more space":           {`"Billing"`, `"Billing  "`, "", "name"},
		"a name with an unseen letter":     {`"Billing"`, `"Bil\u200bling"`, "", "name"},
		"an organization with a break":     {`"organization":"Example"`, `"organization":"Ex ample"`, `"organization":"Ex\nample"`, "provider.organization"},
		"a skill that is there twice":      {`"skills":[`, `"skills":[{"id":"pay","name":"Pay","description":"Pays","tags":[],"inputModes":["x/y"]},`, "", `skills["pay"].inputModes`},
		"an extension that is there twice": {`{"uri":"urn:must:v1"`, `{"uri":"urn:must:v1","required":true,"params":{"a":2}},{"uri":"urn:must:v1"`, "", `capabilities.extensions["urn:must:v1"].params`},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := known, strings.Replace(known, tt.old, tt.with, 1)
			if tt.again != "" {
				before, after = after, strings.Replace(known, tt.old, tt.again, 1)
			}
			got := card.Compare(decode(t, before), decode(t, after))
			if len(got.Structure) == 0 || got.Structure[0].Path != tt.path || got.Structure[0].Before == got.Structure[0].After {
				t.Errorf("Compare() = %q, want another %s", inWords(got.Structure), tt.path)
			}
		})
	}
}

// A card of many changes is told of in bounds.
func TestCompareIsBounded(t *testing.T) {
	before := decode(t, known)
	after := before
	after.Skills = nil
	for i := range 5000 {
		after.Skills = append(after.Skills, a2a.AgentSkill{ID: strconv.Itoa(i), Name: "n"})
	}
	got := inWords(card.Compare(before, after).Structure)
	if len(got) != 65 || got[64] != "others that are not listed" {
		t.Errorf("Compare() lists %d changes, the last %q", len(got), got[len(got)-1])
	}
}

// Long values begin shortly before they differ.
func TestCompareExcerpts(t *testing.T) {
	before := decode(t, known)
	after := before
	before.Description = strings.Repeat("ä", 200) + "old"
	after.Description = strings.Repeat("ä", 200) + "new"
	got := inWords(card.Compare(before, after).Wording)
	want := []string{"description was …ääääääääääold, is …äääääääääänew"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Compare() (-want +got):\n%s", diff)
	}
}

// Every kind of scheme is compared without its text.
func TestCompareSchemes(t *testing.T) {
	for _, scheme := range []string{
		`"apiKeySecurityScheme":{"location":"header","name":"K"`, `"httpAuthSecurityScheme":{"scheme":"Bearer"`,
		`"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://t.example","scopes":{"b":"","a":""}}}`,
		`"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://i.example"`, `"mtlsSecurityScheme":{"x":1`,
	} {
		cards := make([]a2a.AgentCard, 2)
		for i, about := range []string{"old", "new"} {
			cards[i] = decode(t, `{"securitySchemes":{"s":{`+scheme+`,"description":"`+about+`"}}}}`)
		}
		got := card.Compare(cards[0], cards[1])
		want := card.Drift{Wording: []card.Change{{Path: `securitySchemes["s"].description`, Before: "old", After: "new"}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scheme, diff)
		}
	}
}

func decode(t *testing.T, raw string) a2a.AgentCard {
	t.Helper()
	value, _, err := a2a.Decode[a2a.AgentCard]([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func inWords(changes []card.Change) []string {
	var words []string
	for _, change := range changes {
		words = append(words, change.String())
	}
	return words
}
