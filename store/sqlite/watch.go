package sqlite

import (
	"sync"

	"github.com/legation/legation/a2a"
)

// watches are the channels to signal when a task has changed.
type watches struct {
	mu  sync.Mutex
	set map[a2a.TaskID]map[chan struct{}]struct{}
}

func newWatches() *watches {
	return &watches{set: map[a2a.TaskID]map[chan struct{}]struct{}{}}
}

// Watch returns a channel that is signaled after a change of the task was
// committed. Signals that were not taken yet are one. The task need not exist.
func (s *Store) Watch(id a2a.TaskID) (<-chan struct{}, func()) {
	w := s.watches
	wake := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.set[id] == nil {
		w.set[id] = map[chan struct{}]struct{}{}
	}
	w.set[id][wake] = struct{}{}
	return wake, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.set[id], wake)
		if len(w.set[id]) == 0 {
			delete(w.set, id)
		}
	}
}

func (w *watches) signal(id a2a.TaskID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wake := range w.set[id] {
		signal(wake)
	}
}

// signal sends to a channel of capacity one unless a signal waits there.
func signal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
