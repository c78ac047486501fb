package a2a

import "github.com/google/uuid"

// TaskID identifies a task of one agent. The server chooses it.
type TaskID string

// ContextID groups tasks and messages of one conversation. Either side may
// choose it.
type ContextID string

// MessageID identifies a message. Its sender chooses it, once per message.
type MessageID string

// ArtifactID identifies an artifact within its task.
type ArtifactID string

// NewID returns a fresh identifier: a UUID of version 7 (RFC 9562), so that
// later ones sort after earlier ones. It is safe for concurrent use.
func NewID() string {
	return uuid.Must(uuid.NewV7()).String()
}
