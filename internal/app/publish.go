package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/server"
)

// Published is a skill and what answers for it.
type Published struct {
	Agent  string // empty: the default agent
	Skill  a2a.AgentSkill
	Answer agent.Agent
}

// skillKey names a skill of an agent.
type skillKey struct{ agent, skill string }

// catalog is what answers for every skill that is published now. It implements
// task.Agents.
type catalog struct {
	current atomic.Pointer[map[skillKey]answering]
}

// Agent finds what answers for a skill.
func (c *catalog) Agent(name, skill string) (agent.Agent, bool) {
	all := c.current.Load()
	if all == nil {
		return nil, false
	}
	found, ok := (*all)[skillKey{name, skill}]
	return found.Agent, ok
}

// class is the data class of what a skill may tell; public if there is none.
func (c *catalog) class(name, skill string) registry.DataClass {
	if all := c.current.Load(); all != nil {
		if found, ok := (*all)[skillKey{name, skill}]; ok {
			return found.class
		}
	}
	return registry.Public
}

// publisher serves the agents that are registered, and those written in Go.
type publisher struct {
	extra   []Published
	name    string // on the card of the default agent written in Go
	answers *answers
	vault   *vault.Vault
	log     *slog.Logger
	catalog catalog
	server  *server.Server
	set     func() registry.Set // what is registered now
	exposed bool                // see callers

	// since tells since when a card is what it is.
	since func(ctx context.Context, agent, digest string, now time.Time) (time.Time, error)

	mu       sync.Mutex // held while a set is published
	agents   []server.Agent
	troubles map[registry.ID][]string
	failure  error // of the last time, after which what was before is served on
}

// publish serves what is registered from now on. An agent that cannot be served
// is left out, with why, and is no trouble to the others.
func (p *publisher) publish(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure = p.replace(ctx); p.failure != nil {
		p.log.Error("agents could not be published; those before are served on", "error", p.failure)
	}
}

// replace serves what is registered, or what was served before if that cannot be
// done. The lock is held.
func (p *publisher) replace(ctx context.Context) error {
	set := p.set() // under the lock, so that what is newer is never undone
	found := map[skillKey]answering{}
	troubles := p.troubles
	p.troubles = map[registry.ID][]string{}
	agents, err := p.servable(ctx, set, found)
	if err != nil {
		p.troubles = troubles
		return err
	}
	// What is not on a card yet may be answered for; what is has to be.
	before := p.catalog.current.Swap(merged(p.catalog.current.Load(), found))
	if err := p.server.Publish(ctx, agents); err != nil {
		p.catalog.current.Store(before)
		p.troubles = troubles
		return err
	}
	p.agents = agents
	p.catalog.current.Store(&found)
	return nil
}

// servable are the agents that can be served. What the command line publishes
// comes first where two want the same address.
func (p *publisher) servable(ctx context.Context, set registry.Set, found map[skillKey]answering) ([]server.Agent, error) {
	written := p.written(set, found)
	agents := slices.Clone(written)
	documents := slices.DeleteFunc(slices.Clone(set.Documents), func(doc registry.Document) bool { return doc.Kind != registry.KindAgent })
	slices.SortStableFunc(documents, func(a, b registry.Document) int {
		switch {
		case a.Published == b.Published:
			return 0
		case a.Published:
			return -1
		}
		return 1
	})
	for _, doc := range documents {
		if err := taken(written, doc); err != nil {
			p.trouble(doc.ID(), err)
			continue
		}
		answers := maps.Clone(found)
		form, err := p.agent(ctx, set, doc, answers)
		if err == nil {
			err = p.server.Check(ctx, form, agents...)
		}
		if _, failed := errors.AsType[*unstoredError](err); failed {
			return nil, err
		}
		if err != nil {
			p.trouble(doc.ID(), err)
			continue
		}
		agents = append(agents, form)
		maps.Copy(found, answers)
	}
	return agents, nil
}

// refusal is why a server may not start with what was published at first: its
// own configuration asks for what cannot be. What is registered is no reason.
func (p *publisher) refusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return p.failure
	}
	for _, doc := range p.set().Documents {
		if reasons := p.troubles[doc.ID()]; doc.Published && doc.Kind == registry.KindAgent && len(reasons) > 0 {
			return fmt.Errorf("%s: %s", doc.ID(), strings.Join(reasons, "; "))
		}
	}
	return nil
}

// cardSince asks since when a card is what it is.
func (p *publisher) cardSince(ctx context.Context, agent, digest string, now time.Time) (time.Time, error) {
	since, err := p.since(ctx, agent, digest, now)
	if err != nil {
		return since, &unstoredError{err}
	}
	return since, nil
}

