package sqlite

import (
	"slices"

	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// What a group of changes makes of a task or of work is gathered in memory and
// written once, before the commit: most tasks are changed more than once in a
// group, and work that begins and ends in one needs no row at all.

// maxEventsRow is the size from which events of a group get a row of their own.
const maxEventsRow = 64 << 10

// touched is a task this group has changed.
type touched struct {
	*entry
	stored *entry       // as the table has it; nil: not at all
	events []task.Event // new in this group

	dirty  bool
	body   []byte // encoded events that have no row yet
	shared bool   // the body is not ours to grow
	last   int64  // number of the last of them
}

// touch records the new form of a task and its new events. Was is the form
// before, nil if there was none.
func (t *tx) touch(was, e *entry, events []task.Event, body []byte) error {
	c, ok := t.tasks[e.key()]
	if !ok {
		c = &touched{stored: was}
		t.tasks[e.key()] = c
		t.order = append(t.order, c)
	}
	if len(c.body) > 0 && len(c.body)+len(body) > maxEventsRow {
		if err := t.writeEvents(c); err != nil {
			return err
		}
	}
	if len(events) > 0 {
		c.events = append(c.events, events...)
		c.last = e.record.Last
		switch {
		case c.body == nil:
			c.body, c.shared = body, true
		case c.shared: // the first batch is its caller's
			c.body, c.shared = slices.Concat(c.body, body), false
		default:
			c.body = append(c.body, body...)
		}
	}
	c.entry, c.dirty = e, true
	t.written++
	return nil
}

// writeEvents writes the row of events that have none.
func (t *tx) writeEvents(c *touched) error {
	_, err := t.exec("INSERT INTO events (key, body) VALUES (?1, ?2)", eventKey(c.n, c.last), c.body)
	c.body = nil
	return err
}

// flush writes what was gathered.
func (t *tx) flush() error {
	if err := t.flushTasks(); err != nil {
		return err
	}
	if err := t.flushWork(); err != nil {
		return err
	}
	if err := t.flushAudit(); err != nil {
		return err
	}
	if err := t.flushQuota(); err != nil {
		return err
	}
	return t.flushTotals()
}

// flushTasks writes tasks and their events. Queries over tasks need it.
func (t *tx) flushTasks() error {
	for _, c := range t.order {
		if !c.dirty {
			continue
		}
		if err := t.writeTask(c); err != nil {
			return err
		}
		if len(c.body) > 0 {
			if err := t.writeEvents(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeTask inserts the row of a task, or updates it.
func (t *tx) writeTask(c *touched) error {
	r, was := &c.record, c.stored
	state, err := stateNumber(r.State)
	if err != nil {
		return err
	}
	modes, err := encodeModes(r.Turn.AcceptedOutputModes)
	if err != nil {
		return err
	}
	c.stored, c.dirty = c.entry, false
	if was == nil {
		_, err := t.exec(insertTask, c.n, c.owner, state, r.StatusAt.UnixMilli(), r.CreatedAt.UnixMilli(),
			r.Last, r.Settled, int64(r.Turn.Number), string(r.ID), string(r.ContextID), r.Skill, modes, []byte(r.Turn.Metadata),
			r.Status, r.Metadata, r.History, r.Artifacts)
		return err
	}
	args := []any{c.n, r.Last, r.Settled, int64(r.Turn.Number), modes, []byte(r.Turn.Metadata),
		r.Status, r.Metadata, r.History, r.Artifacts}
	text := updateDocument
	if r.State != was.record.State || !r.StatusAt.Equal(was.record.StatusAt) {
		// State and status time are in the indexes of lists, which is why they
		// are left alone where they can be.
		text = updateTask
		args = append(args, state, r.StatusAt.UnixMilli())
	}
	_, err = t.exec(text, args...)
	return err
}

// workRow is a row of work as this group leaves it.
type workRow struct {
	status  int64
	attempt int64
	queued  int64
	due     int64 // milliseconds, 0 for never
	woken   bool
	group   string

	stored bool // the table has one
	gone   bool // it shall have none
	dirty  bool
}

// workOf is the row of a key, nil if there is none.
func (t *tx) workOf(key work.Key) (*workRow, error) {
	if r, ok := t.work[key]; ok {
		if r.gone {
			return nil, nil
		}
		return r, nil
	}
	found, ok, err := t.one("SELECT status, grp FROM work WHERE kind = ?1 AND id = ?2", string(key.Kind), key.ID)
	if err != nil || !ok {
		return nil, err
	}
	return &workRow{status: found.int(0), group: found.text(1), stored: true}, nil
}

// putWork makes a row what is given. Stored says whether the table has one, if
// this group has not touched it.
func (t *tx) putWork(key work.Key, r workRow, stored bool) {
	if before, ok := t.work[key]; ok {
		stored = before.stored
	}
	r.stored, r.dirty = stored, true
	t.work[key] = &r
	t.written++
}

// flushWork writes what became of work. Queries over work need it.
func (t *tx) flushWork() error {
	const (
		insert = "INSERT INTO work (kind, id, status, attempt, queued, woken, due_ms, grp) VALUES (?1, ?2, ?3, ?4, ?5, ?6, nullif(?7, 0), ?8)"
		update = "UPDATE work SET status = ?3, attempt = ?4, queued = ?5, woken = ?6, due_ms = nullif(?7, 0) WHERE kind = ?1 AND id = ?2"
		remove = "DELETE FROM work WHERE kind = ?1 AND id = ?2"
	)
	for key, r := range t.work {
		if !r.dirty {
			continue
		}
		var err error
		switch {
		case r.gone && r.stored:
			_, err = t.exec(remove, string(key.Kind), key.ID)
		case r.gone:
		case r.stored:
			_, err = t.exec(update, string(key.Kind), key.ID, r.status, r.attempt, r.queued, r.woken, r.due)
		default:
			_, err = t.exec(insert, string(key.Kind), key.ID, r.status, r.attempt, r.queued, r.woken, r.due, r.group)
		}
		if err != nil {
			return err
		}
		r.stored, r.dirty = !r.gone, false
	}
	return nil
}
