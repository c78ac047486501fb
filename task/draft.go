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
	byID      map[a2a.ArtifactID]*artifactDraft
	content   int // bytes of the artifacts
}

// artifactDraft is an artifact whose parts are only appended to. Its encoding is
// head, parts, tail.
type artifactDraft struct {
	form       a2a.Artifact // without parts
	head, tail []byte
	parts      []byte // encoded, comma-separated
}

// newDraft continues from a stored record.
func newDraft(rec Record) (*draft, error) {
	d := &draft{rec: rec, message: statusMessage(rec.Status), byID: make(map[a2a.ArtifactID]*artifactDraft)}
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
		d.put(d.pieceOf(stored.Artifacts[i], false))
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
		out := append(make([]byte, 0, 1+len(d.artifacts)+d.content), '[')
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
	return len(d.rec.Status) + len(d.rec.Metadata) + len(d.history) + d.content + len(d.artifacts)
}

// fits reports whether the task may be stored with so many bytes more.
func (d *draft) fits(more, limit int) bool { return limit <= 0 || d.size()+more <= limit }

// status moves the task to a state and returns the event that tells so. The
// message of the status before goes into the history. A limit of zero is none.
func (d *draft) status(state a2a.TaskState, message *a2a.Message, at time.Time, limit int) (Event, error) {
	if err := checkTransition(d.rec.State, state); err != nil {
		return Event{}, err
	}
	next := d.rec
	event := next.setStatus(a2a.TaskStatus{State: state, Message: message}, at)
	if !d.fits(len(next.Status)-len(d.rec.Status)+len(d.message)+1, limit) {
		return Event{}, errOverflow
	}
	if len(d.message) > 0 {
		if len(d.history) > 0 {
			d.history = append(d.history, ',')
		}
		d.history = append(d.history, d.message...)
	}
	d.rec, d.message = next, nil
	if message != nil {
		d.message = statusMessage(next.Status)
	}
	return event, nil
}

// artifact adds a piece of an artifact and returns the event that tells so. A
// piece to append to an artifact that does not exist starts it.
func (d *draft) artifact(artifact a2a.Artifact, chunk agent.Chunk, limit int) (Event, error) {
	known := d.byID[artifact.ArtifactID] != nil
	piece := d.pieceOf(artifact, chunk.Append && known)
	if !d.fits(piece.growth, limit) {
		return Event{}, errOverflow
	}
	d.put(piece)

	d.rec.Last++
	update := a2a.StreamResponse{Payload: &a2a.TaskArtifactUpdateEvent{
		TaskID: d.rec.ID, ContextID: d.rec.ContextID,
		Artifact: artifact, Append: chunk.Append && known, LastChunk: chunk.Last,
	}}
	return Event{Number: d.rec.Last, Body: update.AppendJSON(nil)}, nil
}

// piece is what an artifact becomes with the next of its pieces.
type piece struct {
	id         a2a.ArtifactID
	form       a2a.Artifact // without parts
	head, tail []byte
	parts      []byte // the new ones, encoded
	appended   bool
	growth     int // bytes that the task grows by
}

// pieceOf encodes a piece and says how much the task would grow. It changes
// nothing.
func (d *draft) pieceOf(artifact a2a.Artifact, appended bool) piece {
	a := d.byID[artifact.ArtifactID]
	p := piece{id: artifact.ArtifactID, appended: appended, form: a2a.Artifact{ArtifactID: artifact.ArtifactID}}
	if appended {
		p.form, p.head, p.tail = a.form, a.head, a.tail
		if len(a.parts) > 0 {
			p.parts = append(p.parts, ',')
		}
	}
	for i := range artifact.Parts {
		if i > 0 {
			p.parts = append(p.parts, ',')
		}
		p.parts = artifact.Parts[i].AppendJSON(p.parts)
	}
	p.describe(artifact)
	p.growth = len(p.head) + len(p.parts) + len(p.tail)
	switch {
	case a == nil:
		p.growth++ // the comma
	case appended:
		p.growth -= len(a.head) + len(a.tail)
	default:
		p.growth -= a.size()
	}
	return p
}

// describe takes over what a piece says besides its parts: later values that
// are not empty win.
func (p *piece) describe(artifact a2a.Artifact) {
	silent := artifact.Name == "" && artifact.Description == "" && len(artifact.Metadata) == 0 && len(artifact.Extensions) == 0
	if silent && p.head != nil {
		return
	}
	if artifact.Name != "" {
		p.form.Name = artifact.Name
	}
	if artifact.Description != "" {
		p.form.Description = artifact.Description
	}
	if len(artifact.Metadata) > 0 {
		p.form.Metadata = artifact.Metadata
	}
	if len(artifact.Extensions) > 0 {
		p.form.Extensions = artifact.Extensions
	}
	// The first match is the member itself: inside a string the quotes would
	// be escaped, and metadata comes later.
	const empty = `"parts":[]`
	whole := p.form.AppendJSON(nil)
	at := bytes.Index(whole, []byte(empty)) + len(empty) - 1
	p.head, p.tail = whole[:at:at], whole[at:]
}

// put applies a piece.
func (d *draft) put(p piece) {
	a := d.byID[p.id]
	if a == nil {
		a = &artifactDraft{}
		d.byID[p.id] = a
		d.artifacts = append(d.artifacts, a)
	}
	before := a.size()
	if !p.appended {
		a.parts = nil
	}
	a.form, a.head, a.tail = p.form, p.head, p.tail
	a.parts = append(a.parts, p.parts...)
	d.content += a.size() - before
}

// metadata merges members into the task's metadata.
func (d *draft) metadata(add a2a.Struct, limit int) error {
	if len(add) == 0 {
		return nil
	}
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
	if !d.fits(len(merged)-len(d.rec.Metadata), limit) {
		return errOverflow
	}
	d.rec.Metadata = merged
	return nil
}

func (a *artifactDraft) size() int { return len(a.head) + len(a.parts) + len(a.tail) }
