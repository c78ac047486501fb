package task

import (
	"time"

	"github.com/legation/legation/a2a"
)

// Owner is who a task belongs to: the agent it was given to and the caller that
// gave it. It is part of every key and query; a task of another owner does not
// exist.
type Owner struct {
	Agent  string // name of the agent
	Caller string // name of the remote client, or "local"
}

// Record is a task as stored: what queries need as fields, and its current form
// encoded, so that it can be answered without decoding.
type Record struct {
	Owner     Owner
	ID        a2a.TaskID
	ContextID a2a.ContextID
	Skill     string

	State     a2a.TaskState
	StatusAt  time.Time // of the current status, UTC, whole milliseconds
	CreatedAt time.Time // UTC, whole milliseconds

	// Last is the number of the newest event.
	Last int64

	// Settled is the number of the newest event that made the task terminal or
	// interrupted; zero if none did.
	Settled int64

	Turn Turn
	Document
}

// Turn is what the latest message brought besides itself.
type Turn struct {
	Number              int        // counts from 1
	Metadata            a2a.Struct // a2a.proto, SendMessageRequest.metadata
	AcceptedOutputModes []string   // a2a.proto, SendMessageConfiguration.accepted_output_modes
}

// Document is the current form of a task, each piece encoded as the wire wants
// it. The bytes are shared by readers and must not be changed.
type Document struct {
	Status    []byte // a TaskStatus
	Artifacts []byte // an array of Artifact, or nil for none
	History   []byte // an array of Message, oldest first, or nil for none
	Metadata  []byte // an object, or nil for none
}

// Size is how many bytes the document takes.
func (d Document) Size() int {
	return len(d.Status) + len(d.Artifacts) + len(d.History) + len(d.Metadata)
}

// Event is a stored, numbered change of a task.
type Event struct {
	// Number counts the events of one task from 1 without gaps.
	Number int64

	// State is the new state if the event changed or confirmed the status, and
	// empty otherwise.
	State a2a.TaskState

	// Body is the event as a StreamResponse, encoded once and shared by all
	// readers. It is nil for an event that streams do not show: a message of
	// the caller.
	Body []byte
}
