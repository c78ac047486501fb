package app

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/audit"
)

const (
	recorderQueue = 1024 // entries that wait to be stored
	recorderBatch = 128  // entries of one change
)

// recorder stores evidence of what changed nothing else, refusals above all,
// beside the requests: whoever is refused does not wait for it. What comes
// faster than it can be stored is counted, and the number is stored.
type recorder struct {
	store audit.Store
	log   *slog.Logger
	queue chan audit.Entry

	mu      sync.Mutex
	dropped int64
	flood   map[string]time.Time // by address: when its flood was last written down
}

func newRecorder(store audit.Store, log *slog.Logger) *recorder {
	return &recorder{store: store, log: log, queue: make(chan audit.Entry, recorderQueue), flood: map[string]time.Time{}}
}

// record takes an entry. It does not wait.
func (r *recorder) record(entry audit.Entry) {
	if entry.Reason == string(access.ReasonFailures) && r.flooding(entry) {
		return
	}
	select {
	case r.queue <- entry:
	default:
		r.mu.Lock()
		r.dropped++
		r.mu.Unlock()
	}
}

// flooding reports whether an address was written down within the last minute
// as one that fails too often: once is enough.
func (r *recorder) flooding(entry audit.Entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, known := r.flood[entry.From]; known && entry.At.Sub(last) < time.Minute {
		return true
	}
	if len(r.flood) >= 10_000 {
		clear(r.flood)
	}
	r.flood[entry.From] = entry.At
	return false
}

// run stores entries until ctx ends, and then those that were taken.
func (r *recorder) run(ctx context.Context) {
	for {
		select {
		case entry := <-r.queue:
			r.write(entry)
		case <-ctx.Done():
			for {
				select {
				case entry := <-r.queue:
					r.write(entry)
				default:
					return
				}
			}
		}
	}
}

// write stores an entry with those that wait behind it.
func (r *recorder) write(first audit.Entry) {
	batch := []audit.Entry{first}
	for len(batch) < recorderBatch {
		select {
		case entry := <-r.queue:
			batch = append(batch, entry)
			continue
		default:
		}
		break
	}
	r.mu.Lock()
	dropped := r.dropped
	r.dropped = 0
	r.mu.Unlock()
	if dropped > 0 {
		batch = append(batch, audit.Entry{
			At: first.At, Who: "legation", Operation: "audit", Outcome: audit.Failed,
			Reason: fmt.Sprintf("refusals_not_recorded_%d", dropped),
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := r.store.Record(ctx, batch...); err != nil {
		r.log.Error("evidence of refusals could not be stored", "entries", len(batch), "error", err)
	}
}
