package main

import (
	"context"
	"slices"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// scripted is the agent: it plays the script that a message names. It is the
// only one, under whatever skill.
type scripted struct{}

var (
	_ agent.Responder  = scripted{}
	_ agent.Repeatable = scripted{}
)

// Agent implements task.Agents.
func (s scripted) Agent(string, string) (agent.Agent, bool) { return s, true }

// Run implements agent.Agent.
func (scripted) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	s, ok := choose(turn.Message)
	if !ok && turn.Number > 1 {
		var err error
		if s, ok, err = kept(ctx, turn.Memory); err != nil {
			return agent.Outcome{}, err
		}
	}
	if !ok {
		return echo(ctx, turn, out)
	}
	return s.play(ctx, turn, out)
}

// Respond implements agent.Responder.
func (scripted) Respond(_ context.Context, turn agent.Turn) (*a2a.Message, error) {
	if s, ok := choose(turn.Message); ok && s.reply != "" {
		return a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(s.reply)), nil
	}
	return nil, nil
}

// Repeatable implements agent.Repeatable: a script has no effect but its output.
func (scripted) Repeatable() bool { return true }

// kept returns the script that an earlier message of the task named, if it
// keeps to itself what follows.
func kept(ctx context.Context, memory agent.Memory) (script, bool, error) {
	history, err := memory.History(ctx)
	for _, message := range slices.Backward(history) {
		if message.Role != a2a.RoleUser {
			continue
		}
		if s, ok := choose(&message); ok {
			return s, s.keeps, err
		}
	}
	return script{}, false, err
}
