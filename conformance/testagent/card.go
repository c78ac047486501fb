package main

import "github.com/legation/legation/a2a"

// requiredExtension is what kits look for to learn whether an agent insists on
// an extension that it declares required.
const requiredExtension = "urn:a2a:tck:required-extension"

const skill = "scripted"

// card is what the agent says of itself. Only one that insists declares the
// extension required; who sees that card is [handler]'s to decide.
func card(on, insists bool) a2a.AgentCard {
	c := a2a.AgentCard{
		Name:               "Scripted test agent",
		Description:        "Does what the prefix of a message's id, or of its text, says. For conformance kits, SDK clients and load drivers.",
		Version:            "1.0.0",
		DefaultInputModes:  inputModes(),
		DefaultOutputModes: []string{"text/plain", "application/json"},
		Skills: []a2a.AgentSkill{{
			ID: skill, Name: "Scripted behaviours",
			Description: "Plays the script whose name the message begins with; echoes the text if there is none.",
			Tags:        []string{"test", "conformance"},
			Examples:    []string{"tck-complete-task", "tck-input-required", "stream:100:0", "anything else"},
		}},
	}
	if on {
		c.Capabilities.Streaming = new(true)
		c.Capabilities.Extensions = []a2a.AgentExtension{{
			URI: requiredExtension, Required: insists,
			Description: "Has no meaning but to be asked for.",
		}}
	}
	return c
}

// inputModes are listed one by one: kits send types that do not exist and want
// them refused.
func inputModes() []string {
	return []string{
		"text/plain", "text/markdown", "text/html", "text/csv",
		"application/json", "application/xml", "application/pdf", "application/zip", "application/octet-stream",
		"image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml",
		"audio/mpeg", "audio/wav", "audio/ogg", "video/mp4", "video/webm",
	}
}
