package registry

// Progress says how much of a run its task shows.
type Progress string

// The degrees of detail.
const (
	ProgressNone     Progress = "none"
	ProgressCoarse   Progress = "coarse"
	ProgressDetailed Progress = "detailed"
)

func (Progress) values() []string {
	return []string{string(ProgressNone), string(ProgressCoarse), string(ProgressDetailed)}
}

// Agent is an endpoint with a card and one or more published skills.
type Agent struct {
	// Root serves the agent at the root instead of under /agents/NAME/. One
	// agent at most may ask for it.
	Root bool `json:"root,omitzero"`

	// Card is what the agent says of itself.
	Card CardText `json:"card"`

	// Organization is who provides the agent.
	Organization Organization `json:"organization,omitzero"`

	// Skills are what the agent publishes.
	Skills []Skill `json:"skills" max:"256"`

	// DefaultSkill answers messages that name no skill.
	DefaultSkill SkillID `json:"defaultSkill,omitzero"`

	// SigningKeys name the secrets that hold the keys which sign the card;
	// several while keys are rotated. Left out, the card is not signed.
	SigningKeys []SecretName `json:"signingKeys,omitzero" max:"8"`

	// Extensions are further extensions that the card announces.
	Extensions []Extension `json:"extensions,omitzero" max:"32"`
}

// CardText is the text of a card.
type CardText struct {
	// Name is the agent's name on its card. Left out, it is the document's.
	Name string `json:"name,omitzero" max:"256"`

	// Description says what the agent is for.
	Description string `json:"description" max:"4096"`

	// Version is the agent's version.
	Version string `json:"version,omitzero" default:"1.0.0" max:"64"`

	// DocumentationURL leads to a page for people.
	DocumentationURL URL `json:"documentationURL,omitzero"`

	// IconURL leads to a picture.
	IconURL URL `json:"iconURL,omitzero"`
}

// Organization is who provides an agent.
type Organization struct {
	// Name is the organization's name.
	Name string `json:"name" max:"256"`

	// URL leads to the organization.
	URL URL `json:"url"`
}

// Skill is a configuration, published.
type Skill struct {
	// ID is the skill's id, unique within the agent.
	ID SkillID `json:"id" key:"true"`

	// Configuration names what answers.
	Configuration Name `json:"configuration"`

	// Name is the skill's name for people. Left out, it is the id.
	Name string `json:"name,omitzero" max:"256"`

	// Description says what the skill does.
	Description string `json:"description" max:"4096"`

	// Tags are words to find the skill by.
	Tags []string `json:"tags,omitzero" max:"32"`

	// Examples are messages that the skill is good for.
	Examples []string `json:"examples,omitzero" max:"32"`

	// InputModes are the media types the skill takes. Left out, it is
	// text/plain.
	InputModes []string `json:"inputModes,omitzero" max:"32"`

	// OutputModes are the media types the skill gives. Left out, it is
	// text/plain.
	OutputModes []string `json:"outputModes,omitzero" max:"32"`

	// Progress says how much of a run its task shows.
	Progress Progress `json:"progress,omitzero" default:"coarse"`

	// Public puts the skill on the card that everybody may read. Otherwise it is
	// on the extended card of the remote clients that may use it.
	Public bool `json:"public,omitzero"`
}

// Extension is an extension of the protocol.
type Extension struct {
	// URI identifies the extension and its version.
	URI URI `json:"uri" key:"true"`

	// Required refuses callers that do not use the extension.
	Required bool `json:"required,omitzero"`
}

// Kind returns [KindAgent].
func (*Agent) Kind() Kind { return KindAgent }

func (a *Agent) rules(r *reporter) {
	r.needs(len(a.Skills) > 0, "skills", "publish at least one skill, or delete the agent")
	uniqueKey(r, "skills", a.Skills, func(s Skill) SkillID { return s.ID })
	uniqueKey(r, "extensions", a.Extensions, func(e Extension) URI { return e.URI })
	unique(r, "signingKeys", a.SigningKeys)
	if a.DefaultSkill != "" {
		ids := make([]SkillID, len(a.Skills))
		for i, s := range a.Skills {
			ids[i] = s.ID
		}
		known(r, "defaultSkill", a.DefaultSkill, ids, "this agent has no skill")
	}
	for i, s := range a.Skills {
		at := index("skills", i)
		unique(r, at+".tags", s.Tags)
		mediaTypes(r, at+".inputModes", s.InputModes)
		mediaTypes(r, at+".outputModes", s.OutputModes)
	}
}
