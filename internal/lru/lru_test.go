package lru_test

import (
	"testing"

	"github.com/legation/legation/internal/lru"
)

func TestMapForgetsWhatWasUsedLeastRecently(t *testing.T) {
	m := lru.New[string, int](2)
	m.Put("a", 1)
	m.Put("b", 2)
	m.Get("a")
	m.Put("c", 3)
	want(t, m, "a", 1, true)
	want(t, m, "b", 0, false)
	want(t, m, "c", 3, true)
	m.Put("a", 4)
	want(t, m, "a", 4, true)
	m.Put("d", 5)
	want(t, m, "c", 0, false)
	m.Delete("a")
	m.Delete("nobody")
	want(t, m, "a", 0, false)
	if m.Len() != 1 {
		t.Errorf("Len() = %d, want 1", m.Len())
	}
}

func TestMapWithoutALimitHoldsOne(t *testing.T) {
	m := lru.New[int, int](0)
	m.Put(1, 1)
	m.Put(2, 2)
	if _, ok := m.Get(1); ok || m.Len() != 1 {
		t.Errorf("holds %d entries, want the newest only", m.Len())
	}
}

func want(t *testing.T, m *lru.Map[string, int], key string, value int, ok bool) {
	t.Helper()
	if v, found := m.Get(key); v != value || found != ok {
		t.Errorf("Get(%q) = %d, %v, want %d, %v", key, v, found, value, ok)
	}
}