// unstoredError is that the store failed, which says nothing of an agent.
type unstoredError struct{ error }

func (e *unstoredError) Unwrap() error { return e.error }

// merged is what was answered for and what will be.
func merged(before *map[skillKey]answering, after map[skillKey]answering) *map[skillKey]answering {
	all := maps.Clone(after)
	if before != nil {
		for key, answer := range *before {
			if _, ok := all[key]; !ok {
				all[key] = answer
			}
		}
	}
	return &all
}

// trouble notes why something that is registered has no effect. The lock is held.
func (p *publisher) trouble(id registry.ID, err error) {
	p.troubles[id] = append(p.troubles[id], err.Error())
	p.log.Warn("not published", "document", id, "reason", err)
}

// Troubles returns why a document has no effect beyond what it says itself.
func (p *publisher) Troubles(id registry.ID) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.troubles[id])
}

// Agents returns what is served.
func (p *publisher) Agents() []server.Agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.agents)
}

// taken is why a registered agent cannot be served where it belongs, if an agent
// written in Go is there.
func taken(written []server.Agent, doc registry.Document) error {
	root := doc.Spec.(*registry.Agent).Root
	for _, one := range written {
		switch {
		case one.Name == string(doc.Name):
			return errors.New("an agent written in Go has its name")
		case root && one.Name == "":
			return errors.New("an agent written in Go is at the root")
		}
	}
	return nil
}

// written are the agents written in Go, one card each.
func (p *publisher) written(set registry.Set, found map[skillKey]answering) []server.Agent {
	var agents []server.Agent
	at := make(map[string]int)
	for _, one := range p.extra {
		i, known := at[one.Agent]
		if !known {
			i = len(agents)
			at[one.Agent] = i
			agents = append(agents, server.Agent{Name: one.Agent, Card: a2a.AgentCard{
				Name:               cmp.Or(one.Agent, p.name),
				Description:        "An agent published by Legation.",
				Version:            "1.0.0",
				Capabilities:       a2a.AgentCapabilities{Streaming: new(true)},
				DefaultInputModes:  []string{"text/plain"},
				DefaultOutputModes: []string{"text/plain"},
			}, TokenBudget: true})
			agents[i].Card.SecuritySchemes, agents[i].Card.SecurityRequirements = security(set, registry.Name(one.Agent), p.exposed)
		}
		agents[i].TokenBudget = agents[i].TokenBudget && budgeted(one.Answer)
		agents[i].Card.Skills = append(agents[i].Card.Skills, one.Skill)
		found[skillKey{one.Agent, one.Skill.ID}] = answering{one.Answer, registry.Public}
	}
	return agents
}

// agent makes what is served of a document.
func (p *publisher) agent(ctx context.Context, set registry.Set, doc registry.Document, found map[skillKey]answering) (server.Agent, error) {
	spec := registry.Effective(doc.Spec.(*registry.Agent))
	form := server.Agent{
		Name: string(doc.Name), Root: spec.Root, DefaultSkill: string(spec.DefaultSkill),
		Card: cardOf(doc.Name, spec), TokenBudget: true,
	}
	for _, one := range spec.Skills {
		skill := registry.Effective(&registry.Agent{Skills: []registry.Skill{one}}).Skills[0]
		answer, err := p.answers.of(set, skill.Configuration)
		if err != nil {
			p.trouble(doc.ID(), fmt.Errorf("skill %q: %w", skill.ID, err))
			continue
		}
		found[skillKey{form.Name, string(skill.ID)}] = answer
		form.TokenBudget = form.TokenBudget && budgeted(answer.Agent)
		form.Card.Skills = append(form.Card.Skills, skillOf(skill))
		if !skill.Public {
			form.Private = append(form.Private, string(skill.ID))
		}
	}
	if len(form.Card.Skills) == 0 {
		return form, errors.New("none of its skills can be served")
	}
	if !slices.ContainsFunc(form.Card.Skills, func(s a2a.AgentSkill) bool { return s.ID == form.DefaultSkill }) {
		form.DefaultSkill = ""
	}
	form.Card.SecuritySchemes, form.Card.SecurityRequirements = security(set, doc.Name, p.exposed)
	var err error
	form.Signers, err = signers(ctx, p.vault, spec.SigningKeys)
	return form, err
}

// budgeted reports whether an agent keeps to the token budget of a turn.
func budgeted(a agent.Agent) bool {
	b, ok := a.(agent.Budgeted)
	return ok && b.Budgeted()
}
