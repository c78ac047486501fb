package a2a

// Terminal reports whether a task in this state has ended for good. A state
// this revision does not know is not terminal.
func (v TaskState) Terminal() bool {
	switch v {
	case TaskStateCompleted, TaskStateFailed, TaskStateCanceled, TaskStateRejected:
		return true
	}
	return false
}

// Interrupted reports whether a task in this state waits for its caller. A
// state this revision does not know does not.
func (v TaskState) Interrupted() bool {
	return v == TaskStateInputRequired || v == TaskStateAuthRequired
}
