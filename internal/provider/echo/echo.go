// Package echo is the provider that says back what it was told. It answers
// without a model, so that everything around a model can be tried and tested.
//
// Invariant: what comes back is what came in, part by part and byte by byte.
// Start reading at [Agent].
package echo

import (
	"context"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// Agent answers every turn with one artifact named "echo" that holds the parts
// of the message as they came: text, data and files, with their metadata. The
// zero value is ready to use, by many turns at once.
type Agent struct{}

var (
	_ agent.Agent      = (*Agent)(nil)
	_ agent.Repeatable = (*Agent)(nil)
	_ agent.Budgeted   = (*Agent)(nil)
)

// New returns an echo.
func New() *Agent { return &Agent{} }

// Run puts out the parts of the turn's message and completes the task. The
// errors are those of the output.
func (*Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	whole := a2a.Artifact{Name: "echo", Parts: turn.Message.Parts}
	if err := out.Artifact(ctx, whole, agent.Chunk{Last: true}); err != nil {
		return agent.Outcome{}, err
	}
	return agent.Completed(), nil
}

// Repeatable is true: a repeated turn puts out the same again.
func (*Agent) Repeatable() bool { return true }

// Budgeted is true: an echo uses no tokens, so it keeps to every budget.
func (*Agent) Budgeted() bool { return true }
