package agent

import (
	"context"

	"github.com/legation/legation/a2a"
)

// Turn is one message of a caller and what surrounds it.
type Turn struct {
	// TaskID names the task. It is empty when a [Responder] is asked.
	TaskID a2a.TaskID

	// ContextID names the context that the task belongs to. It is never empty.
	ContextID a2a.ContextID

	// Skill is the id of the skill that was chosen.
	Skill string

	// Number counts the turns of this task from 1.
	Number int

	// Attempt counts how often this turn was entered, from 1. It is above 1
	// only after a crash, a stop or a wait.
	Attempt int

	// Message is what the caller said. It must not be changed.
	Message *a2a.Message

	// Metadata is the request's own (a2a.proto, SendMessageRequest.metadata).
	Metadata a2a.Struct

	// AcceptedOutputModes are the media types the caller can take; empty means
	// any (a2a.proto, SendMessageConfiguration.accepted_output_modes).
	AcceptedOutputModes []string

	// MaxTokens is how many tokens this turn may use, prompts and answers of
	// every model call together, as the caller's message says (the token budget
	// extension). It is a ceiling and not a wish. Zero means that there is none.
	MaxTokens int64

	// Memory reads what was said before. It is never nil.
	Memory Memory
}

// Memory reads, on demand and within bounds, what a turn may build on. Only
// tasks of the same agent and caller are ever seen.
type Memory interface {
	// History returns the messages of this task, oldest first; the last one is
	// the turn's own message.
	History(ctx context.Context) ([]a2a.Message, error)

	// Earlier returns the latest ended tasks of the same context, oldest
	// first, with their history and artifacts.
	Earlier(ctx context.Context) ([]a2a.Task, error)

	// References returns those tasks of Message.ReferenceTaskIDs that exist
	// for this caller.
	References(ctx context.Context) ([]a2a.Task, error)
}
