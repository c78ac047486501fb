package task

import "github.com/legation/legation/a2a"

// transitions lists the states that may follow each state (section 4.1.3 of the
// specification fixes only that terminal states are final; nothing goes back to
// submitted). The empty state stands for a task that does not exist yet.
var transitions = map[a2a.TaskState][]a2a.TaskState{
	a2a.TaskStateUnspecified: {
		a2a.TaskStateSubmitted,
	},
	a2a.TaskStateSubmitted: {
		a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
		a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	},
	a2a.TaskStateWorking: {
		a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
		a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	},
	// An interrupted task is resumed by a message or ended; it is never
	// completed behind the back of the caller it has asked.
	a2a.TaskStateInputRequired: {
		a2a.TaskStateWorking, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	},
	a2a.TaskStateAuthRequired: {
		a2a.TaskStateWorking, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	},
}

// MayFollow reports whether a task in state from may go to state to.
func MayFollow(from, to a2a.TaskState) bool {
	for _, next := range transitions[from] {
		if next == to {
			return true
		}
	}
	return false
}
