package sqlite

import (
	"container/list"

	"github.com/legation/legation/a2a"
)

// taskKey is what tasks are looked up by. The owner is part of it, so that
// another owner's task is looked for, and missed, like one that never was.
type taskKey struct {
	owner int64
	id    a2a.TaskID
}

// lru keeps values by task within a number of bytes and drops those that
// were not used for longest. It is not safe for concurrent use.
type lru[V any] struct {
	limit   int
	size    int
	order   *list.List // of *slot[V], newest use first
	slots   map[taskKey]*list.Element
	dropped func(key taskKey)
}

type slot[V any] struct {
	key   taskKey
	value V
	size  int
}

func newLRU[V any](limit int, dropped func(taskKey)) *lru[V] {
	return &lru[V]{limit: limit, order: list.New(), slots: map[taskKey]*list.Element{}, dropped: dropped}
}

func (l *lru[V]) get(key taskKey) (value V, ok bool) {
	element, ok := l.slots[key]
	if !ok {
		return value, false
	}
	l.order.MoveToFront(element)
	return element.Value.(*slot[V]).value, true
}

// put keeps a value, unless it alone would take a quarter of the room.
func (l *lru[V]) put(key taskKey, value V, size int) {
	if size > l.limit/4 {
		l.drop(key)
		return
	}
	if element, ok := l.slots[key]; ok {
		s := element.Value.(*slot[V])
		l.size += size - s.size
		s.value, s.size = value, size
		l.order.MoveToFront(element)
	} else {
		l.slots[key] = l.order.PushFront(&slot[V]{key: key, value: value, size: size})
		l.size += size
	}
	for l.size > l.limit {
		l.drop(l.order.Back().Value.(*slot[V]).key)
	}
}

func (l *lru[V]) drop(key taskKey) {
	if element, ok := l.slots[key]; ok {
		l.order.Remove(element)
		delete(l.slots, key)
		l.size -= element.Value.(*slot[V]).size
	}
	// Told even if there was nothing: a value that is too large counts.
	l.dropped(key)
}
