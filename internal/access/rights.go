package access

import "slices"

// Rights is what a client may do. The zero value is nothing.
type Rights struct {
	// Skills are those it may send messages to, one by one.
	Skills []Skill

	// Operations are the protocol's names of those it may call, or [Every].
	Operations []string

	// Zone is the highest class of data that the client may receive.
	Zone string
}

// Skill is a skill of an agent.
type Skill struct{ Agent, ID string }

// Every stands for all operations.
const Every = "*"

// Operation reports whether an operation may be called.
func (r Rights) Operation(name string) bool {
	return slices.Contains(r.Operations, name) || slices.Contains(r.Operations, Every)
}

// Skill reports whether messages may be sent to a skill.
func (r Rights) Skill(agent, id string) bool { return slices.Contains(r.Skills, Skill{agent, id}) }

// SkillsOf are the ids of an agent's skills that messages may be sent to.
func (r Rights) SkillsOf(agent string) []string {
	var ids []string
	for _, skill := range r.Skills {
		if skill.Agent == agent {
			ids = append(ids, skill.ID)
		}
	}
	return ids
}

// allow reports whether these rights allow everything that others do.
func (r Rights) allow(others Rights) bool {
	if r.Zone != others.Zone {
		return false // which of the two is the higher is not known here
	}
	for _, skill := range others.Skills {
		if !slices.Contains(r.Skills, skill) {
			return false
		}
	}
	for _, name := range others.Operations {
		if !r.Operation(name) {
			return false
		}
	}
	return true
}
