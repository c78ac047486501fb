package sqlite

import (
	"time"

	"github.com/legation/legation/internal/work"
)

// jobs is the part of work that lives in the writer's memory: who holds what
// until when, and how much each group has. A start voids all holds, so their
// epochs and leases need no rows; that a hold exists does.
type jobs struct {
	epoch int64 // the newest given out
	queue int64 // the newest place in the order of ready rows
	held  map[work.Key]hold
	loads map[string]load
}

// hold is work that a node has claimed.
type hold struct {
	epoch   int64
	until   time.Time
	group   string
	attempt int64
	queued  int64
	woken   bool
}

// load is how many rows of a group are held and ready.
type load struct{ held, ready int }

// Values of work.status.
const (
	statusReady     = 0
	statusHeld      = 1
	statusSuspended = 2
)

func newJobs() *jobs {
	return &jobs{held: map[work.Key]hold{}, loads: map[string]load{}}
}

func (j *jobs) holds(fence work.Fence) bool {
	h, ok := j.held[fence.Key]
	return ok && h.epoch == fence.Epoch
}

func (j *jobs) anyReady() bool {
	for _, l := range j.loads {
		if l.ready > 0 {
			return true
		}
	}
	return false
}

// loadJobs makes everything that was held ready and counts what is.
func (w *writer) loadJobs() error {
	if _, err := w.exec("UPDATE work SET status = 0 WHERE status = 1"); err != nil {
		return err
	}
	newest, _, err := w.one("SELECT coalesce(max(queued), 0) FROM work")
	if err != nil {
		return err
	}
	w.jobs.queue = newest.int(0)
	return w.each("SELECT grp, count(*) FROM work WHERE status = 0 GROUP BY grp", nil, func(r row) (bool, error) {
		w.jobs.loads[r.text(0)] = load{ready: int(r.int(1))}
		return true, nil
	})
}

// hold records a hold, new or changed.
func (t *tx) hold(key work.Key, h hold) {
	was, existed := t.jobs.held[key]
	t.jobs.held[key] = h
	if !existed {
		t.addLoad(h.group, 1, 0)
	}
	t.undo(func() {
		if existed {
			t.jobs.held[key] = was
		} else {
			delete(t.jobs.held, key)
		}
	})
}

// letGo forgets a hold. Others of its group may be claimable now.
func (t *tx) letGo(key work.Key) {
	was, existed := t.jobs.held[key]
	if !existed {
		return
	}
	delete(t.jobs.held, key)
	delete(t.early, work.Fence{Key: key, Epoch: was.epoch})
	t.undo(func() { t.jobs.held[key] = was })
	t.addLoad(was.group, -1, 0)
	if t.jobs.loads[was.group].ready > 0 {
		t.ready = true
	}
}

// addLoad counts rows of a group that became held or ready, or ceased to be.
func (t *tx) addLoad(group string, held, ready int) {
	was := t.jobs.loads[group]
	now := load{held: was.held + held, ready: was.ready + ready}
	t.jobs.set(group, now)
	t.undo(func() { t.jobs.set(group, was) })
	if ready > 0 {
		t.ready = true
	}
}

func (j *jobs) set(group string, l load) {
	if l == (load{}) {
		delete(j.loads, group)
	} else {
		j.loads[group] = l
	}
}

func (j *jobs) nextEpoch() int64 {
	j.epoch++
	return j.epoch
}

func (j *jobs) nextPlace() int64 {
	j.queue++
	return j.queue
}
