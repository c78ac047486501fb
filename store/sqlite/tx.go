package sqlite

import (
	"github.com/legation/legation/internal/work"
)

// tx is the transaction of one group of changes. A change makes all its checks
// before its first write, so that a refused one leaves nothing to undo; when a
// write fails the whole group is undone.
type tx struct {
	*writer
	open    bool  // BEGIN was executed
	written int   // changes, of rows or of what is gathered for them
	broken  error // why the transaction cannot be committed
	undos   []func()

	tasks    map[taskKey]*touched
	order    []*touched // in the order of their first change
	work     map[work.Key]*workRow
	totals   totals
	quota    quotaRows
	alone    map[contextKey]bool // contexts with one task, which is new in this group
	ready    bool                // something became claimable
	evidence []evidence

	early map[work.Fence]bool // runs that were told of in this group, and still go on
	quick bool                // one of them ended in it
}

func newTx(w *writer) *tx {
	return &tx{
		writer: w,
		tasks:  map[taskKey]*touched{},
		work:   map[work.Key]*workRow{},
		totals: newTotals(),
		quota:  newQuotaRows(),
		alone:  map[contextKey]bool{},
		early:  map[work.Fence]bool{},
	}
}

// exec runs a statement that writes.
func (t *tx) exec(text string, args ...any) (int64, error) {
	if !t.open {
		if _, err := t.connection.exec("BEGIN IMMEDIATE"); err != nil {
			t.broken = err
			return 0, err
		}
		t.open = true
	}
	changed, err := t.connection.exec(text, args...)
	if err != nil {
		t.broken = err
	}
	if changed > 0 {
		t.written++
	}
	return changed, err
}

// one reads a row within the transaction.
func (t *tx) one(text string, args ...any) (row, bool, error) {
	found, ok, err := t.connection.one(text, args...)
	if err != nil {
		t.broken = err
	}
	return found, ok, err
}

// undo registers what takes back a change of the writer's memory.
func (t *tx) undo(f func()) { t.undos = append(t.undos, f) }

// commit makes the group durable and then visible.
func (t *tx) commit() error {
	if t.broken != nil {
		return t.broken
	}
	if err := t.flush(); err != nil {
		return err
	}
	if t.open {
		t.store.cache.change(t.order)
		if _, err := t.connection.exec("COMMIT"); err != nil {
			t.store.cache.unchanged()
			return err
		}
	}
	if hook := t.store.committed; hook != nil {
		hook()
	}
	t.store.cache.put(t.order)
	for _, touched := range t.order {
		t.store.tail.append(touched.key(), touched.events)
	}
	for _, touched := range t.order {
		t.store.watches.signal(touched.record.ID)
	}
	if t.ready {
		signal(t.store.ready)
	}
	t.reset()
	return nil
}

// rollback undoes the group.
func (t *tx) rollback() {
	if t.open {
		// SQLite may have rolled back by itself, which makes this an error.
		_, _ = t.connection.exec("ROLLBACK")
	}
	for i := len(t.undos) - 1; i >= 0; i-- {
		t.undos[i]()
	}
	t.reset()
}

func (t *tx) reset() {
	t.open, t.written, t.broken, t.ready, t.quick = false, 0, nil, false, false
	clear(t.undos)
	t.undos = t.undos[:0]
	clear(t.tasks)
	clear(t.order)
	t.order = t.order[:0]
	clear(t.work)
	t.totals.reset()
	t.quota.reset()
	clear(t.alone)
	clear(t.early)
	clear(t.evidence)
	t.evidence = t.evidence[:0]
}
