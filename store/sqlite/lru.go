package sqlite

import (
	"container/list"

	"github.com/legation/legation/a2a"
)

// lru keeps values by task id within a number of bytes and drops those that
// were not used for longest. It is not safe for concurrent use.
type lru[V any] struct {
	limit   int
	size    int
	order   *list.List // of *slot[V], newest use first
	slots   map[a2a.TaskID]*list.Element
	dropped func(id a2a.TaskID)
}

type slot[V any] struct {
	id    a2a.TaskID
	value V
	size  int
}

func newLRU[V any](limit int, dropped func(a2a.TaskID)) *lru[V] {
	return &lru[V]{limit: limit, order: list.New(), slots: map[a2a.TaskID]*list.Element{}, dropped: dropped}
}

func (l *lru[V]) get(id a2a.TaskID) (value V, ok bool) {
	element, ok := l.slots[id]
	if !ok {
		return value, false
	}
	l.order.MoveToFront(element)
	return element.Value.(*slot[V]).value, true
}

// put keeps a value, unless it alone would take a quarter of the room.
func (l *lru[V]) put(id a2a.TaskID, value V, size int) {
	if size > l.limit/4 {
		l.drop(id)
		return
	}
	if element, ok := l.slots[id]; ok {
		s := element.Value.(*slot[V])
		l.size += size - s.size
		s.value, s.size = value, size
		l.order.MoveToFront(element)
	} else {
		l.slots[id] = l.order.PushFront(&slot[V]{id: id, value: value, size: size})
		l.size += size
	}
	for l.size > l.limit {
		l.drop(l.order.Back().Value.(*slot[V]).id)
	}
}

func (l *lru[V]) drop(id a2a.TaskID) {
	if element, ok := l.slots[id]; ok {
		l.order.Remove(element)
		delete(l.slots, id)
		l.size -= element.Value.(*slot[V]).size
	}
	// Told even if there was nothing: a value that is too large counts.
	l.dropped(id)
}
