package task

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// draft is a task while a run works on it: the record, and its growing pieces
// in a form that can be added to. It is the only place where artifacts and
// metadata change. It is not safe for concurrent use.
type draft struct {
	rec       Record
	history   []byte // encoded messages, comma-separated, without brackets
	message   []byte // the current status' message, encoded
	artifacts []*artifactDraft
}

// artifactDraft is an artifact whose parts are only appended to. Its encoding is
// head, parts, tail.
type artifactDraft struct {
	id         a2a.ArtifactID
	form       a2a.Artifact // without parts
	head, tail []byte
	parts      []byte // encoded, comma-separated
}

// newDraft continues from a stored record.
func newDraft(rec Record) (*draft, error) {
	d := &draft{rec: rec, message: statusMessage(rec.Status)}
	if len(rec.History) > 2 {
		d.history = bytes.Clone(rec.History[1 : len(rec.History)-1])
	}
	if len(rec.Artifacts) == 0 {
		return d, nil
	}
	stored, _, err := a2a.Decode[a2a.Task](rec.AppendTask(nil, View{Artifacts: true}))
	if err != nil {
		return nil, fmt.Errorf("read stored artifacts of task %s: %w", rec.ID, err)
	}
	for i := range stored.Artifacts {
		artifact := stored.Artifacts[i]
		a := &artifactDraft{id: artifact.ArtifactID}
		a.append(artifact.Parts)
		a.merge(artifact)
		d.artifacts = append(d.artifacts, a)
	}
	return d, nil
}

// record is the task as it stands, in bytes that later changes do not touch.
func (d *draft) record() Record {
	rec := d.rec
	if len(d.history) > 0 {
		rec.History = bracketed(d.history)
	}
	rec.Artifacts = nil
	if len(d.artifacts) > 0 {
		size := 1 + len(d.artifacts)
		for _, a := range d.artifacts {
			size += a.size()
		}
		out := append(make([]byte, 0, size), '[')
		for i, a := range d.artifacts {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, a.head...)
			out = append(out, a.parts...)
			out = append(out, a.tail...)
		}
		rec.Artifacts = append(out, ']')
	}
	return rec
}

func bracketed(list []byte) []byte {
	out := make([]byte, 0, len(list)+2)
	out = append(out, '[')
	out = append(out, list...)
	return append(out, ']')
}

// size is how many bytes the task would be stored with.
func (d *draft) size() int {
	n := len(d.rec.Status) + len(d.rec.Metadata) + len(d.history)
	for _, a := range d.artifacts {
		n += a.size()
	}
	return n
}

// status moves the task to a state and returns the event that tells so. The
// message of the status before goes into the history.
func (d *draft) status(state a2a.TaskState, message *a2a.Message, at time.Time) (Event, error) {
	if err := checkTransition(d.rec.State, state); err != nil {
		return Event{}, err
	}
	if len(d.message) > 0 {
		if len(d.history) > 0 {
			d.history = append(d.history, ',')
		}
		d.history = append(d.history, d.message...)
	}
	event := d.rec.setStatus(a2a.TaskStatus{State: state, Message: message}, at)
	d.message = nil
	if message != nil {
		d.message = statusMessage(d.rec.Status)
	}
	return event, nil
}

// artifact adds a piece of an artifact and returns the event that tells so. A
// piece to append to an artifact that does not exist starts it.
func (d *draft) artifact(artifact a2a.Artifact, chunk agent.Chunk) Event {
	a := d.find(artifact.ArtifactID)
	if a == nil {
		a = &artifactDraft{id: artifact.ArtifactID}
		d.artifacts = append(d.artifacts, a)
		chunk.Append = false
	}
	if !chunk.Append {
		a.form, a.parts = a2a.Artifact{}, nil
	}
	a.append(artifact.Parts)
	a.merge(artifact)

	d.rec.Last++
	update := a2a.StreamResponse{Payload: &a2a.TaskArtifactUpdateEvent{
		TaskID: d.rec.ID, ContextID: d.rec.ContextID,
		Artifact: artifact, Append: chunk.Append, LastChunk: chunk.Last,
	}}
	return Event{Number: d.rec.Last, Body: update.AppendJSON(nil)}
}

// metadata merges members into the task's metadata.
func (d *draft) metadata(add a2a.Struct) error {
	var members map[string]a2a.Value
	if err := add.Decode(&members); err != nil {
		return err
	}
	merged := a2a.Struct(d.rec.Metadata)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var err error
		if merged, err = merged.With(name, members[name]); err != nil {
			return err
		}
	}
	d.rec.Metadata = merged
	return nil
}

func (d *draft) find(id a2a.ArtifactID) *artifactDraft {
	for i := len(d.artifacts) - 1; i >= 0; i-- {
		if d.artifacts[i].id == id {
			return d.artifacts[i]
		}
	}
	return nil
}

func (a *artifactDraft) size() int { return len(a.head) + len(a.parts) + len(a.tail) }

func (a *artifactDraft) append(parts []a2a.Part) {
	for i := range parts {
		if len(a.parts) > 0 {
			a.parts = append(a.parts, ',')
		}
		a.parts = parts[i].AppendJSON(a.parts)
	}
}

// merge takes over what a piece says besides its parts: later values that are
// not empty win.
func (a *artifactDraft) merge(artifact a2a.Artifact) {
	if a.head != nil && artifact.Name == "" && artifact.Description == "" &&
		len(artifact.Metadata) == 0 && len(artifact.Extensions) == 0 && a.form.ArtifactID != "" {
		return
	}
	a.form.ArtifactID = artifact.ArtifactID
	if artifact.Name != "" {
		a.form.Name = artifact.Name
	}
	if artifact.Description != "" {
		a.form.Description = artifact.Description
	}
	if len(artifact.Metadata) > 0 {
		a.form.Metadata = artifact.Metadata
	}
	if len(artifact.Extensions) > 0 {
		a.form.Extensions = artifact.Extensions
	}
	// The first match is the member itself: inside a string the quotes would
	// be escaped, and metadata comes later.
	const empty = `"parts":[]`
	whole := a.form.AppendJSON(nil)
	at := bytes.Index(whole, []byte(empty)) + len(empty) - 1
	a.head, a.tail = whole[:at:at], whole[at:]
}
