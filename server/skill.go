package server

import (
	"cmp"
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
		if refusal := c.mayUse(rec.Skill); refusal != nil {
			return skill{}, c.forbidden(refusal)
		}
		if s, ok := e.skill(rec.Skill); ok {
			return s, nil
		}
		return skill{id: rec.Skill, inputs: e.inputs, outputs: e.outputs}, nil
	}
	usable, refusal := c.usable()
	if len(usable) == 0 {
		return skill{}, c.forbidden(refusal)
	}
	named, err := namedSkill(m.Metadata)
	if err != nil {
		return skill{}, err
	}
	s, ok := find(usable, cmp.Or(named, e.defaultSkill))
	switch {
	case ok:
		return s, nil
	case named != "":
		// The same words whether the skill is not there or not for this caller.
		if _, there := e.skill(named); there {
			c.refusal("skill_not_allowed")
		}
		return s, invalid("message.metadata", "%s names the skill %q, which is not one of: %s", SkillExtension, cut(named), ids(usable))
	case len(usable) == 1:
		return usable[0], nil
	}
	return skill{}, invalid("message.metadata", `must name a skill, as in {"%s":{"skillId":"%s"}}; there are: %s`, SkillExtension, usable[0].id, ids(usable))
}

// usable are the skills of the agent that the caller may send messages to, and
// if there are none, why.
func (c *call) usable() ([]skill, *Refusal) {
	if c.caller.Rights == nil {
		return c.endpoint.skills, nil
	}
	var all []skill
	var refusal *Refusal
	for _, s := range c.endpoint.skills {
		if why := c.mayUse(s.id); why == nil {
			all = append(all, s)
		} else if refusal == nil {
			refusal = &Refusal{Status: why.Status, Code: why.Code, Reason: "this client may use no skill of this agent"}
		}
	}
	return all, refusal
}

func (c *call) mayUse(skill string) *Refusal {
	if c.caller.Rights == nil {
		return nil
	}
	return c.caller.Rights.MayUse(c.endpoint.name, skill)
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

func (e *endpoint) skill(id string) (skill, bool) { return find(e.skills, id) }

func find(skills []skill, id string) (skill, bool) {
	for _, s := range skills {
		if s.id == id {
			return s, true
		}
	}
	return skill{}, false
}

func ids(skills []skill) string {
	ids := make([]string, len(skills))
	for i, s := range skills {
		ids[i] = s.id
	}
	return strings.Join(ids, ", ")
}
