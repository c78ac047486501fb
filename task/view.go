package task

import (
	"github.com/legation/legation/a2a"
)

// View says how much of a task an answer shows.
type View struct {
	// History limits the messages shown to the newest ones. Nil shows all,
	// zero none (a2a.proto, GetTaskRequest.history_length).
	History *int32

	// Artifacts shows the artifacts
	// (a2a.proto, ListTasksRequest.include_artifacts).
	Artifacts bool
}

// AppendTask appends the task as its wire form, spliced together from the
// stored pieces.
func (r *Record) AppendTask(b []byte, view View) []byte {
	history := r.History
	if view.History != nil {
		history = newest(history, int(*view.History))
	}
	form := a2a.Task{ID: r.ID, ContextID: r.ContextID}
	b = form.AppendJSON(b)
	// The status of the empty form is the last member; what is stored takes
	// its place.
	const tail = `"status":{"state":"TASK_STATE_UNSPECIFIED"}}`
	b = append(b[:len(b)-len(tail)], `"status":`...)
	b = append(b, r.Status...)
	if view.Artifacts && len(r.Artifacts) > 0 {
		b = append(b, `,"artifacts":`...)
		b = append(b, r.Artifacts...)
	}
	if len(history) > 0 {
		b = append(b, `,"history":`...)
		b = append(b, history...)
	}
	if len(r.Metadata) > 0 {
		b = append(b, `,"metadata":`...)
		b = append(b, r.Metadata...)
	}
	return append(b, '}')
}

// newest cuts an encoded array to its last n elements; nil if none are left.
func newest(array []byte, n int) []byte {
	if n <= 0 || len(array) == 0 {
		return nil
	}
	starts := elements(array)
	if len(starts) <= n {
		return array
	}
	return bracketed(array[starts[len(starts)-n] : len(array)-1])
}

// elements returns where the elements of an encoded array begin. The array was
// written by us, so it has no white space.
func elements(array []byte) []int {
	var starts []int
	for at := 1; at < len(array)-1; {
		starts = append(starts, at)
		at += valueLength(array[at:]) + 1
	}
	return starts
}

// valueLength is the length of the JSON value that b begins with.
func valueLength(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}
