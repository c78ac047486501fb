package agent

import (
	"context"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
)

// Agent answers the turns of a task.
//
// Run is entered once per turn: when a task begins, and again for each message
// that continues it. It puts out progress and results through out and says
// with its outcome how the turn ended. The context ends when the task is
// canceled, reaches its deadline, or the process stops; Run must then return
// soon, and what it returns is ignored. Different tasks enter an agent
// concurrently.
//
// An error ends the task as failed. Its text is written to the log and never
// shown to the caller, who gets a reference to it; an agent that wants to
// explain a failure returns [Failed] instead.
type Agent interface {
	Run(ctx context.Context, turn Turn, out Output) (Outcome, error)
}

// Func is a plain function as an [Agent].
type Func func(ctx context.Context, turn Turn, out Output) (Outcome, error)

// Run calls f.
func (f Func) Run(ctx context.Context, turn Turn, out Output) (Outcome, error) {
	return f(ctx, turn, out)
}

// Responder is implemented by an [Agent] that can answer some messages at once,
// without a task. It is asked before a task exists; a nil message asks for a
// task. It may be asked more than once for the same message, so it must have
// no effect of its own. An *a2a.Error it returns is the caller's answer.
type Responder interface {
	Respond(ctx context.Context, turn Turn) (*a2a.Message, error)
}

// Repeatable is implemented by an [Agent] that says whether a turn that was cut
// short by a crash or a stop may be entered again. An agent that does not
// implement it is not repeatable: its task then ends as failed with a reason.
type Repeatable interface {
	Repeatable() bool
}

// Budgeted is implemented by an [Agent] that says whether it keeps to
// [Turn.MaxTokens]. An agent that does not implement it does not: its card then
// announces no token budget.
type Budgeted interface {
	Budgeted() bool
}

// Reserving is implemented by an [Agent] that says how many tokens one turn may
// use, and what it may cost in millionths, so that as much can be set aside of
// its caller's quota. Budget is the turn's [Turn.MaxTokens].
type Reserving interface {
	Reserve(budget int64) (tokens, cost int64)
}

// Output takes what an agent puts out during one turn. Its methods buffer
// within bounds and block when the store falls behind; they fail once the
// context has ended or the task has. They are safe for concurrent use.
type Output interface {
	// Status tells progress: the task is working, with an optional message.
	Status(ctx context.Context, message *a2a.Message) error

	// Artifact puts out a result, whole or in chunks. An empty
	// Artifact.ArtifactID is given an id that is the same when the turn is
	// entered again, so that a repeated turn replaces its earlier output.
	// Consecutive chunks that leave the id empty belong to one artifact.
	Artifact(ctx context.Context, artifact a2a.Artifact, chunk Chunk) error

	// Flush returns once everything put out so far is durable.
	Flush(ctx context.Context) error
}

// Chunk says which piece of an artifact is put out. The zero value is a first
// piece; a whole artifact is a first piece that is also the last.
type Chunk struct {
	// Append adds the parts to the artifact of the same id instead of starting
	// it (a2a.proto, TaskArtifactUpdateEvent.append).
	Append bool

	// Last says that no further piece follows
	// (a2a.proto, TaskArtifactUpdateEvent.last_chunk).
	Last bool
}

// Outcome says how a turn ended. The zero value completes the task.
type Outcome struct {
	// State is a terminal or an interrupted state, or TaskStateWorking with
	// Wait set. Empty means TaskStateCompleted.
	State a2a.TaskState

	// Message goes with the state: the question of an input request, the
	// reason of a failure. It may be nil.
	Message *a2a.Message

	// Metadata is merged into the task's metadata when the turn ends.
	Metadata a2a.Struct

	// Tokens is how many tokens the turn used, as far as what answered it has
	// said so: prompts and answers together, paid or not. Zero means that it is
	// not known. It may be set with every state.
	Tokens int64

	// Cost is what the turn cost, in millionths of the currency that prices are
	// given in. Zero means nothing, or that it is not known.
	Cost int64

	// Wait suspends the turn: it holds no worker and is entered again once
	// woken by any of these. Only with TaskStateWorking.
	Wait []work.Key
}

// Completed ends a task with success. The result belongs into artifacts.
func Completed() Outcome { return Outcome{State: a2a.TaskStateCompleted} }

// Failed ends a task as failed, with a reason the caller sees.
func Failed(reason string) Outcome { return said(a2a.TaskStateFailed, reason) }

// Rejected ends a task that the agent will not do, with a reason the caller sees.
func Rejected(reason string) Outcome { return said(a2a.TaskStateRejected, reason) }

// AskInput interrupts a task with a question to the caller; the answer enters
// the agent again.
func AskInput(question string) Outcome { return said(a2a.TaskStateInputRequired, question) }

func said(state a2a.TaskState, text string) Outcome {
	return Outcome{State: state, Message: a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(text))}
}
