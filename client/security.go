package client

import (
	"maps"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
)

// Scheme is a way to authenticate that a card asks for.
type Scheme struct {
	// Name is what the card calls it.
	Name string

	// Kind is what the card says of it. Nil means that the card does not
	// describe it, or that it is of a kind this revision does not know.
	Kind a2a.SecuritySchemeVariant
}

// Alternative is schemes that are needed together. An empty one allows calls
// without credentials.
type Alternative []Scheme

// Security returns what the agent asks of its callers, of which one is enough.
// None means that it asks for nothing (a2a.proto
// AgentCard.security_requirements). Of a card with faults, see Violations, it
// may be less than was meant; [New] refuses such a card.
func (c *Card) Security() []Alternative {
	var all []Alternative
	for _, requirement := range c.AgentCard.SecurityRequirements {
		var together Alternative
		for _, name := range slices.Sorted(maps.Keys(requirement.Schemes)) {
			together = append(together, Scheme{Name: name, Kind: c.AgentCard.SecuritySchemes[name].Scheme})
		}
		all = append(all, together)
	}
	return all
}

// String is the scheme in words, on one line: a key in the header X-Api-Key.
func (s Scheme) String() string {
	switch kind := s.Kind.(type) {
	case *a2a.APIKeySecurityScheme:
		return oneLine("a key in the " + kind.Location + " " + kind.Name)
	case *a2a.HTTPAuthSecurityScheme:
		return oneLine("HTTP " + kind.Scheme + " authentication")
	case *a2a.OAuth2SecurityScheme:
		if kind.Flows.Flow == nil {
			return "OAuth 2.0 with a flow not known here"
		}
		return "OAuth 2.0"
	case *a2a.OpenIdConnectSecurityScheme:
		return oneLine("OpenID Connect at " + kind.OpenIDConnectURL)
	case *a2a.MutualTlsSecurityScheme:
		return "a client certificate"
	}
	return "of a kind not known here"
}

// Header is the header that carries the credential, with an ellipsis for what
// is secret: Authorization: Bearer …. It is empty where that is no header, or
// one that can not be given in [Config.Headers].
func (s Scheme) Header() string {
	switch kind := s.Kind.(type) {
	case *a2a.APIKeySecurityScheme:
		switch {
		case kind.Location == "header" && settable(kind.Name):
			return kind.Name + ": …"
		case kind.Location == "cookie" && isToken(kind.Name):
			return "Cookie: " + kind.Name + "=…"
		}
	case *a2a.HTTPAuthSecurityScheme:
		if strings.EqualFold(kind.Scheme, "bearer") {
			return "Authorization: Bearer …" // as it is usually written
		}
		if isToken(kind.Scheme) {
			return "Authorization: " + kind.Scheme + " …"
		}
	case *a2a.OAuth2SecurityScheme:
		if kind.Flows.Flow != nil {
			return "Authorization: Bearer …"
		}
	case *a2a.OpenIdConnectSecurityScheme:
		return "Authorization: Bearer …"
	}
	return ""
}

// usable reports whether a client could have what the scheme asks for. A scheme
// of an unknown kind is no use, which is not the same as none being asked for.
func (s Scheme) usable() bool {
	_, certificate := s.Kind.(*a2a.MutualTlsSecurityScheme)
	return certificate || s.Header() != ""
}

// Usable reports whether every scheme is of a kind that is known here and can
// be given in a header or as a client certificate.
func (a Alternative) Usable() bool {
	return !slices.ContainsFunc(a, func(s Scheme) bool { return !s.usable() })
}

// String is the schemes in words, each with its name on the card.
func (a Alternative) String() string {
	var words []string
	for _, scheme := range a {
		words = append(words, quote(scheme.Name)+" ("+scheme.String()+")")
	}
	return strings.Join(words, " and ")
}

// NoCredentialsError is a call that was not made because the agent's card asks
// for credentials and there are none: [Config.Headers] and what
// [Config.Credentials] returned are empty, and the guard has no client
// certificate. Nothing was sent.
type NoCredentialsError struct {
	// Alternatives are what the card asks for, of which one is enough.
	Alternatives []Alternative
}

func (e *NoCredentialsError) Error() string {
	text := "the agent's card asks for credentials, and none were given: "
	if !e.Usable() {
		text = "the agent's card asks for credentials, all of a kind that can not be given here: "
	}
	const listed = 8
	var words []string
	for _, alternative := range e.Alternatives[:min(len(e.Alternatives), listed)] {
		words = append(words, alternative.String())
	}
	if len(e.Alternatives) > listed {
		words = append(words, "others")
	}
	return text + bounded(strings.Join(words, ", or "))
}

// Usable reports whether any of the alternatives is, see [Alternative.Usable].
func (e *NoCredentialsError) Usable() bool {
	return slices.ContainsFunc(e.Alternatives, Alternative.Usable)
}

// anonymous is the error of a call without credentials, nil where the card
// allows such calls.
func (c *Card) anonymous() error {
	all := c.Security()
	if len(all) == 0 || slices.ContainsFunc(all, func(a Alternative) bool { return len(a) == 0 }) {
		return nil
	}
	return &NoCredentialsError{Alternatives: all}
}
