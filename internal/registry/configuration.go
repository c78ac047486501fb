package registry

// Configuration is a provider, a model, a system prompt, parameters, tools and
// limits under one name: what is published and run.
type Configuration struct {
	// Provider names the provider that answers.
	Provider Name `json:"provider"`

	// Model is the provider's name of the model. Required for openai, and for
	// nothing else.
	Model string `json:"model,omitzero" max:"256"`

	// SystemPrompt is put in front of every conversation.
	SystemPrompt string `json:"systemPrompt,omitzero" max:"262144"`

	// DataClass is the class of the system prompt. A run carries the highest
	// class that it has touched.
	DataClass DataClass `json:"dataClass,omitzero" default:"internal"`

	// Parameters are passed on to the model. What is left out is the provider's
	// to choose.
	Parameters Parameters `json:"parameters,omitzero"`

	// Fallback names the configuration to use when the provider cannot answer.
	Fallback Name `json:"fallback,omitzero"`

	// Tools are what the model may use.
	Tools Tools `json:"tools,omitzero"`

	// Approval says whether a person has to agree before a tool is used. The
	// stricter of this and the remote agent's own rule applies.
	Approval Approval `json:"approval,omitzero" default:"never"`

	// Limits bound one run.
	Limits RunLimits `json:"limits,omitzero"`

	// Prices turn tokens into cost. Without them runs cost nothing, and limits
	// of cost never bite.
	Prices Prices `json:"prices,omitzero"`
}

// Parameters are passed on to the model.
type Parameters struct {
	// Temperature is how freely the model chooses its words.
	Temperature *float64 `json:"temperature,omitzero" range:"0..2"`

	// TopP leaves out the words that are least probable.
	TopP *float64 `json:"topP,omitzero" range:"0..1"`

	// MaxOutputTokens bounds one answer of the model.
	MaxOutputTokens int64 `json:"maxOutputTokens,omitzero" range:"1..10000000"`

	// Seed makes answers repeatable where the provider can.
	Seed *int64 `json:"seed,omitzero" range:"-9007199254740991..9007199254740991"`

	// Stop are texts that end an answer.
	Stop []string `json:"stop,omitzero" max:"16"`
}

// Tools are what a model may use.
type Tools struct {
	// RemoteAgents are skills of remote agents that work may be handed to.
	RemoteAgents []SkillRef `json:"remoteAgents,omitzero" max:"64"`
}

// RunLimits bound one run.
type RunLimits struct {
	// Rounds is how many model calls a run may make.
	Rounds int64 `json:"rounds,omitzero" default:"5" range:"1..20"`

	// WorkingTime ends a run that is still working.
	WorkingTime Duration `json:"workingTime,omitzero" default:"1h" range:"1s..24h"`

	// ApprovalWait ends a run that has waited this long for an approval.
	ApprovalWait Duration `json:"approvalWait,omitzero" default:"24h" range:"1m..30d"`

	// InputWait ends a run that has waited this long for an answer.
	InputWait Duration `json:"inputWait,omitzero" default:"24h" range:"1m..30d"`

	// Tokens is how many tokens a run may use, read and written together.
	Tokens int64 `json:"tokens,omitzero" default:"200000" range:"1..1000000000"`

	// Cost is what a run may cost.
	Cost Cost `json:"cost,omitzero" default:"5" range:"0.000001..1000000"`
}

// Prices are per million tokens.
type Prices struct {
	// Input is the price of a million tokens read.
	Input Cost `json:"input,omitzero" range:"0.000001..1000000"`

	// Output is the price of a million tokens written.
	Output Cost `json:"output,omitzero" range:"0.000001..1000000"`
}

// Kind returns [KindConfiguration].
func (*Configuration) Kind() Kind { return KindConfiguration }

func (c *Configuration) rules(r *reporter) {
	unique(r, "tools.remoteAgents", c.Tools.RemoteAgents)
	unique(r, "parameters.stop", c.Parameters.Stop)
}
