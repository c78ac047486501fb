package client

import (
	"errors"
	"slices"

	"github.com/legation/legation/a2a"
)

// Assembly folds the events of a [Stream] into what they are about: a task with
// its artifacts whole, or a message. The zero value is ready to use. It takes
// what it is given and copies only what it changes; it is used by one goroutine
// at a time.
type Assembly struct {
	// Limit is how many bytes of content are kept. Zero means 64 MiB.
	Limit int64

	task    *a2a.Task
	message *a2a.Message
	size    int64
	orphans int
}

// ErrTooLarge says that a task has more content than an [Assembly] may keep, or
// that an event or a stream is over its cap in [Config]. An answer that is no
// stream has a *guard.TooLargeError.
var ErrTooLarge = errors.New("client: more content than is allowed")

const defaultAssembly = 64 << 20

// Apply takes the next event. After [ErrTooLarge] the event is left out and
// the task incomplete.
//
// A snapshot replaces everything. A new status moves the message of the old
// one into the history. An artifact replaces its namesake, or lengthens it
// where the event says append: parts are added, and of the other members what
// is given counts. The first terminal state is kept.
func (a *Assembly) Apply(event a2a.StreamResponse) error {
	switch payload := event.Payload.(type) {
	case *a2a.Message:
		if err := a.grow(sizeOfParts(payload.Parts)); err != nil {
			return err
		}
		a.message = payload
	case *a2a.Task:
		return a.snapshot(payload)
	case *a2a.TaskStatusUpdateEvent:
		return a.status(payload)
	case *a2a.TaskArtifactUpdateEvent:
		return a.artifact(payload)
	}
	return nil
}

// Task returns the task as far as it is known, nil if there was none. It is
// changed by the next event; its parts are not.
func (a *Assembly) Task() *a2a.Task { return a.task }

// Message returns the message, nil if there was none.
func (a *Assembly) Message() *a2a.Message { return a.message }

// Orphans returns how many events lengthened an artifact nobody had begun.
// Such an artifact is kept, and may lack its start.
func (a *Assembly) Orphans() int { return a.orphans }

func (a *Assembly) snapshot(task *a2a.Task) error {
	if a.task != nil && a.task.Status.State.Terminal() && task.Status.State != a.task.Status.State {
		return nil
	}
	if err := a.grow(sizeOfTask(task) - a.size); err != nil {
		return err
	}
	copied := *task
	copied.History, copied.Artifacts = slices.Clone(task.History), slices.Clone(task.Artifacts)
	for i, artifact := range copied.Artifacts {
		copied.Artifacts[i] = own(artifact)
	}
	a.task = &copied
	return nil
}

func (a *Assembly) status(event *a2a.TaskStatusUpdateEvent) error {
	task := a.begun(event.TaskID, event.ContextID)
	if task.Status.State.Terminal() {
		return nil
	}
	if event.Status.Message != nil {
		if err := a.grow(sizeOfParts(event.Status.Message.Parts)); err != nil {
			return err
		}
	}
	if old := task.Status.Message; old != nil && !told(task.History, old) {
		task.History = append(task.History, *old)
	}
	task.Status = event.Status
	return nil
}

func (a *Assembly) artifact(event *a2a.TaskArtifactUpdateEvent) error {
	task := a.begun(event.TaskID, event.ContextID)
	given := event.Artifact
	at := slices.IndexFunc(task.Artifacts, func(known a2a.Artifact) bool { return known.ArtifactID == given.ArtifactID })
	more := sizeOfArtifact(given)
	if !event.Append && at >= 0 {
		more -= sizeOfArtifact(task.Artifacts[at])
	}
	if err := a.grow(more); err != nil {
		return err
	}
	switch {
	case at < 0:
		if event.Append {
			a.orphans++
		}
		task.Artifacts = append(task.Artifacts, own(given))
	case !event.Append:
		task.Artifacts[at] = own(given)
	default:
		lengthen(&task.Artifacts[at], given)
	}
	return nil
}

// own makes sure that lengthening an artifact leaves the event it came with as
// it is.
func own(artifact a2a.Artifact) a2a.Artifact {
	artifact.Parts = slices.Clip(artifact.Parts)
	return artifact
}

func lengthen(artifact *a2a.Artifact, chunk a2a.Artifact) {
	artifact.Parts = append(artifact.Parts, chunk.Parts...)
	if chunk.Name != "" {
		artifact.Name = chunk.Name
	}
	if chunk.Description != "" {
		artifact.Description = chunk.Description
	}
	if len(chunk.Metadata) > 0 {
		artifact.Metadata = chunk.Metadata
	}
	if len(chunk.Extensions) > 0 {
		artifact.Extensions = chunk.Extensions
	}
}

// begun returns the task, a bare one if an update came before any snapshot.
func (a *Assembly) begun(id a2a.TaskID, context a2a.ContextID) *a2a.Task {
	if a.task == nil {
		a.task = &a2a.Task{ID: id, ContextID: context}
	}
	return a.task
}

func told(history []a2a.Message, message *a2a.Message) bool {
	return message.MessageID != "" && slices.ContainsFunc(history, func(m a2a.Message) bool {
		return m.MessageID == message.MessageID
	})
}

func (a *Assembly) grow(n int64) error {
	if a.size+n > orDefault(a.Limit, defaultAssembly) {
		return ErrTooLarge
	}
	a.size += n
	return nil
}

func sizeOfTask(task *a2a.Task) int64 {
	var n int64
	if task.Status.Message != nil {
		n += sizeOfParts(task.Status.Message.Parts)
	}
	for _, message := range task.History {
		n += sizeOfParts(message.Parts)
	}
	for _, artifact := range task.Artifacts {
		n += sizeOfArtifact(artifact)
	}
	return n
}

func sizeOfArtifact(artifact a2a.Artifact) int64 {
	text := len(artifact.ArtifactID) + len(artifact.Name) + len(artifact.Description) + len(artifact.Metadata)
	return partOverhead + int64(text) + sizeOfParts(artifact.Parts)
}

// partOverhead stands for what a part takes besides its content.
const partOverhead = 128

func sizeOfParts(parts []a2a.Part) int64 {
	var n int64
	for _, part := range parts {
		n += partOverhead + int64(len(part.Metadata)+len(part.Filename)+len(part.MediaType))
		switch content := part.Content.(type) {
		case a2a.PartText:
			n += int64(len(content))
		case a2a.PartRaw:
			n += int64(len(content))
		case a2a.PartURL:
			n += int64(len(content))
		case a2a.PartData:
			n += int64(len(content))
		}
	}
	return n
}
