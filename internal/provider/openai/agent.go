package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/piece"
)

// Agent answers every turn with one call to a [Model], for many turns at once.
type Agent struct {
	model *Model
}

var (
	_ agent.Agent      = (*Agent)(nil)
	_ agent.Repeatable = (*Agent)(nil)
	_ agent.Budgeted   = (*Agent)(nil)
)

// New checks the configuration. Nothing is sent.
func New(cfg Config) (*Agent, error) {
	model, err := NewModel(cfg)
	if err != nil {
		return nil, err
	}
	return &Agent{model: model}, nil
}

// Repeatable is false: whether the model had answered is not written down
// anywhere, and a repeated call would then be paid twice.
func (*Agent) Repeatable() bool { return false }

// Budgeted is true: a turn makes one call, whose limits are set before it.
func (*Agent) Budgeted() bool { return true }

// Run sends the model what was said in the context and the turn's message, and
// puts out the answer as one artifact named "answer", in chunks, as it comes.
// Files are only mentioned to the model.
//
// An answer that a limit cut completes the task with "truncated" in its
// metadata. A refusal, of the model or of its content filter, rejects it; a
// call that failed and an answer without text fail it, with a reference to the
// log. A token budget limits what is sent along of what was said before, and
// the answer; one that leaves no answer rejects the task, and nothing is sent.
func (a *Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	asked, each := question(turn), 0
	if strings.TrimSpace(asked.Text) == "" {
		return agent.Rejected("the message is empty"), nil
	}
	if turn.MaxTokens > 0 {
		if least := a.model.least(asked); turn.MaxTokens < least {
			return agent.Rejected(fmt.Sprintf("the token budget of %d is too small: this message needs one of at least %d", turn.MaxTokens, least)), nil
		}
		each = aroundEach
	}
	messages, err := conversation(ctx, turn, asked, a.model.room(turn.MaxTokens, asked), each)
	if err != nil {
		return agent.Outcome{}, err
	}
	var answer Answer
	started := false
	err = piece.Stream(ctx, func(ctx context.Context, w *piece.Writer) (err error) {
		answer, err = a.model.Complete(ctx, messages, turn.MaxTokens, func(text string) error {
			_, err := w.Write([]byte(text))
			return err
		})
		return err
	}, func(p []byte, last bool) error {
		chunk := agent.Chunk{Append: started, Last: last}
		artifact := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(string(p))}}
		if !started {
			artifact.Name = "answer"
		}
		started = true
		return out.Artifact(ctx, artifact, chunk)
	})
	if err != nil {
		failure, ok := errors.AsType[*Error](err)
		if !ok {
			return agent.Outcome{}, err
		}
		outcome := a.failed(turn, failure)
		outcome.Tokens, outcome.Cost = answer.Tokens, answer.Cost
		return outcome, nil
	}
	outcome, err := a.outcome(turn, answer, started)
	outcome.Tokens, outcome.Cost = answer.Tokens, answer.Cost
	if turn.MaxTokens > 0 && answer.Tokens > turn.MaxTokens {
		a.model.log.Warn("the model endpoint says that a call used more than it was limited to",
			"task", turn.TaskID, "tokens", answer.Tokens, "budget", turn.MaxTokens)
	}
	return outcome, err
}

// outcome is how a turn ended that the model answered.
func (a *Agent) outcome(turn agent.Turn, answer Answer, text bool) (agent.Outcome, error) {
	switch {
	case answer.Filtered:
		return agent.Rejected("the content filter of the model endpoint ended the answer"), nil
	case answer.Refusal != "":
		return agent.Rejected("the model refused: " + answer.Refusal), nil
	case !text:
		reference := a2a.NewID()
		a.model.log.Warn("model answered without text", "task", turn.TaskID, "reference", reference, "truncated", answer.Truncated)
		return agent.Failed("the model gave no answer; reference " + reference), nil
	}
	outcome := agent.Completed()
	if answer.Truncated {
		metadata, err := a2a.NewStruct(map[string]any{"truncated": true})
		if err != nil {
			return agent.Outcome{}, err
		}
		outcome.Metadata = metadata
	}
	return outcome, nil
}

// failed is how a turn ended that the model did not answer.
func (a *Agent) failed(turn agent.Turn, failure *Error) agent.Outcome {
	if failure.Kind == KindFiltered {
		return agent.Rejected(words[KindFiltered])
	}
	reference := a2a.NewID()
	a.model.log.Warn("model call failed", append(failure.attrs(), "task", turn.TaskID, "reference", reference)...)
	return agent.Failed(words[failure.Kind] + "; reference " + reference)
}
