package server

import (
	"context"
	"strings"

	"github.com/legation/legation/a2a"
)

// skill is what can answer a message, and in which media types.
type skill struct {
	id      string
	inputs  modes
	outputs modes
}

// newSkill reads a skill of the card. Its own modes replace the card's
// (a2a.proto, AgentSkill.input_modes and output_modes).
func newSkill(form a2a.AgentSkill, e *endpoint) skill {
	s := skill{id: form.ID, inputs: e.inputs, outputs: e.outputs}
	if len(form.InputModes) > 0 {
		s.inputs = newModes(form.InputModes)
	}
	if len(form.OutputModes) > 0 {
		s.outputs = newModes(form.OutputModes)
	}
	return s
}

// skillFor finds who answers a message. A task keeps the skill it began with;
// otherwise the message may name one, then the agent's default counts, then
// the only one there is.
func (c *call) skillFor(ctx context.Context, m *a2a.Message) (skill, error) {
	e := c.endpoint
	if m.TaskID != "" {
		rec, err := c.server.engine.Task(ctx, c.owner, m.TaskID)
		if err != nil {
			return skill{}, err
		}
		if s, ok := e.skill(rec.Skill); ok {
			return s, nil
		}
		return skill{id: rec.Skill, inputs: e.inputs, outputs: e.outputs}, nil
	}
	named, err := namedSkill(m.Metadata)
	if err != nil {
		return skill{}, err
	}
	switch {
	case named != "":
		s, ok := e.skill(named)
		if !ok {
			return s, invalid("message.metadata", "%s names the skill %q, which is not one of: %s", SkillExtension, cut(named), e.skillIDs())
		}
		return s, nil
	case e.defaultSkill != "":
		s, _ := e.skill(e.defaultSkill)
		return s, nil
	case len(e.skills) == 1:
		return e.skills[0], nil
	}
	return skill{}, invalid("message.metadata", `must name a skill, as in {"%s":{"skillId":"%s"}}; there are: %s`, SkillExtension, e.skills[0].id, e.skillIDs())
}

// namedSkill reads the skill that a message asks for, if it does.
func namedSkill(metadata a2a.Struct) (string, error) {
	value, ok := metadata.Get(SkillExtension)
	if !ok {
		return "", nil
	}
	var form struct {
		SkillID string `json:"skillId"`
	}
	if err := value.Decode(&form); err != nil || form.SkillID == "" {
		return "", invalid("message.metadata", `%s must be an object like {"skillId":"…"}`, SkillExtension)
	}
	return form.SkillID, nil
}

func (e *endpoint) skill(id string) (skill, bool) {
	for _, s := range e.skills {
		if s.id == id {
			return s, true
		}
	}
	return skill{}, false
}

func (e *endpoint) skillIDs() string {
	ids := make([]string, len(e.skills))
	for i, s := range e.skills {
		ids[i] = s.id
	}
	return strings.Join(ids, ", ")
}
