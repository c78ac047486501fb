package app

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/provider/command"
	"github.com/legation/legation/internal/provider/echo"
	"github.com/legation/legation/internal/provider/openai"
	"github.com/legation/legation/server"
)

// Published is a skill and what answers for it.
type Published struct {
	Agent  string // empty: the default agent
	Skill  a2a.AgentSkill
	Answer agent.Agent
}

// skills are all that is published. It implements task.Agents.
type skills []Published

// Agent finds what answers for a skill.
func (s skills) Agent(name, skill string) (agent.Agent, bool) {
	for _, p := range s {
		if p.Agent == name && p.Skill.ID == skill {
			return p.Answer, true
		}
	}
	return nil, false
}

// publish builds what the configuration names.
func publish(cfg config.Config, extra []Published, log *slog.Logger) (skills, error) {
	all := skills(extra)
	var errs []error
	for _, text := range cfg.Publish {
		p, err := config.ParsePublication(text)
		if err == nil {
			var one Published
			if one, err = build(p, cfg, log); err == nil {
				if _, taken := all.Agent(p.Agent, p.Skill); taken {
					err = fmt.Errorf("%q is published twice", p.Skill)
				}
				all = append(all, one)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--publish: %w", err))
		}
	}
	return all, errors.Join(errs...)
}

// build makes what answers for one publication, and the text of its skill.
func build(p config.Publication, cfg config.Config, log *slog.Logger) (Published, error) {
	log = log.With("skill", p.Skill)
	skill := a2a.AgentSkill{ID: p.Skill, Name: p.Skill}
	var answer agent.Agent
	var err error
	switch {
	case p.Echo:
		answer = echo.New()
		skill.Description = "Returns what it was sent."
		skill.Tags = []string{"echo"}
		skill.InputModes, skill.OutputModes = []string{"*/*"}, []string{"*/*"}
	case p.Model != "":
		answer, err = model(p.Model, cfg.OpenAI, log)
		skill.Description = "Answers with the language model " + p.Model + "."
		skill.Tags = []string{"chat"}
		skill.InputModes, skill.OutputModes = []string{"text/plain", "application/json"}, []string{"text/plain"}
	default:
		var program []string
		if program, err = command.Parse(p.Command); err != nil {
			break
		}
		if p.Command == "echo" {
			log.Warn("the program echo reads no input; to return what is sent, publish echo: with a colon")
		}
		answer, err = command.New(command.Config{Program: program, Env: programEnv(cfg.PassEnv), Timeout: cfg.RunTimeout, MaxOutput: int64(cfg.MaxTask), Logger: log})
		skill.Description = "Runs a program on the text of the message and returns what it puts out."
		skill.Tags = []string{"program"}
		skill.InputModes, skill.OutputModes = []string{"text/plain"}, []string{"text/plain"}
	}
	if err != nil {
		return Published{}, fmt.Errorf("skill %q: %w", p.Skill, err)
	}
	return Published{Agent: p.Agent, Skill: skill, Answer: answer}, nil
}

// programEnv is the environment that a published program starts with.
func programEnv(pass []string) []string {
	var env []string
	for _, name := range append([]string{"PATH", "HOME", "LANG", "TMPDIR"}, pass...) {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// model reaches an OpenAI-compatible endpoint through the guard. The host that
// the operator named may be on this machine or network; nothing else may.
func model(name string, endpoint config.OpenAI, log *slog.Logger) (agent.Agent, error) {
	base := cmp.Or(endpoint.BaseURL, "https://api.openai.com/v1")
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("OPENAI_BASE_URL %q is not an absolute URL", base)
	}
	if endpoint.Key == "" && endpoint.BaseURL == "" {
		return nil, errors.New("OPENAI_API_KEY is not set; set it, or set OPENAI_BASE_URL to an endpoint that needs no key")
	}
	out, err := guard.New(guard.Policy{AllowHosts: []string{u.Host}})
	if err != nil {
		return nil, err
	}
	return openai.New(openai.Config{BaseURL: base, Key: endpoint.Key, Model: name, HTTPClient: out.HTTP(), Logger: log})
}

// budgeted reports whether an agent keeps to the token budget of a turn.
func budgeted(a agent.Agent) bool {
	b, ok := a.(agent.Budgeted)
	return ok && b.Budgeted()
}

// cards describes the published agents, one card each.
func (s skills) cards(cfg config.Config) ([]server.Agent, error) {
	var agents []server.Agent
	at := make(map[string]int)
	for _, p := range s {
		i, known := at[p.Agent]
		if !known {
			i = len(agents)
			at[p.Agent] = i
			agents = append(agents, server.Agent{Name: p.Agent, Card: a2a.AgentCard{
				Name:               cmp.Or(p.Agent, cfg.Name),
				Version:            "1.0.0",
				Capabilities:       a2a.AgentCapabilities{Streaming: new(true)},
				DefaultInputModes:  []string{"text/plain"},
				DefaultOutputModes: []string{"text/plain"},
			}, TokenBudget: true})
		}
		agents[i].TokenBudget = agents[i].TokenBudget && budgeted(p.Answer)
		agents[i].Card.Skills = append(agents[i].Card.Skills, p.Skill)
	}
	for i := range agents {
		var names []string
		for _, skill := range agents[i].Card.Skills {
			names = append(names, skill.ID)
		}
		agents[i].Card.Description = "An agent published by Legation. Skills: " + strings.Join(names, ", ") + "."
	}
	for _, text := range cfg.DefaultSkills {
		name, skill, err := config.ParseDefaultSkill(text)
		if err != nil {
			return nil, fmt.Errorf("--default-skill: %w", err)
		}
		i, known := at[name]
		if _, published := s.Agent(name, skill); !known || !published {
			return nil, fmt.Errorf("--default-skill %s: no such skill is published", text)
		}
		agents[i].DefaultSkill = skill
	}
	return agents, nil
}
