package sqlite

import (
	"sync"

	"github.com/legation/legation/task"
)

// tail keeps the newest committed events of tasks that changed lately, for
// readers that follow them.
type tail struct {
	mu   sync.Mutex
	kept *lru[*follow]
}

// follow is the newest events of one task, without gaps up to its last.
// Readers share the memory of the slice: it is appended to and cut at the
// front, never written to.
type follow struct {
	events []task.Event
	size   int
}

// Most that is kept of one task.
const (
	tailEvents = 512
	tailBytes  = 2 << 20
)

const eventOverhead = 48

func newTail(limit int) *tail {
	return &tail{kept: newLRU[*follow](limit, func(taskKey) {})}
}

// append adds events that were committed. Only the writer calls it, in order.
func (t *tail) append(key taskKey, events []task.Event) {
	if len(events) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.kept.get(key)
	if !ok {
		f = &follow{}
	}
	f.events = append(f.events, events...)
	for _, event := range events {
		f.size += len(event.Body) + eventOverhead
	}
	for len(f.events) > 1 && (len(f.events) > tailEvents || f.size > tailBytes) {
		f.size -= len(f.events[0].Body) + eventOverhead
		f.events = f.events[1:]
	}
	t.kept.put(key, f, f.size+entryOverhead)
}

// after returns the events above a number, if memory has all of them.
func (t *tail) after(key taskKey, after int64) ([]task.Event, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, ok := t.kept.get(key)
	if !ok || after+1 < f.events[0].Number {
		return nil, false
	}
	skip := min(after+1-f.events[0].Number, int64(len(f.events)))
	return bounded(f.events[skip:]), true
}
