package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
)

const (
	// SkillExtension names the skill that shall answer a message: under this
	// name message.metadata holds {"skillId": "…"}. It is honoured whether or
	// not the request asks for it.
	SkillExtension = "urn:legation:skill:v1"

	// RetryExtension says on a card that the same message, sent again by the
	// same caller, joins the task it went to.
	RetryExtension = "urn:legation:retry:v1"
)

// Stability says how far an extension may still change.
type Stability string

// The stages of an extension.
const (
	Stable       Stability = "stable"
	Experimental Stability = "experimental"
)

// Extension is an extension of the protocol that this server knows.
type Extension struct {
	URI         string
	Stability   Stability
	Places      string // where it travels
	Description string // as on the card
}

// Extensions lists what every card announces, none of it required.
func Extensions() []Extension {
	return []Extension{
		{
			URI: SkillExtension, Stability: Stable,
			Places:      "message.metadata, message.extensions, the A2A-Extensions header",
			Description: "Chooses the skill that answers a message.",
		},
		{
			URI: RetryExtension, Stability: Stable,
			Places:      "the agent card",
			Description: "The same message sent again joins the task it went to.",
		},
	}
}

// announced adds ours to the extensions of a card. One that the card has
// already stays as it is.
func announced(own []a2a.AgentExtension, retry time.Duration) []a2a.AgentExtension {
	all := slices.Clone(own)
	for _, known := range Extensions() {
		if slices.ContainsFunc(own, func(e a2a.AgentExtension) bool { return e.URI == known.URI }) {
			continue
		}
		extension := a2a.AgentExtension{URI: known.URI, Description: known.Description}
		if known.URI == RetryExtension {
			if retry < 0 {
				continue
			}
			extension.Params = a2a.Struct(`{"window":"` + shortDuration(retry) + `"}`)
		}
		all = append(all, extension)
	}
	return all
}

// shortDuration writes 720h, not 720h0m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
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
