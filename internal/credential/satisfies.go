package credential

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/registry"
)

// UnmetError says that a card asks for another credential than the document has.
type UnmetError struct {
	// Asked are the alternatives of the card in words, of which one is enough.
	Asked []string

	// Configured is the credential of the document in words.
	Configured string

	// Change says which field of the document to change, empty if none helps.
	Change string
}

// Error says what is asked, what there is, and what to change.
func (e *UnmetError) Error() string {
	const listed = 8
	asked := slices.Clone(e.Asked[:min(len(e.Asked), listed)])
	if len(e.Asked) > listed {
		asked = append(asked, "others")
	}
	text := "the agent's card asks for " + strings.Join(asked, ", or ") + "; configured is " + e.Configured
	if e.Change == "" {
		return text + ", and no credential that is known here would do"
	}
	return text + ": " + e.Change
}

// Satisfies reports whether a credential is what a card asks of all its callers:
// every scheme of one of its requirements (a2a.proto
// AgentCard.security_requirements; specification 1.0.1, section 7.3). A scheme that
// the card does not describe, or that is of an unknown kind, is met by nothing. The
// error is an *[UnmetError]. A card whose requirements could not be read is for its
// reader to refuse.
func Satisfies(card a2a.AgentCard, spec registry.Credential) error {
	return satisfies(card.SecurityRequirements, card.SecuritySchemes, spec)
}

// SatisfiesSkill is Satisfies for what a skill asks on its own (a2a.proto
// AgentSkill.security_requirements). A skill that asks for nothing, or is not on
// the card, is satisfied.
func SatisfiesSkill(card a2a.AgentCard, skill string, spec registry.Credential) error {
	for _, s := range card.Skills {
		if s.ID == skill {
			return satisfies(s.SecurityRequirements, card.SecuritySchemes, spec)
		}
	}
	return nil
}

func satisfies(requirements []a2a.SecurityRequirement, schemes map[string]a2a.SecurityScheme, spec registry.Credential) error {
	if len(requirements) == 0 {
		return nil
	}
	unmet := &UnmetError{Configured: describe(spec)}
	for _, requirement := range requirements {
		var together []asked
		var words []string
		for _, name := range slices.Sorted(maps.Keys(requirement.Schemes)) {
			one := asked{schemes[name].Scheme, requirement.Schemes[name].List}
			together = append(together, one)
			words = append(words, quoted(name)+" ("+one.words()+")")
		}
		if meetsAll(together, spec) {
			return nil
		}
		unmet.Asked = append(unmet.Asked, strings.Join(words, " and "))
		if unmet.Change == "" {
			unmet.Change = change(together, spec)
		}
	}
	return unmet
}

// asked is a scheme and the scopes that are needed of it.
type asked struct {
	scheme a2a.SecuritySchemeVariant
	scopes []string
}

func meetsAll(together []asked, spec registry.Credential) bool {
	return !slices.ContainsFunc(together, func(one asked) bool { return !one.metBy(spec) })
}

// metBy reports whether a credential is what a scheme asks for. A token from
// elsewhere is taken as it is; of one that is fetched here the scopes are known,
// unless the document leaves them to the issuer.
func (a asked) metBy(spec registry.Credential) bool {
	// With its header set so, a key is sent as whatever the secret says.
	raw := spec.APIKey != nil && strings.EqualFold(headerOf(spec.APIKey), authorization)
	switch scheme := a.scheme.(type) {
	case *a2a.APIKeySecurityScheme:
		return scheme.Location == "header" && spec.APIKey != nil && strings.EqualFold(headerOf(spec.APIKey), scheme.Name)
	case *a2a.HTTPAuthSecurityScheme:
		return raw || strings.EqualFold(scheme.Scheme, "bearer") && (spec.Bearer != nil || spec.OAuth2 != nil)
	case *a2a.OAuth2SecurityScheme:
		return scheme.Flows.Flow != nil && (raw || spec.Bearer != nil || spec.OAuth2 != nil && len(a.missing(spec)) == 0)
	case *a2a.OpenIdConnectSecurityScheme:
		return raw || spec.Bearer != nil || spec.OAuth2 != nil && len(a.missing(spec)) == 0
	case *a2a.MutualTlsSecurityScheme:
		return spec.MTLS != nil
	}
	return false
}

