package registry

// ProviderType says what a provider is.
type ProviderType string

// The types of providers.
const (
	ProviderOpenAI  ProviderType = "openai"
	ProviderCommand ProviderType = "command"
	ProviderEcho    ProviderType = "echo"
)

func (ProviderType) values() []string {
	return []string{string(ProviderOpenAI), string(ProviderCommand), string(ProviderEcho)}
}

// Provider is a connection to something that answers a model call.
type Provider struct {
	// Type says what answers: openai for every compatible endpoint, command for
	// a program, echo for nothing but the question.
	Type ProviderType `json:"type"`

	// BaseURL is where an openai endpoint is, with its version: the part before
	// /chat/completions. Required for openai, and for nothing else.
	BaseURL URL `json:"baseURL,omitzero"`

	// Secret names the API key of an openai endpoint. Left out, no key is sent.
	Secret SecretName `json:"secret,omitzero"`

	// Program names a program that the server's own configuration declares.
	// Required for command. A document cannot bring a command line.
	Program Name `json:"program,omitzero"`

	// Zone is the highest data class that the provider may receive.
	Zone DataClass `json:"zone,omitzero" default:"internal"`

	// Exceptions are hosts and ranges that may be reached although they are not
	// public or not https.
	Exceptions []Exception `json:"exceptions,omitzero" max:"64"`
}

// Kind returns [KindProvider].
func (*Provider) Kind() Kind { return KindProvider }

func (p *Provider) rules(r *reporter) {
	openAI, command := p.Type == ProviderOpenAI, p.Type == ProviderCommand
	r.only(openAI, p.BaseURL != "", "baseURL", "a provider of type openai")
	r.only(openAI, len(p.Exceptions) > 0, "exceptions", "a provider of type openai")
	r.only(openAI, p.Secret != "", "secret", "a provider of type openai")
	r.only(command, p.Program != "", "program", "a provider of type command")
	if openAI {
		r.needs(p.BaseURL != "", "baseURL", "say where the endpoint is, for example https://api.openai.com/v1")
		r.url("baseURL", p.BaseURL, p.Exceptions)
	}
	if command {
		r.needs(p.Program != "", "program", "name a program that the server's configuration declares")
	}
	unique(r, "exceptions", p.Exceptions)
}
