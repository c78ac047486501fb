package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

// endpoint is one agent as it is served.
type endpoint struct {
	name   string
	tenant string
	card   served

	extended bool          // announced
	full     a2a.AgentCard // with the skills that are private
	private  []string      // ids of those
	signers  []card.Signer

	streaming    bool
	extensions   []string // supported, in the card's order
	required     []string // those of them that every request must ask for
	skills       []skill
	defaultSkill string
	inputs       modes // of messages to a skill that is no longer on the card
	outputs      modes
}

var agentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

func newEndpoint(ctx context.Context, agent Agent, public *url.URL, cfg Config) (*endpoint, error) {
	if agent.Name != "" && !agentName.MatchString(agent.Name) {
		return nil, errors.New("a name has letters, digits, dots, hyphens and underscores, at most 64, and begins with one of the first two")
	}
	form := completed(agent, public, cfg)
	if err := checkCard(agent, form); err != nil {
		return nil, err
	}
	e := &endpoint{
		name: agent.Name, tenant: agent.Tenant,
		full: form, private: agent.Private, signers: agent.Signers,
		extended:     form.Capabilities.ExtendedAgentCard != nil && *form.Capabilities.ExtendedAgentCard,
		streaming:    form.Capabilities.Streaming != nil && *form.Capabilities.Streaming,
		defaultSkill: agent.DefaultSkill,
		inputs:       newModes(form.DefaultInputModes),
		outputs:      newModes(form.DefaultOutputModes),
	}
	for _, extension := range form.Capabilities.Extensions {
		e.extensions = append(e.extensions, extension.URI)
		if extension.Required {
			e.required = append(e.required, extension.URI)
		}
	}
	for _, s := range form.Skills {
		e.skills = append(e.skills, newSkill(s, e))
	}
	form.Skills = e.shown(nil)
	var err error
	e.card, err = newServed(ctx, form, agent, cfg)
	return e, err
}

// shown are the skills of a card: the public ones, and what may be shown of the
// private ones.
func (e *endpoint) shown(may func(skill string) bool) []a2a.AgentSkill {
	skills := []a2a.AgentSkill{}
	for _, s := range e.full.Skills {
		if !slices.Contains(e.private, s.ID) || may != nil && may(s.ID) {
			skills = append(skills, s)
		}
	}
	return skills
}

// completed is the card as it is served: what the agent says, with what only
// the server knows.
func completed(agent Agent, public *url.URL, cfg Config) a2a.AgentCard {
	form := agent.Card
	path := agent.route()
	address := public.String() + path
	if path == "" {
		address += "/"
	}
	form.SupportedInterfaces = []a2a.AgentInterface{{
		URL: address, ProtocolBinding: a2a.BindingJSONRPC,
		Tenant: agent.Tenant, ProtocolVersion: a2a.ProtocolVersion,
	}}
	form.Capabilities.PushNotifications = nil
	if len(agent.Private) > 0 {
		form.Capabilities.ExtendedAgentCard = new(true)
	}
	form.Capabilities.Extensions = announced(agent, cfg.RetryWindow)
	return form
}

// checkCard refuses a card that callers could not use.
func checkCard(agent Agent, form a2a.AgentCard) error {
	switch {
	case len(form.DefaultInputModes) == 0:
		return errors.New("its card: defaultInputModes: must have at least one element")
	case len(form.DefaultOutputModes) == 0:
		return errors.New("its card: defaultOutputModes: must have at least one element")
	case len(form.Skills) == 0:
		return errors.New("its card: skills: must have at least one element")
	case len(form.Signatures) > 0:
		return errors.New("its card: signatures: the card is completed here, so an earlier signature does not cover it")
	}
	_, violations, err := a2a.Decode[a2a.AgentCard](form.AppendJSON(nil))
	if err != nil {
		return fmt.Errorf("its card: %w", err)
	}
	if len(violations) > 0 {
		return fmt.Errorf("its card: %s", violations)
	}
	var ids []string
	for _, s := range form.Skills {
		if slices.Contains(ids, s.ID) {
			return fmt.Errorf("its card: two skills have the id %q", s.ID)
		}
		ids = append(ids, s.ID)
	}
	for _, id := range agent.Private {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("its private skill %q is not one of its skills", id)
		}
	}
	if agent.DefaultSkill != "" && !slices.Contains(ids, agent.DefaultSkill) {
		return fmt.Errorf("its default skill %q is not one of its skills", agent.DefaultSkill)
	}
	for _, extension := range form.Capabilities.Extensions {
		if extension.URI == "" {
			return errors.New("its card: an extension has no uri")
		}
	}
	return nil
}