// missing are the scopes that a token is not asked for.
func (a asked) missing(spec registry.Credential) []string {
	if spec.OAuth2 == nil || len(spec.OAuth2.Scopes) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(a.scopes), func(scope string) bool { return slices.Contains(spec.OAuth2.Scopes, scope) })
}

// change is what to change so that schemes are met together, nothing if no
// credential could.
func change(together []asked, spec registry.Credential) string {
	for _, one := range together {
		candidate, words := one.candidate()
		if !meetsAll(together, candidate) {
			continue
		}
		if missing := one.missing(spec); len(missing) > 0 {
			return "add " + quoted(strings.Join(missing, " ")) + " to spec.credential.oauth2.scopes"
		}
		return "set spec.credential." + words
	}
	return ""
}

// candidate is a credential for a scheme, and the field to set.
func (a asked) candidate() (registry.Credential, string) {
	switch scheme := a.scheme.(type) {
	case *a2a.APIKeySecurityScheme:
		return registry.Credential{APIKey: &registry.HeaderKey{Header: registry.Header(scheme.Name)}},
			"apiKey, with the header " + quoted(scheme.Name)
	case *a2a.HTTPAuthSecurityScheme:
		if strings.EqualFold(scheme.Scheme, "bearer") {
			return registry.Credential{Bearer: &registry.Bearer{}}, "bearer or spec.credential.oauth2"
		}
		return registry.Credential{APIKey: &registry.HeaderKey{Header: authorization}},
			"apiKey, with the header Authorization and a secret that begins with the word " + quoted(scheme.Scheme)
	case *a2a.OAuth2SecurityScheme, *a2a.OpenIdConnectSecurityScheme:
		return registry.Credential{OAuth2: &registry.OAuth2{}}, "oauth2"
	case *a2a.MutualTlsSecurityScheme:
		return registry.Credential{MTLS: &registry.Certificate{}}, "mtls"
	}
	return registry.Credential{}, ""
}

func headerOf(key *registry.HeaderKey) string {
	if key.Header == "" {
		return defaultHeader
	}
	return string(key.Header)
}

// describe is a credential in words.
func describe(spec registry.Credential) string {
	switch kindOf(spec) {
	case None:
		return "none"
	case APIKey:
		return "a key in the header " + bounded(headerOf(spec.APIKey))
	case Bearer:
		return "a bearer token"
	case OAuth2:
		if len(spec.OAuth2.Scopes) > 0 {
			return "an OAuth 2.0 token for " + bounded(strings.Join(spec.OAuth2.Scopes, " "))
		}
		return "an OAuth 2.0 token"
	case MTLS:
		return "a client certificate"
	}
	return "nothing"
}

// words is a scheme in words.
func (a asked) words() string {
	switch asked := a.scheme.(type) {
	case *a2a.APIKeySecurityScheme:
		return fmt.Sprintf("a key in the %s %s", quoted(asked.Location), quoted(asked.Name))
	case *a2a.HTTPAuthSecurityScheme:
		return "HTTP authentication " + quoted(asked.Scheme)
	case *a2a.OAuth2SecurityScheme:
		if asked.Flows.Flow != nil {
			return "OAuth 2.0"
		}
	case *a2a.OpenIdConnectSecurityScheme:
		return "OpenID Connect"
	case *a2a.MutualTlsSecurityScheme:
		return "a client certificate"
	}
	return "of a kind not known here"
}

// quoted makes text of a card fit for a line of ours.
func quoted(text string) string {
	const most = 64
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strconv.Quote(text)
}
