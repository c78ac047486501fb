package sqlite

import (
	"hash/maphash"
	"sync"

	"github.com/legation/legation/task"
)

// entry is a task as committed, and where its rows are.
type entry struct {
	place
	record task.Record
}

func (e *entry) key() taskKey { return taskKey{owner: e.owner, id: e.record.ID} }

// place is where the rows of a task are.
type place struct {
	n     int64
	owner int64
}

// cache keeps the current form of tasks that changed or were read lately. The
// writer puts what it has committed, so an entry is never older than what a
// method has returned.
type cache struct {
	mu   sync.Mutex
	kept *lru[*entry]
	seed maphash.Seed

	// changing are the tasks of the group that is being committed. Readers of
	// the database may see their new form before it is here, so until then
	// everybody reads them there.
	changing map[taskKey]bool

	// drops counts, for each part of the keys, the entries that were dropped. A
	// reader that saw none between its query and its fill cannot put back a
	// form that a newer one, dropped since, had replaced.
	drops [256]uint64
}

const entryOverhead = 512 // fields, map and list, roughly

func newCache(limit int) *cache {
	c := &cache{seed: maphash.MakeSeed(), changing: map[taskKey]bool{}}
	c.kept = newLRU[*entry](limit, func(key taskKey) { c.drops[c.part(key)]++ })
	return c
}

func (c *cache) part(key taskKey) byte { return byte(maphash.Comparable(c.seed, key)) }

func (c *cache) get(key taskKey) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changing[key] {
		return nil, false
	}
	return c.kept.get(key)
}

// own reads for the writer, which is the one that changes.
func (c *cache) own(key taskKey) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept.get(key)
}

// change announces that a group is being committed.
func (c *cache) change(group []*touched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range group {
		c.changing[t.key()] = true
	}
}

// unchanged takes back what change has announced.
func (c *cache) unchanged() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.changing)
}

// put keeps what was committed. Only the writer calls it, in order.
func (c *cache) put(group []*touched) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range group {
		e := t.entry
		c.kept.put(e.key(), e, e.record.Size()+len(e.record.Turn.Metadata)+entryOverhead)
	}
	clear(c.changing)
}

// mark is taken before a query whose result may be filled in.
func (c *cache) mark(key taskKey) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drops[c.part(key)]
}

// fill keeps what a query has read, unless something newer was put or dropped
// since the mark.
func (c *cache) fill(e *entry, mark uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept.slots[e.key()]; ok || c.changing[e.key()] || c.drops[c.part(e.key())] != mark {
		return
	}
	c.kept.put(e.key(), e, e.record.Size()+len(e.record.Turn.Metadata)+entryOverhead)
}
