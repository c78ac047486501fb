package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
)

const (
	// SkillExtension names the skill that shall answer a message: under this
	// name message.metadata holds {"skillId": "…"}. It is honoured whether or
	// not the request asks for it.
	SkillExtension = extension.Skill

	// RetryExtension says on a card that the same message, sent again by the
	// same caller, joins the task it went to.
	RetryExtension = extension.Retry

	// TokenBudgetExtension is how many tokens a turn may use: under this name
	// message.metadata holds {"maxTokens": N}. It is on the cards of agents that
	// keep to it ([Agent.TokenBudget]), and honoured there whether or not the
	// request asks for it. A message that continues a task says it again.
	TokenBudgetExtension = extension.TokenBudget
)

// Stability says how far an extension may still change.
type Stability string

// The stages of an extension.
const (
	Stable       Stability = Stability(extension.Stable)
	Experimental Stability = Stability(extension.Experimental)
)

// Extension is an extension of the protocol that this server knows.
type Extension struct {
	URI         string
	Stability   Stability
	Places      string // where it travels
	Description string // as on the card
}

// Extensions lists what cards announce, none of it required: every card the
// first two, and cards of agents with a token budget the third.
func Extensions() []Extension {
	var all []Extension
	for _, known := range extension.Known() {
		if !known.Acted {
			continue
		}
		places := make([]string, len(known.Places))
		for i, place := range known.Places {
			places[i] = string(place)
		}
		all = append(all, Extension{
			URI: known.URI, Stability: Stability(known.Stability),
			Places: strings.Join(places, ", "), Description: known.Description,
		})
	}
	return all
}

// announced adds ours to the extensions of a card. One that the card has
// already stays as it is.
func announced(agent Agent, retry time.Duration) []a2a.AgentExtension {
	own := agent.Card.Capabilities.Extensions
	all := slices.Clone(own)
	for _, known := range Extensions() {
		if slices.ContainsFunc(own, func(e a2a.AgentExtension) bool { return e.URI == known.URI }) {
			continue
		}
		added := a2a.AgentExtension{URI: known.URI, Description: known.Description}
		switch {
		case known.URI == RetryExtension && retry < 0, known.URI == TokenBudgetExtension && !agent.TokenBudget:
			continue
		case known.URI == RetryExtension:
			added.Params = extension.RetryParams(retry)
		}
		all = append(all, added)
	}
	return all
}

// checkExtensions notes in the answer which of the requested extensions are
// active, and refuses a request that does not ask for a required one
// (section 3.3.4).
func (c *call) checkExtensions() error {
	requested := requestedExtensions(c.r.Header)
	if len(requested) > 0 {
		var active []string
		for _, uri := range c.endpoint.extensions {
			if slices.Contains(requested, uri) {
				active = append(active, uri)
			}
		}
		if len(active) > 0 {
			c.w.Header().Set(a2a.HeaderExtensions, strings.Join(active, ", "))
		}
	}
	var missing []string
	for _, uri := range c.endpoint.required {
		if !slices.Contains(requested, uri) {
			missing = append(missing, uri)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, ", ")
	return &a2a.Error{
		Code:     a2a.CodeExtensionSupportRequired,
		Message:  "this agent requires extensions that the " + a2a.HeaderExtensions + " header must name: " + list,
		Metadata: map[string]string{"extensions": list},
	}
}

// maxExtensions bounds how many requested extensions are looked at.
const maxExtensions = 64

// requestedExtensions merges the lines of the header (section 3.2.6). URIs are
// compared as they are written.
func requestedExtensions(h http.Header) []string {
	var uris []string
	for _, line := range h.Values(a2a.HeaderExtensions) {
		for uri := range strings.SplitSeq(line, ",") {
			if uri = strings.TrimSpace(uri); uri == "" {
				continue
			}
			if uris = append(uris, uri); len(uris) == maxExtensions {
				return uris
			}
		}
	}
	return uris
}
