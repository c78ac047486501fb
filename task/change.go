package task

import (
	"bytes"
	"fmt"
	"time"

	"github.com/legation/legation/a2a"
)

// Input is what a caller's message brings to an existing task.
type Input struct {
	Message   *a2a.Message
	Turn      Turn // without its number
	ContextID a2a.ContextID
	At        time.Time
	MaxBytes  int // most bytes the task may be stored with
}

// Continued is the task after a caller's message, and the events that tell so:
// the message itself, and the return to working. Stores call it inside the
// change. The errors are [ErrContextMismatch], [ErrEnded], [ErrWorking] and
// [ErrTooLarge].
func (r Record) Continued(in Input) (Record, []Event, error) {
	if in.ContextID != "" && in.ContextID != r.ContextID {
		return r, nil, ErrContextMismatch
	}
	if r.State.Terminal() {
		return r, nil, &EndedError{State: r.State}
	}
	if !r.State.Interrupted() {
		return r, nil, ErrWorking
	}
	message := *in.Message
	message.TaskID, message.ContextID = r.ID, r.ContextID

	turn := in.Turn
	turn.Number = r.Turn.Number + 1
	r.Turn = turn
	// The question that was open goes into the history before its answer.
	r.History = appendElement(r.History, statusMessage(r.Status))
	r.History = appendElement(r.History, message.AppendJSON(nil))
	r.Last++
	said := Event{Number: r.Last}
	working := r.setStatus(a2a.TaskStatus{State: a2a.TaskStateWorking}, in.At)
	if in.MaxBytes > 0 && r.Size() > in.MaxBytes {
		return r, nil, ErrTooLarge
	}
	return r, []Event{said, working}, nil
}

// Canceled is the task after its cancellation, and the event that tells so.
// Stores call it inside the change. The error is [ErrEnded].
func (r Record) Canceled(at time.Time) (Record, []Event, error) {
	if r.State.Terminal() {
		return r, nil, &EndedError{State: r.State}
	}
	r.History = appendElement(r.History, statusMessage(r.Status))
	event := r.setStatus(a2a.TaskStatus{State: a2a.TaskStateCanceled}, at)
	return r, []Event{event}, nil
}

// NewRecord is a task that was just accepted, and its first event. The message
// is the caller's; the record keeps it as the first of its history.
func NewRecord(r Record, message *a2a.Message, at time.Time) (Record, Event) {
	said := *message
	said.TaskID, said.ContextID = r.ID, r.ContextID
	r.History = appendElement(nil, said.AppendJSON(nil))
	r.CreatedAt = milliseconds(at)
	r.Turn.Number = 1
	event := r.setStatus(a2a.TaskStatus{State: a2a.TaskStateSubmitted}, at)
	return r, event
}

// setStatus replaces the status and returns the event that tells so. Moving the
// old status' message into the history is the caller's part.
func (r *Record) setStatus(status a2a.TaskStatus, at time.Time) Event {
	at = milliseconds(at)
	if at.Before(r.StatusAt) {
		at = r.StatusAt // a clock that was set back does not reorder a task
	}
	status.Timestamp = at
	if status.Message != nil {
		message := *status.Message
		message.Role = a2a.RoleAgent
		message.TaskID, message.ContextID = r.ID, r.ContextID
		if message.MessageID == "" {
			message.MessageID = a2a.MessageID(a2a.NewID())
		}
		status.Message = &message
	}
	r.State, r.StatusAt = status.State, at
	r.Status = status.AppendJSON(make([]byte, 0, 128))
	r.Last++
	if status.State.Terminal() || status.State.Interrupted() {
		r.Settled = r.Last
	}
	update := a2a.StreamResponse{Payload: &a2a.TaskStatusUpdateEvent{
		TaskID: r.ID, ContextID: r.ContextID, Status: status,
	}}
	return Event{Number: r.Last, State: status.State, Body: update.AppendJSON(make([]byte, 0, 256))}
}

// statusMessage is the encoded message inside an encoded status, or nil.
func statusMessage(status []byte) []byte {
	if !bytes.Contains(status, []byte(`"message":`)) {
		return nil
	}
	decoded, _, err := a2a.Decode[a2a.TaskStatus](status)
	if err != nil || decoded.Message == nil {
		return nil
	}
	return decoded.Message.AppendJSON(nil)
}

// appendElement adds an encoded element to an encoded array. It never writes
// into the bytes of the array it was given, which readers share.
func appendElement(array, element []byte) []byte {
	if len(element) == 0 {
		return array
	}
	if len(array) == 0 {
		out := make([]byte, 0, len(element)+2)
		out = append(out, '[')
		out = append(out, element...)
		return append(out, ']')
	}
	out := make([]byte, 0, len(array)+len(element)+1)
	out = append(out, array[:len(array)-1]...)
	out = append(out, ',')
	out = append(out, element...)
	return append(out, ']')
}

func milliseconds(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// checkTransition is the last line of defence of the rules: no path of the
// engine asks for a move that they forbid.
func checkTransition(from, to a2a.TaskState) error {
	if !MayFollow(from, to) {
		return fmt.Errorf("task cannot go from %s to %s", from, to)
	}
	return nil
}
