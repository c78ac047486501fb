package app

import (
	"context"
	"log/slog"

	"github.com/legation/legation/internal/audit"
)

// Clients are the remote clients that a set registers, as the directory takes
// them.
var Clients = clients

// Recorder is the recorder, with a store of the test's own.
type Recorder struct{ *recorder }

func NewRecorder(store audit.Store) Recorder {
	return Recorder{newRecorder(store, slog.New(slog.DiscardHandler))}
}

func (r Recorder) Record(entry audit.Entry) { r.record(entry) }

func (r Recorder) Run(ctx context.Context) { r.run(ctx) }
