package sqlite

import (
	"fmt"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// one is the task that most of these are about.
var one = taskKey{owner: 1, id: "t"}

func cached(id string, last int64, size int) *entry {
	return &entry{place: place{owner: 1}, record: task.Record{ID: a2a.TaskID(id), Last: last, Document: task.Document{History: make([]byte, size)}}}
}

// A reader whose query is older than a commit must not put back the past, even
// if the newer form did not stay in memory.
func TestCacheNeverGoesBack(t *testing.T) {
	for name, between := range map[string]func(*cache){
		"newer is kept":      func(c *cache) { c.put([]*touched{{entry: cached("t", 2, 10)}}) },
		"newer is too large": func(c *cache) { c.put([]*touched{{entry: cached("t", 2, 100_000)}}) },
		"newer was pushed out": func(c *cache) {
			c.put([]*touched{{entry: cached("t", 2, 10)}})
			for i := range 1000 {
				c.put([]*touched{{entry: cached(fmt.Sprint("other", i), 1, 10)}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(100_000)
			mark := c.mark(one)
			old := cached("t", 1, 10)
			between(c)
			c.fill(old, mark)
			if e, ok := c.get(one); ok && e.record.Last != 2 {
				t.Errorf("cache has the task as of event %d, want 2 or nothing", e.record.Last)
			}
		})
	}
}

func TestCacheKeepsWhatWasRead(t *testing.T) {
	c := newCache(100_000)
	c.fill(cached("t", 1, 10), c.mark(one))
	if _, ok := c.get(one); !ok {
		t.Error("cache does not have what was read")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 100_000
	c, l := newCache(limit), newTail(limit)
	for i := range 1000 {
		id := fmt.Sprint("task", i%300)
		c.put([]*touched{{entry: cached(id, int64(i), i)}})
		l.append(taskKey{1, a2a.TaskID(id)}, []task.Event{{Number: int64(i), Body: make([]byte, i)}})
		if c.kept.size > limit || l.kept.size > limit {
			t.Fatalf("cache takes %d and tail %d bytes, want at most %d", c.kept.size, l.kept.size, limit)
		}
	}
	if len(c.kept.slots) < 50 || len(l.kept.slots) < 50 {
		t.Errorf("cache has %d tasks and tail %d, want it used", len(c.kept.slots), len(l.kept.slots))
	}
}

func TestTailOfOneTaskIsBounded(t *testing.T) {
	l := newTail(64 << 20)
	for i := range int64(2000) {
		l.append(one, []task.Event{{Number: i + 1, Body: make([]byte, 10)}})
	}
	f, ok := l.kept.get(one)
	if !ok || len(f.events) != tailEvents || f.events[len(f.events)-1].Number != 2000 {
		t.Fatalf("tail has %d events, want the newest %d", len(f.events), tailEvents)
	}
	if _, ok := l.after(one, 10); ok {
		t.Error("tail answers what it has no longer")
	}
	if events, ok := l.after(one, 1990); !ok || len(events) != 10 {
		t.Errorf("after(1990) = %d events, %v, want 10", len(events), ok)
	}
	if events, ok := l.after(one, 2000); !ok || len(events) != 0 {
		t.Errorf("after the last = %d events, %v, want none", len(events), ok)
	}
	if _, ok := l.after(taskKey{2, "t"}, 2000); ok {
		t.Error("tail answers another owner")
	}
}
