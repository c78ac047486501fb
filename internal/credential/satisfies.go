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
		var words, changes []string
		for _, name := range slices.Sorted(maps.Keys(requirement.Schemes)) {
			scheme, scopes := schemes[name].Scheme, requirement.Schemes[name].List
			words = append(words, quoted(name)+" ("+schemeWords(scheme)+")")
			if change, met := meets(scheme, scopes, spec); !met {
				changes = append(changes, change)
			}
		}
		if len(changes) == 0 {
			return nil
		}
		unmet.Asked = append(unmet.Asked, strings.Join(words, " and "))
		if unmet.Change == "" && len(words) == 1 {
			unmet.Change = changes[0]
		}
	}
	return unmet
}

// meets reports whether a credential is what a scheme asks for, and if not what to
// change; nothing if that can not help.
func meets(scheme a2a.SecuritySchemeVariant, scopes []string, spec registry.Credential) (change string, met bool) {
	// Whatever the scheme, a key may be sent in its header.
	raw := spec.APIKey != nil && strings.EqualFold(string(spec.APIKey.Header), "Authorization")
	switch asked := scheme.(type) {
	case *a2a.APIKeySecurityScheme:
		if asked.Location != "header" {
			return "", false
		}
		if spec.APIKey == nil {
			return "set spec.credential.apiKey, with header: " + bounded(strconv.Quote(asked.Name)), false
		}
		return "set spec.credential.apiKey.header to " + quoted(asked.Name), strings.EqualFold(headerOf(spec.APIKey), asked.Name)
	case *a2a.HTTPAuthSecurityScheme:
		if strings.EqualFold(asked.Scheme, "bearer") {
			return "set spec.credential.bearer, or oauth2", raw || spec.Bearer != nil || spec.OAuth2 != nil
		}
		return "set spec.credential.apiKey, with header: Authorization and a secret that begins with the word " + quoted(asked.Scheme), raw
	case *a2a.OAuth2SecurityScheme:
		if asked.Flows.Flow == nil {
			return "", false
		}
		return meetsOAuth2(scopes, spec, raw)
	case *a2a.OpenIdConnectSecurityScheme:
		return meetsOAuth2(scopes, spec, raw)
	case *a2a.MutualTlsSecurityScheme:
		return "set spec.credential.mtls", spec.MTLS != nil
	}
	return "", false
}

// meetsOAuth2 takes a token from elsewhere as it is. Of a token that is fetched
// here the scopes are known, unless the document leaves them to the issuer.
func meetsOAuth2(scopes []string, spec registry.Credential, raw bool) (change string, met bool) {
	if spec.OAuth2 == nil {
		return "set spec.credential.oauth2", raw || spec.Bearer != nil
	}
	for _, scope := range scopes {
		if len(spec.OAuth2.Scopes) > 0 && !slices.Contains(spec.OAuth2.Scopes, scope) {
			return "add " + quoted(scope) + " to spec.credential.oauth2.scopes", false
		}
	}
	return "", true
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

// schemeWords is a scheme in words.
func schemeWords(scheme a2a.SecuritySchemeVariant) string {
	switch asked := scheme.(type) {
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
