package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/legation/legation/internal/audit"
)

const (
	recorderQueue = 1024             // entries that wait to be stored
	recorderBatch = 128              // entries of one change
	recorderLook  = 10 * time.Second // between looks at what is to be summed up
	recorderStore = 30 * time.Second // for one change
)

// recorder stores evidence of what changed nothing else, refusals above all,
// beside the requests: whoever is refused does not wait for it. What is refused
// again and again is summed up, and what cannot be stored is counted, so that it
// costs no more than a bounded number of entries a minute.
type recorder struct {
	store audit.Store
	log   *slog.Logger
	queue chan audit.Entry

	mu   sync.Mutex
	fold audit.Fold
}

func newRecorder(store audit.Store, log *slog.Logger) *recorder {
	return &recorder{store: store, log: log, queue: make(chan audit.Entry, recorderQueue)}
}

// record takes an entry. It does not wait.
func (r *recorder) record(entry audit.Entry) {
	if entry.At.IsZero() {
		entry.At = time.Now()
	}
	_, err := entry.Encode()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil { // it would keep those that are stored with it from being stored
		r.fold.Drop(entry)
		r.log.Error("evidence cannot be kept; it is counted", "operation", entry.Operation, "error", err)
		return
	}
	if !r.fold.Take(entry) {
		return
	}
	select {
	case r.queue <- entry:
	default:
		r.fold.Drop(entry)
	}
}

// run stores entries until ctx ends, and then those that were taken.
func (r *recorder) run(ctx context.Context) {
	look := time.NewTicker(recorderLook)
	defer look.Stop()
	for {
		select {
		case entry := <-r.queue:
			r.write(r.gather(entry))
		case <-look.C:
			r.write(r.folded(func(f *audit.Fold) []audit.Entry { return f.Due(time.Now()) }))
		case <-ctx.Done():
			for rest := r.gather(); len(rest) > 0; rest = r.gather() {
				r.write(rest)
			}
			r.write(r.folded((*audit.Fold).Rest))
			return
		}
	}
}

// gather takes what waits, for one change, behind what there is.
func (r *recorder) gather(entries ...audit.Entry) []audit.Entry {
	for len(entries) < recorderBatch {
		select {
		case entry := <-r.queue:
			entries = append(entries, entry)
		default:
			return entries
		}
	}
	return entries
}

func (r *recorder) folded(take func(*audit.Fold) []audit.Entry) []audit.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return take(&r.fold)
}

// write stores entries, so many in one change.
func (r *recorder) write(entries []audit.Entry) {
	ctx, cancel := context.WithTimeout(context.Background(), recorderStore)
	defer cancel()
	for len(entries) > 0 {
		batch := entries[:min(len(entries), recorderBatch)]
		entries = entries[len(batch):]
		if err := r.store.Record(ctx, batch...); err != nil {
			r.log.Error("evidence of refusals could not be stored; it is counted", "entries", len(batch), "error", err)
			r.lost(batch)
		}
	}
}

// lost counts entries that could not be stored.
func (r *recorder) lost(entries []audit.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range entries {
		r.fold.Drop(entry)
	}
}
