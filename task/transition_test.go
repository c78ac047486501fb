package task_test

import (
	"slices"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

var states = []a2a.TaskState{
	a2a.TaskStateUnspecified, a2a.TaskStateSubmitted, a2a.TaskStateWorking,
	a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
	a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	"TASK_STATE_PAUSED", // of a later protocol
}

// TestTransitions walks every state against every other. (REQ-LIFE-01)
func TestTransitions(t *testing.T) {
	anywhere := []a2a.TaskState{
		a2a.TaskStateWorking, a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired,
		a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	}
	resumedOrEnded := []a2a.TaskState{
		a2a.TaskStateWorking, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected,
	}
	allowed := map[a2a.TaskState][]a2a.TaskState{
		a2a.TaskStateUnspecified:   {a2a.TaskStateSubmitted},
		a2a.TaskStateSubmitted:     anywhere,
		a2a.TaskStateWorking:       anywhere,
		a2a.TaskStateInputRequired: resumedOrEnded,
		a2a.TaskStateAuthRequired:  resumedOrEnded,
	}
	for _, from := range states {
		for _, to := range states {
			want := slices.Contains(allowed[from], to)
			if got := task.MayFollow(from, to); got != want {
				t.Errorf("MayFollow(%q, %q) = %v, want %v", from, to, got, want)
			}
		}
	}
}

// TestStateClasses holds the two sets that everything else is decided by.
// (REQ-LIFE-11)
func TestStateClasses(t *testing.T) {
	terminal := []a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed, a2a.TaskStateCanceled, a2a.TaskStateRejected}
	interrupted := []a2a.TaskState{a2a.TaskStateInputRequired, a2a.TaskStateAuthRequired}
	for _, state := range states {
		if got, want := state.Terminal(), slices.Contains(terminal, state); got != want {
			t.Errorf("%q.Terminal() = %v", state, got)
		}
		if got, want := state.Interrupted(), slices.Contains(interrupted, state); got != want {
			t.Errorf("%q.Interrupted() = %v", state, got)
		}
	}
}
