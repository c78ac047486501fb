package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Task reads one task, from memory if it changed or was read lately.
func (s *Store) Task(ctx context.Context, owner task.Owner, id a2a.TaskID) (task.Record, error) {
	number, ok := s.owners.number(owner)
	if !ok {
		return task.Record{}, task.ErrNotFound
	}
	key := taskKey{owner: number, id: id}
	if e, ok := s.cache.get(key); ok {
		return e.record, nil
	}
	var found *entry
	mark := s.cache.mark(key)
	err := s.read(ctx, func(r *reader) (err error) {
		found, err = s.readTask(r.connection, whereKey, key.args()...)
		return err
	})
	if err != nil {
		return task.Record{}, err
	}
	s.cache.fill(found, mark)
	return found.record, nil
}

// Held reads the task behind claimed work.
func (s *Store) Held(ctx context.Context, fence work.Fence) (task.Record, error) {
	var record task.Record
	err := s.write(ctx, func(t *tx) error {
		if !t.jobs.holds(fence) {
			return task.ErrFenced
		}
		e, err := t.loadHeld(a2a.TaskID(fence.ID))
		if err != nil {
			return err
		}
		record = e.record
		return nil
	})
	if err != nil {
		return task.Record{}, err
	}
	return record, nil
}

// taskColumns are read in this order by scanTask.
const taskColumns = `t.n, t.owner, t.state, t.status_ms, t.created_ms, t.last, t.settled,
	t.turn, t.id, t.skill, t.turn_modes, t.turn_metadata, t.status, t.metadata, t.context_id`

const tasksFrom = " FROM tasks t WHERE "

// Which task is meant: by its number, or by its key.
const (
	whereNumber = "t.n = ?1"
	whereKey    = "t.id = ?1 AND t.owner = ?2"
)

func (k taskKey) args() []any { return []any{string(k.id), k.owner} }

// readTask reads the task that where finds.
func (s *Store) readTask(c *connection, where string, args ...any) (*entry, error) {
	found, ok, err := c.one("SELECT "+taskColumns+", t.history, t.artifacts"+tasksFrom+where, args...)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, task.ErrNotFound
	}
	return s.scanTask(found)
}

// scanTask is the task of a row of taskColumns, history and artifacts.
func (s *Store) scanTask(r row) (*entry, error) {
	e := &entry{place: place{n: r.int(0), owner: r.int(1)}}
	e.record = task.Record{
		Owner:     s.owners.name(e.owner),
		ID:        a2a.TaskID(r.text(8)),
		ContextID: a2a.ContextID(r.text(14)),
		Skill:     r.text(9),
		State:     stateOf(r.int(2)),
		StatusAt:  time.UnixMilli(r.int(3)).UTC(),
		CreatedAt: time.UnixMilli(r.int(4)).UTC(),
		Last:      r.int(5),
		Settled:   r.int(6),
		Turn:      task.Turn{Number: int(r.int(7)), Metadata: r.bytes(11)},
		Document: task.Document{
			Status:    r.bytes(12),
			Metadata:  r.bytes(13),
			History:   r.bytes(15),
			Artifacts: r.bytes(16),
		},
	}
	if modes := r.text(10); modes != "" {
		if err := json.Unmarshal([]byte(modes), &e.record.Turn.AcceptedOutputModes); err != nil {
			return nil, fmt.Errorf("output modes of task %s: %w", e.record.ID, err)
		}
	}
	return e, nil
}

// load reads a task as this group has left it.
func (t *tx) load(key taskKey) (*entry, error) {
	if touched, ok := t.tasks[key]; ok {
		return touched.entry, nil
	}
	if e, ok := t.store.cache.own(key); ok {
		return e, nil
	}
	e, err := t.store.readTask(t.connection, whereKey, key.args()...)
	if err != nil && !errors.Is(err, task.ErrNotFound) {
		t.broken = err
	}
	return e, err
}

// loadOwned reads a task of an owner as this group has left it.
func (t *tx) loadOwned(owner task.Owner, id a2a.TaskID) (*entry, error) {
	number, ok := t.store.owners.number(owner)
	if !ok {
		return nil, task.ErrNotFound
	}
	return t.load(taskKey{owner: number, id: id})
}

// loadHeld reads the task behind a fence that was found good, whose owner
// nobody has to name.
func (t *tx) loadHeld(id a2a.TaskID) (*entry, error) {
	for _, c := range t.order { // may have no row yet
		if c.record.ID == id {
			return c.entry, nil
		}
	}
	found, ok, err := t.one("SELECT owner FROM tasks WHERE id = ?1", string(id))
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, task.ErrNotFound
	}
	return t.load(taskKey{owner: found.int(0), id: id})
}

const (
	insertTask = `INSERT INTO tasks (n, owner, state, status_ms, created_ms, last, settled, turn, id, context_id, skill,
		turn_modes, turn_metadata, status, metadata, history, artifacts)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`

	updateDocument = `UPDATE tasks SET last = ?2, settled = ?3, turn = ?4, turn_modes = ?5, turn_metadata = ?6,
		status = ?7, metadata = ?8, history = ?9, artifacts = ?10 WHERE n = ?1`

	updateTask = `UPDATE tasks SET last = ?2, settled = ?3, turn = ?4, turn_modes = ?5, turn_metadata = ?6,
		status = ?7, metadata = ?8, history = ?9, artifacts = ?10, state = ?11, status_ms = ?12 WHERE n = ?1`
)

// insert takes a new task and its first events into the group. The body is the
// events encoded.
func (t *tx) insert(e *entry, events []task.Event, body []byte) error {
	state, err := stateNumber(e.record.State)
	if err != nil {
		return err
	}
	t.totals.move(e, 0, state)
	return t.touch(nil, e, events, body)
}

// update takes what became of a task into the group, and the events that tell
// so. The body is the events encoded, nil if there are none.
func (t *tx) update(was *entry, record task.Record, events []task.Event, body []byte) error {
	from, err := stateNumber(was.record.State)
	if err != nil {
		return err
	}
	to, err := stateNumber(record.State)
	if err != nil {
		return err
	}
	e := &entry{place: was.place, record: record}
	t.totals.move(e, from, to)
	return t.touch(was, e, events, body)
}

// checkEvents makes sure that events continue those that are stored.
func checkEvents(events []task.Event, before, last int64) error {
	for i, event := range events {
		if event.Number != before+int64(i)+1 {
			return fmt.Errorf("event %d of a batch has number %d, and %d events were stored before", i, event.Number, before)
		}
	}
	if before+int64(len(events)) != last {
		return fmt.Errorf("%d events after %d do not make %d", len(events), before, last)
	}
	if last >= 1<<eventBits {
		return task.ErrTooLarge
	}
	return nil
}

func encodeModes(modes []string) (any, error) {
	if modes == nil {
		return nil, nil
	}
	b, err := json.Marshal(modes)
	return string(b), err
}
