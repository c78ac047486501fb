package sqlite

import (
	"fmt"

	"github.com/legation/legation/a2a"
)

// states are the states a stored task can have, in the order of their columns
// in owners and contexts, which is the order of their numbers in the protocol.
var states = [...]a2a.TaskState{
	a2a.TaskStateSubmitted,
	a2a.TaskStateWorking,
	a2a.TaskStateCompleted,
	a2a.TaskStateFailed,
	a2a.TaskStateCanceled,
	a2a.TaskStateInputRequired,
	a2a.TaskStateRejected,
	a2a.TaskStateAuthRequired,
}

// stateNumber is the number a state is stored as, from 1.
func stateNumber(state a2a.TaskState) (int64, error) {
	number, ok := state.Number()
	if !ok || number < 1 || int(number) > len(states) {
		return 0, fmt.Errorf("a task cannot be stored in state %q", state)
	}
	return int64(number), nil
}

// stateOf is the state of a number, or empty.
func stateOf(number int64) a2a.TaskState {
	if number < 1 || int(number) > len(states) {
		return a2a.TaskStateUnspecified
	}
	return states[number-1]
}
