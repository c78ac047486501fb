package config

import (
	"fmt"
	"regexp"
	"strings"
)

// Publication is one skill to publish and what answers for it.
type Publication struct {
	Agent string // empty: the default agent
	Skill string

	// Exactly one of these says what answers.
	Echo    bool
	Model   string // of the OpenAI-compatible endpoint
	Command string // a command line, split into arguments without a shell
}

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ParsePublication reads "NAME=PROGRAM ARG …", "NAME=openai:MODEL" or
// "NAME=echo:". NAME is SKILL, or AGENT/SKILL for an agent of its own.
func ParsePublication(text string) (Publication, error) {
	left, target, found := strings.Cut(text, "=")
	if !found {
		return Publication{}, fmt.Errorf("%q is not NAME=WHAT, for example 'wordcount=wc -w'", text)
	}
	p := Publication{Skill: left}
	if agent, skill, ok := strings.Cut(left, "/"); ok {
		p.Agent, p.Skill = agent, skill
		if !name.MatchString(p.Agent) {
			return Publication{}, badName("an agent", p.Agent)
		}
	}
	if !name.MatchString(p.Skill) {
		return Publication{}, badName("a skill", p.Skill)
	}
	target = strings.TrimSpace(target)
	switch model, isModel := strings.CutPrefix(target, "openai:"); {
	case target == "":
		return Publication{}, fmt.Errorf("%q does not say what answers; give a program, echo: or openai:MODEL", text)
	case target == "echo:":
		p.Echo = true
	case isModel && model == "":
		return Publication{}, fmt.Errorf("%q names no model, for example %s=openai:gpt-4o-mini", text, left)
	case isModel:
		p.Model = model
	default:
		p.Command = target
	}
	return p, nil
}

func badName(what, text string) error {
	return fmt.Errorf("%q is not a name of %s: use letters, digits, '.', '_' and '-', at most 63", text, what)
}

// ParseDefaultSkill reads "SKILL" or "AGENT/SKILL".
func ParseDefaultSkill(text string) (agent, skill string, err error) {
	skill = text
	if before, after, ok := strings.Cut(text, "/"); ok {
		agent, skill = before, after
		if !name.MatchString(agent) {
			return "", "", badName("an agent", agent)
		}
	}
	if !name.MatchString(skill) {
		return "", "", badName("a skill", skill)
	}
	return agent, skill, nil
}
