package registry

import (
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
)

// watches are those who are told of each set.
type watches struct {
	mu  sync.Mutex
	all []*watch
}

type watch struct{ told func(Set) }

// Watch calls f with what is registered: at once, and after every change, in
// order and one at a time. A change returns to who made it when all who watch
// have returned. So f must neither change the registry nor watch it, nor call
// stop; it should leave long work to others. After stop has returned f is not
// called again.
func (r *Registry) Watch(f func(Set)) (stop func()) {
	w := &watch{told: f}
	r.watches.mu.Lock()
	defer r.watches.mu.Unlock()
	r.watches.all = append(r.watches.all, w)
	w.tell(r.Set(), r.log)
	return func() {
		r.watches.mu.Lock()
		defer r.watches.mu.Unlock()
		r.watches.all = slices.DeleteFunc(r.watches.all, func(one *watch) bool { return one == w })
	}
}

// tell makes a set the present one and tells everybody. Nobody begins to watch
// in between.
func (w *watches) tell(present func() Set, log *slog.Logger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set := present()
	for _, one := range w.all {
		one.tell(set, log)
	}
}

// tell keeps a fault of one who watches from the others.
func (w *watch) tell(set Set, log *slog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a watcher of the registry panicked", "revision", set.Revision, "stack", string(debug.Stack()))
		}
	}()
	w.told(set)
}
