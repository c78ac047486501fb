// Package lru is a bounded map that forgets what was used least recently.
//
// It is not a cache with expiry: what it holds is the user's to judge.
//
// Invariant: there are never more entries than the map was made for.
package lru

import "container/list"

// Map holds so many entries at most. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	limit int
	order *list.List // newest use first
	found map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New makes a map for so many entries, at least one.
func New[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{limit: max(limit, 1), order: list.New(), found: map[K]*list.Element{}}
}

// Get is the value of a key, which counts as a use.
func (m *Map[K, V]) Get(key K) (V, bool) {
	e, ok := m.found[key]
	if !ok {
		var none V
		return none, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put sets the value of a key. If there is no place the key that was used least
// recently goes.
func (m *Map[K, V]) Put(key K, value V) {
	if e, ok := m.found[key]; ok {
		e.Value.(*entry[K, V]).value = value
		m.order.MoveToFront(e)
		return
	}
	if m.order.Len() >= m.limit {
		oldest := m.order.Back()
		m.order.Remove(oldest)
		delete(m.found, oldest.Value.(*entry[K, V]).key)
	}
	m.found[key] = m.order.PushFront(&entry[K, V]{key: key, value: value})
}

// Delete forgets a key.
func (m *Map[K, V]) Delete(key K) {
	if e, ok := m.found[key]; ok {
		m.order.Remove(e)
		delete(m.found, key)
	}
}

// Len is how many entries there are.
func (m *Map[K, V]) Len() int { return m.order.Len() }
