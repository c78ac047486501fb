package credential_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
)

var schemes = map[string]a2a.SecurityScheme{
	"key":    {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Partner-Key"}},
	"cookie": {Scheme: &a2a.APIKeySecurityScheme{Location: "cookie", Name: "session"}},
	"bearer": {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "BEARER"}},
	"basic":  {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "Basic"}},
	"oauth":  {Scheme: &a2a.OAuth2SecurityScheme{Flows: a2a.OAuthFlows{Flow: &a2a.ClientCredentialsOAuthFlow{TokenURL: "https://id.example"}}}},
	"flow":   {Scheme: &a2a.OAuth2SecurityScheme{}},
	"oidc":   {Scheme: &a2a.OpenIdConnectSecurityScheme{OpenIDConnectURL: "https://id.example"}},
	"cert":   {Scheme: &a2a.MutualTlsSecurityScheme{}},
	"odd":    {},
}

// requires makes requirements: alternatives apart, schemes of one with a plus,
// scopes behind a colon.
func requires(alternatives ...string) []a2a.SecurityRequirement {
	var all []a2a.SecurityRequirement
	for _, alternative := range alternatives {
		one := a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{}}
		for _, scheme := range strings.Fields(strings.ReplaceAll(alternative, "+", " ")) {
			name, scopes, _ := strings.Cut(scheme, ":")
			one.Schemes[name] = a2a.StringList{List: strings.Fields(strings.ReplaceAll(scopes, ",", " "))}
		}
		all = append(all, one)
	}
	return all
}

var specs = map[string]registry.Credential{
	"none":   {None: true},
	"key":    {APIKey: &registry.HeaderKey{Header: "x-partner-key"}},
	"plain":  {APIKey: &registry.HeaderKey{}},
	"raw":    {APIKey: &registry.HeaderKey{Header: "authorization"}},
	"bearer": {Bearer: &registry.Bearer{}},
	"oauth":  {OAuth2: &registry.OAuth2{}},
	"scoped": {OAuth2: &registry.OAuth2{Scopes: []string{"read", "write"}}},
	"mtls":   {MTLS: &registry.Certificate{}},
}

// REQ-SEC-15, REQ-CARD-34: one alternative is met with all its schemes; what is of
// an unknown kind, or not described, is met by nothing.
func TestSatisfies(t *testing.T) {
	for _, tt := range []struct {
		asks []a2a.SecurityRequirement
		met  string // the credentials that are enough
	}{
		{nil, "none key plain raw bearer oauth scoped mtls"},
		{requires(""), "none key plain raw bearer oauth scoped mtls"},
		{requires("key", ""), "none key plain raw bearer oauth scoped mtls"},
		{requires("key"), "key"},
		{requires("cookie"), ""},
		{requires("bearer"), "raw bearer oauth scoped"},
		{requires("basic"), "raw"},
		{requires("oauth"), "raw bearer oauth scoped"},
		{requires("oauth:read"), "raw bearer oauth scoped"},
		{requires("oauth:read,admin"), "raw bearer oauth"},
		{requires("oidc:admin"), "raw bearer oauth"},
		{requires("flow"), ""},
		{requires("cert"), "mtls"},
		{requires("odd"), ""},
		{requires("absent"), ""},
		{requires("key", "cert"), "key mtls"},
		{requires("absent", "cert"), "mtls"},
		{requires("key+cert"), ""},
		{requires("oauth+bearer"), "raw bearer oauth scoped"},
		{requires("oauth:admin+bearer"), "raw bearer oauth"},
		{requires("oauth+odd"), ""},
		{requires("key+cert", "bearer"), "raw bearer oauth scoped"},
	} {
		for name, spec := range specs {
			want := strings.Contains(" "+tt.met+" ", " "+name+" ")
			card := a2a.AgentCard{SecuritySchemes: schemes, SecurityRequirements: tt.asks}
			if err := credential.Satisfies(card, spec); (err == nil) != want {
				t.Errorf("%v with %s: error %v, want it met: %v", tt.asks, name, err, want)
			}
			card.SecurityRequirements, card.Skills = nil, []a2a.AgentSkill{{ID: "other"}, {ID: "skill", SecurityRequirements: tt.asks}}
			if err := credential.SatisfiesSkill(card, "skill", spec); (err == nil) != want {
				t.Errorf("a skill that asks %v with %s: error %v, want it met: %v", tt.asks, name, err, want)
			}
			if err := errors.Join(credential.Satisfies(card, spec), credential.SatisfiesSkill(card, "other", spec), credential.SatisfiesSkill(card, "absent", spec)); err != nil {
				t.Errorf("what asks for nothing: error %v", err)
			}
		}
	}
}

func TestWhatToChange(t *testing.T) {
	const asks = "the agent's card asks for "
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		asks []a2a.SecurityRequirement
		spec registry.Credential
		want string
	}{
		{requires("key"), specs["none"], asks + `"key" (a key in the "header" "X-Partner-Key"); configured is none: set spec.credential.apiKey, with the header "X-Partner-Key"`},
		{requires("key"), specs["plain"], asks + `"key" (a key in the "header" "X-Partner-Key"); configured is a key in the header X-API-Key: set spec.credential.apiKey, with the header "X-Partner-Key"`},
		{requires("bearer"), specs["mtls"], asks + `"bearer" (HTTP authentication "BEARER"); configured is a client certificate: set spec.credential.bearer or spec.credential.oauth2`},
		{requires("basic"), specs["bearer"], asks + `"basic" (HTTP authentication "Basic"); configured is a bearer token: set spec.credential.apiKey, with the header Authorization and a secret that begins with the word "Basic"`},
		{requires("oidc"), registry.Credential{}, asks + `"oidc" (OpenID Connect); configured is nothing: set spec.credential.oauth2`},
		{requires("oauth:admin,read"), specs["scoped"], asks + `"oauth" (OAuth 2.0); configured is an OAuth 2.0 token for read write: add "admin" to spec.credential.oauth2.scopes`},
		{requires("odd", "key+cert", "cert"), specs["oauth"], asks + `"odd" (of a kind not known here), or "cert" (a client certificate) and "key" (a key in the "header" "X-Partner-Key"), or "cert" (a client certificate); configured is an OAuth 2.0 token: set spec.credential.mtls`},
		{requires("cookie"), specs["none"], asks + `"cookie" (a key in the "cookie" "session"); configured is none, and no credential that is known here would do`},
		{requires("a", "b", "c", "d", "e", "f", "g", "h", "i"), specs["none"], "or others; configured is none"},
		{requires(long), specs["none"], `"` + strings.Repeat("x", 64) + `…" (of a kind`},
	} {
		err := credential.Satisfies(a2a.AgentCard{SecuritySchemes: schemes, SecurityRequirements: tt.asks}, tt.spec)
		if _, ok := errors.AsType[*credential.UnmetError](err); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v\nwant  %s", err, tt.want)
		}
	}
}
