package app

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/registry"
)

// cardOf is the card of a registered agent, as far as its document says it.
func cardOf(name registry.Name, spec *registry.Agent) a2a.AgentCard {
	form := a2a.AgentCard{
		Name:               cmp.Or(spec.Card.Name, string(name)),
		Description:        spec.Card.Description,
		Version:            cmp.Or(spec.Card.Version, "1.0.0"),
		DocumentationURL:   given(spec.Card.DocumentationURL),
		IconURL:            given(spec.Card.IconURL),
		Capabilities:       a2a.AgentCapabilities{Streaming: new(true)},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
	}
	if spec.Organization.Name != "" {
		form.Provider = &a2a.AgentProvider{Organization: spec.Organization.Name, URL: string(spec.Organization.URL)}
	}
	for _, extension := range spec.Extensions {
		form.Capabilities.Extensions = append(form.Capabilities.Extensions, a2a.AgentExtension{
			URI: string(extension.URI), Required: extension.Required,
		})
	}
	return form
}

func given(url registry.URL) *string {
	if url == "" {
		return nil
	}
	return new(string(url))
}

func skillOf(skill registry.Skill) a2a.AgentSkill {
	tags := skill.Tags
	if len(tags) == 0 {
		tags = []string{string(skill.ID)} // a2a.proto AgentSkill.tags is required
	}
	return a2a.AgentSkill{
		ID: string(skill.ID), Name: cmp.Or(skill.Name, string(skill.ID)), Description: skill.Description,
		Tags: tags, Examples: skill.Examples,
		InputModes: skill.InputModes, OutputModes: skill.OutputModes,
	}
}

// security says how those prove themselves who may use an agent. Each of its
// clients' credentials is an alternative; where only this machine is
// served there is nothing to say.
func security(set registry.Set, agent registry.Name, exposed bool) (map[string]a2a.SecurityScheme, []a2a.SecurityRequirement) {
	s := schemes{all: map[string]a2a.SecurityScheme{}}
	for _, doc := range set.Documents {
		client, ok := doc.Spec.(*registry.RemoteClient)
		if !ok {
			continue
		}
		if mayUse(client, agent) {
			s.add(client.Credentials)
		}
	}
	if !exposed && !registered(set) {
		return nil, nil
	}
	if len(s.alternatives) == 0 {
		s.key() // nobody may call yet, and nobody without a credential ever
	}
	return s.all, s.alternatives
}

func mayUse(client *registry.RemoteClient, agent registry.Name) bool {
	for _, ref := range client.Skills {
		if name, _ := ref.Split(); name == agent {
			return true
		}
	}
	return false
}

// schemes collects alternatives, each once.
type schemes struct {
	all          map[string]a2a.SecurityScheme
	alternatives []a2a.SecurityRequirement
	issuers      []string
}

func (s *schemes) add(credentials registry.Credentials) {
	if len(credentials.APIKeys) > 0 {
		s.key()
	}
	for _, identity := range credentials.OIDC {
		s.issuer(string(identity.Issuer))
	}
	if len(credentials.MTLS) > 0 {
		s.put("mtls", &a2a.MutualTlsSecurityScheme{})
	}
}

func (s *schemes) key() {
	s.put("apiKey", &a2a.APIKeySecurityScheme{Location: "header", Name: access.HeaderKey})
	s.put("bearerKey", &a2a.HTTPAuthSecurityScheme{Scheme: "Bearer", Description: "The same key as a bearer token."})
}

func (s *schemes) issuer(issuer string) {
	for _, known := range s.issuers {
		if known == issuer {
			return
		}
	}
	s.issuers = append(s.issuers, issuer)
	name := "oidc"
	if n := len(s.issuers); n > 1 {
		name = fmt.Sprintf("oidc%d", n)
	}
	s.put(name, &a2a.OpenIdConnectSecurityScheme{
		OpenIDConnectURL: strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration",
	})
}

func (s *schemes) put(name string, scheme a2a.SecuritySchemeVariant) {
	if _, known := s.all[name]; known {
		return
	}
	s.all[name] = a2a.SecurityScheme{Scheme: scheme}
	s.alternatives = append(s.alternatives, a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{name: {}}})
}
