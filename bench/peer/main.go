// Command peer is the same agent on a2a-go, the protocol's Go library, with the
// store that it comes with: in memory. Everything it can be set to is left as
// it is, but for the log, which is off, and a caller's name, without which its
// store lists nothing.
package main

import (
	"context"
	"iter"
	"log/slog"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/legation/legation/bench/child"
	"github.com/legation/legation/bench/script"
)

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "local", nil },
	})
	handler := a2asrv.NewHandler(executor{}, a2asrv.WithTaskStore(store), a2asrv.WithLogger(slog.Default()))
	child.Exit(child.Serve(a2asrv.NewJSONRPCHandler(handler)))
}

type executor struct{}

// Execute does what the text of the message says.
func (executor) Execute(ctx context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if turn.StoredTask == nil && !yield(a2a.NewSubmittedTask(turn, turn.Message), nil) {
			return
		}
		s := script.Parse(text(turn.Message))
		if err := s.Wait(ctx); err != nil {
			yield(nil, err)
			return
		}
		for event := range events(turn, s) {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// Cancel ends the task.
func (executor) Cancel(_ context.Context, turn *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(turn, a2a.TaskStateCanceled, nil), nil)
	}
}

func events(turn *a2asrv.ExecutorContext, s script.Script) iter.Seq[a2a.Event] {
	return func(yield func(a2a.Event) bool) {
		switch s.Kind {
		case script.Ask:
			yield(a2a.NewStatusUpdateEvent(turn, a2a.TaskStateInputRequired, a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("What next?"))))
			return
		case script.Stream:
			for range s.Count {
				if !yield(a2a.NewStatusUpdateEvent(turn, a2a.TaskStateWorking, nil)) {
					return
				}
			}
		case script.Chunks:
			artifact := a2a.NewArtifactID()
			for i := range s.Count {
				event := a2a.NewArtifactUpdateEvent(turn, artifact, a2a.NewTextPart(script.Piece(i)))
				event.Append, event.LastChunk = i > 0, i == s.Count-1
				if !yield(event) {
					return
				}
			}
		default:
			if !yield(a2a.NewArtifactEvent(turn, turn.Message.Parts...)) {
				return
			}
		}
		yield(a2a.NewStatusUpdateEvent(turn, a2a.TaskStateCompleted, nil))
	}
}

func text(m *a2a.Message) string {
	if m == nil || len(m.Parts) == 0 {
		return ""
	}
	return m.Parts[0].Text()
}
