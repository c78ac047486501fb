package a2a_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
)

// referenceTask is a task of 10 messages and 5 artifacts, about 7 kB.
func referenceTask() *a2a.Task {
	line := strings.Repeat("A sentence of an answer, with \"quotes\" and a line end.\n", 4)
	task := &a2a.Task{
		ID:        a2a.TaskID(a2a.NewID()),
		ContextID: a2a.ContextID(a2a.NewID()),
		Status:    a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: time.Date(2026, 1, 1, 10, 0, 2, 500_000_000, time.UTC)},
		Metadata:  a2a.Struct(`{"urn:example:trace":{"id":"4bf92f3577b34da6","sampled":true}}`),
	}
	for i := range 10 {
		message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(line))
		if i%2 == 1 {
			message.Role = a2a.RoleAgent
		}
		message.ContextID, message.TaskID = task.ContextID, task.ID
		task.History = append(task.History, *message)
	}
	for i := range 5 {
		task.Artifacts = append(task.Artifacts, a2a.Artifact{
			ArtifactID: a2a.ArtifactID(a2a.NewID()),
			Name:       fmt.Sprintf("result %d", i),
			Parts: []a2a.Part{
				{Content: a2a.PartText(line), MediaType: "text/plain"},
				{Content: a2a.PartData(`{"total":12.5,"paid":null,"items":[1,2,3,4]}`), MediaType: "application/json"},
			},
		})
	}
	return task
}

// The plain structs are what a program without this package would declare.
type plainTask struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId,omitempty"`
	Status    plainStatus     `json:"status"`
	Artifacts []plainArtifact `json:"artifacts,omitempty"`
	History   []plainMessage  `json:"history,omitempty"`
	Metadata  map[string]any  `json:"metadata,omitempty"`
}

type plainStatus struct {
	State     string        `json:"state"`
	Message   *plainMessage `json:"message,omitempty"`
	Timestamp *time.Time    `json:"timestamp,omitempty"`
}

type plainMessage struct {
	MessageID        string         `json:"messageId"`
	ContextID        string         `json:"contextId,omitempty"`
	TaskID           string         `json:"taskId,omitempty"`
	Role             string         `json:"role"`
	Parts            []plainPart    `json:"parts"`
	Metadata         map[string]any `json:"metadata,omitempty"`
	Extensions       []string       `json:"extensions,omitempty"`
	ReferenceTaskIDs []string       `json:"referenceTaskIds,omitempty"`
}

type plainPart struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitempty"`
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Metadata  map[string]any  `json:"metadata,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

type plainArtifact struct {
	ArtifactID  string         `json:"artifactId"`
	Name        string         `json:"name,omitempty"`
	Description string         `json:"description,omitempty"`
	Parts       []plainPart    `json:"parts"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Extensions  []string       `json:"extensions,omitempty"`
}

func BenchmarkDecode(b *testing.B) {
	data := referenceTask().AppendJSON(nil)
	b.Run("a2a", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := a2a.Decode[a2a.Task](data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var task plainTask
			if err := json.Unmarshal(data, &task); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	task := referenceTask()
	data := task.AppendJSON(nil)
	b.Run("a2a", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		buffer := make([]byte, 0, len(data))
		for b.Loop() {
			buffer = task.AppendJSON(buffer[:0])
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		var plain plainTask
		if err := json.Unmarshal(data, &plain); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(&plain); err != nil {
				b.Fatal(err)
			}
		}
	})
}
