package task

import (
	"errors"
	"fmt"

	"github.com/legation/legation/a2a"
)

// Errors of the engine and of stores. Compare with errors.Is.
var (
	// ErrNotFound: the owner has no such task.
	ErrNotFound = errors.New("task not found")

	// ErrEnded: the task is terminal and does not change any more. The error
	// returned is an [EndedError].
	ErrEnded = errors.New("task has ended")

	// ErrWorking: the task takes a message only when it asks for one.
	ErrWorking = errors.New("task is not waiting for a message")

	// ErrContextMismatch: the task belongs to another context.
	ErrContextMismatch = errors.New("task belongs to another context")

	// ErrMessageChanged: a message with this id but other content was accepted
	// before.
	ErrMessageChanged = errors.New("message id was used for other content")

	// ErrBusy: the caller has too many runs queued.
	ErrBusy = errors.New("too many tasks are queued")

	// ErrTooLarge: the task would be stored with more bytes than allowed.
	ErrTooLarge = errors.New("task is larger than allowed")

	// ErrBadCursor: a page token is broken, or was given for other questions.
	ErrBadCursor = errors.New("page token is not valid here")

	// ErrFenced: the right to write about the task was lost.
	ErrFenced = errors.New("run was fenced off")

	// ErrNoSkill: nothing answers for the task's agent and skill.
	ErrNoSkill = errors.New("skill is not served")

	// ErrStopping: the process is going down and takes no new work.
	ErrStopping = errors.New("shutting down")
)

// EndedError tells in which state a task has ended. It is an [ErrEnded].
type EndedError struct{ State a2a.TaskState }

// Error says so.
func (e *EndedError) Error() string { return fmt.Sprintf("%v: %s", ErrEnded, e.State) }

// Is reports whether target is [ErrEnded].
func (e *EndedError) Is(target error) bool { return target == ErrEnded }
