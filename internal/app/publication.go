package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/provider/command"
	"github.com/legation/legation/internal/registry"
)

// DefaultAgent is the name of the agent at the root that the command line
// publishes skills of when it names no agent.
const DefaultAgent = "default"

// declared is what the command line declares: documents, and the programs that
// documents may name.
type declared struct {
	documents []registry.Document
	programs  map[registry.Name][]string
}

// host is what documents may name of it.
func (d *declared) host() registry.Host {
	var h registry.Host
	for name := range d.programs {
		h.Programs = append(h.Programs, name)
	}
	slices.Sort(h.Programs)
	return h
}

// declare turns --publish, --program and --default-skill into documents, the
// same that a person could write.
func declare(cfg config.Config, log *slog.Logger) (*declared, error) {
	d := &declared{programs: map[registry.Name][]string{}}
	var errs []error
	for _, text := range cfg.Programs {
		if err := d.program(text); err != nil {
			errs = append(errs, fmt.Errorf("--program: %w", err))
		}
	}
	agents := map[registry.Name]*registry.Agent{}
	for _, text := range cfg.Publish {
		if err := d.publish(text, cfg, agents, log); err != nil {
			errs = append(errs, fmt.Errorf("--publish: %w", err))
		}
	}
	for _, text := range cfg.DefaultSkills {
		if err := setDefault(text, agents); err != nil {
			errs = append(errs, fmt.Errorf("--default-skill: %w", err))
		}
	}
	for name, agent := range agents {
		var ids []string
		for _, skill := range agent.Skills {
			ids = append(ids, string(skill.ID))
		}
		agent.Card.Description = "An agent published by Legation. Skills: " + strings.Join(ids, ", ") + "."
		d.documents = append(d.documents, registry.Document{Kind: registry.KindAgent, Name: name, Spec: agent})
	}
	return d, errors.Join(errs...)
}

// program declares a program that documents may name.
func (d *declared) program(text string) error {
	name, line, ok := strings.Cut(text, "=")
	if !ok || !label.MatchString(name) {
		return fmt.Errorf("%q is not NAME=PROGRAM, with a name of lower-case letters, digits and hyphens", text)
	}
	if d.programs[registry.Name(name)] != nil {
		return fmt.Errorf("%q is declared twice", name)
	}
	program, err := command.Parse(line)
	if err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	if _, err := command.New(command.Config{Program: program}); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	d.programs[registry.Name(name)] = program
	return nil
}

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// publish makes the documents of one publication.
func (d *declared) publish(text string, cfg config.Config, agents map[registry.Name]*registry.Agent, log *slog.Logger) error {
	p, err := config.ParsePublication(text)
	if err != nil {
		return err
	}
	agentName := registry.Name(cmp.Or(p.Agent, DefaultAgent))
	agent := agents[agentName]
	if agent == nil {
		agent = &registry.Agent{Root: p.Agent == "", Card: registry.CardText{Name: cmp.Or(p.Agent, cfg.Name)}}
		agents[agentName] = agent
	}
	if slices.ContainsFunc(agent.Skills, func(s registry.Skill) bool { return string(s.ID) == p.Skill }) {
		return fmt.Errorf("%q is published twice", p.Skill)
	}
	name := d.free(string(agentName) + "-" + p.Skill)
	skill := registry.Skill{ID: registry.SkillID(p.Skill), Configuration: name, Name: p.Skill, Public: true}
	provider := name
	switch {
	case p.Echo:
		provider = "echo"
		d.provider(provider, &registry.Provider{Type: registry.ProviderEcho, Zone: registry.Restricted})
		skill.Description = "Returns what it was sent."
		skill.Tags = []string{"echo"}
		skill.InputModes, skill.OutputModes = []string{"*/*"}, []string{"*/*"}
	case p.Model != "":
		provider = "openai"
		spec, err := endpoint(cfg.OpenAI)
		if err != nil {
			return fmt.Errorf("skill %q: %w", p.Skill, err)
		}
		d.provider(provider, spec)
		skill.Description = "Answers with the language model " + p.Model + "."
		skill.Tags = []string{"chat"}
		skill.InputModes, skill.OutputModes = []string{"text/plain", "application/json"}, []string{"text/plain"}
	default:
		if p.Command == "echo" {
			log.Warn("the program echo reads no input; to return what is sent, publish echo: with a colon")
		}
		if err := d.program(string(name) + "=" + p.Command); err != nil {
			return fmt.Errorf("skill %w", err)
		}
		d.provider(provider, &registry.Provider{Type: registry.ProviderCommand, Program: name, Zone: registry.Restricted})
		skill.Description = "Runs a program on the text of the message and returns what it puts out."
		skill.Tags = []string{"program"}
		skill.InputModes, skill.OutputModes = []string{"text/plain"}, []string{"text/plain"}
	}
	agent.Skills = append(agent.Skills, skill)
	d.documents = append(d.documents, registry.Document{
		Kind: registry.KindConfiguration, Name: name,
		Spec: &registry.Configuration{Provider: provider, Model: p.Model},
	})
	return nil
}

// provider adds a provider that several publications may share.
func (d *declared) provider(name registry.Name, spec *registry.Provider) {
	for _, doc := range d.documents {
		if doc.Kind == registry.KindProvider && doc.Name == name {
			return
		}
	}
	d.documents = append(d.documents, registry.Document{Kind: registry.KindProvider, Name: name, Spec: spec})
}

var unlabelled = regexp.MustCompile(`[^a-z0-9]+`)

// free is a name for a document, made from a text, that is not taken.
func (d *declared) free(text string) registry.Name {
	name := strings.Trim(unlabelled.ReplaceAllString(strings.ToLower(text), "-"), "-")
	name = strings.Trim(name[:min(len(name), 58)], "-")
	taken := func(n string) bool {
		return d.programs[registry.Name(n)] != nil || slices.ContainsFunc(d.documents, func(doc registry.Document) bool {
			return doc.Kind == registry.KindConfiguration && string(doc.Name) == n
		})
	}
	unique := name
	for n := 2; taken(unique); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return registry.Name(unique)
}

// endpoint is the provider that OPENAI_BASE_URL names. The host that the
// operator named may be on this machine or network; nothing else may.
func endpoint(settings config.OpenAI) (*registry.Provider, error) {
	base := cmp.Or(settings.BaseURL, "https://api.openai.com/v1")
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("OPENAI_BASE_URL %q is not an absolute URL", base)
	}
	if settings.Key == "" && settings.BaseURL == "" {
		return nil, errors.New("OPENAI_API_KEY is not set; set it, or set OPENAI_BASE_URL to an endpoint that needs no key")
	}
	return &registry.Provider{
		Type: registry.ProviderOpenAI, BaseURL: registry.URL(base),
		Exceptions: []registry.Exception{registry.Exception(u.Host)},
	}, nil
}

// setDefault names the skill that answers when a message names none.
func setDefault(text string, agents map[registry.Name]*registry.Agent) error {
	name, skill, err := config.ParseDefaultSkill(text)
	if err != nil {
		return err
	}
	agent := agents[registry.Name(cmp.Or(name, DefaultAgent))]
	if agent == nil || !slices.ContainsFunc(agent.Skills, func(s registry.Skill) bool { return string(s.ID) == skill }) {
		return fmt.Errorf("%s: no such skill is published", text)
	}
	agent.DefaultSkill = registry.SkillID(skill)
	return nil
}
