package main

import (
	"context"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// ends puts nothing out; without text the state comes without a message.
func ends(state a2a.TaskState, text string) agent.Func {
	return func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
		outcome := agent.Outcome{State: state}
		if text != "" {
			outcome.Message = a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(text))
		}
		return outcome, nil
	}
}

// makes puts out one artifact.
func makes(part a2a.Part) agent.Func {
	return func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
		whole := a2a.Artifact{Name: "output", Parts: []a2a.Part{part}}
		return agent.Completed(), out.Artifact(ctx, whole, agent.Chunk{Last: true})
	}
}

// pieces puts out one artifact, text by text.
func pieces(texts ...string) agent.Func {
	return func(ctx context.Context, _ agent.Turn, out agent.Output) (agent.Outcome, error) {
		for i, text := range texts {
			if err := piece(ctx, out, text, i == len(texts)-1); err != nil {
				return agent.Outcome{}, err
			}
		}
		return agent.Completed(), nil
	}
}

// piece appends to the turn's artifact; the engine starts it where there is
// none yet.
func piece(ctx context.Context, out agent.Output, text string, last bool) error {
	part := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(text)}}
	return out.Artifact(ctx, part, agent.Chunk{Append: true, Last: last})
}

// after waits before it goes on.
func after(pause time.Duration, next agent.Func) agent.Func {
	return func(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
		if err := wait(ctx, pause); err != nil {
			return agent.Outcome{}, err
		}
		return next(ctx, turn, out)
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// echo returns the text, which may be empty.
func echo(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	return makes(a2a.TextPart(turn.Message.Text()))(ctx, turn, out)
}

// multiTurn asks, without words, until it is told that this was all.
func multiTurn(_ context.Context, turn agent.Turn, _ agent.Output) (agent.Outcome, error) {
	if strings.TrimSpace(firstText(turn.Message)) == "done" {
		return agent.Completed(), nil
	}
	return agent.Outcome{State: a2a.TaskStateInputRequired}, nil
}

// untilCanceled works until somebody ends it; the engine does after its longest
// run.
func untilCanceled(ctx context.Context, _ agent.Turn, _ agent.Output) (agent.Outcome, error) {
	<-ctx.Done()
	return agent.Outcome{}, context.Cause(ctx)
}
