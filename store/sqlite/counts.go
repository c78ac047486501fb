package sqlite

import (
	"strconv"
	"strings"

	"github.com/legation/legation/a2a"
)

// counts is a number of tasks for each state, in the order of states.
type counts [len(states)]int64

// totals are the changes of the counters that lists take their totals from.
// They are collected over a group and applied once.
type totals struct {
	owners   map[int64]*counts
	contexts map[contextKey]*counts
}

// contextKey names a context of an owner.
type contextKey struct {
	owner int64
	id    a2a.ContextID
}

func newTotals() totals {
	return totals{owners: map[int64]*counts{}, contexts: map[contextKey]*counts{}}
}

func (t *totals) reset() {
	clear(t.owners)
	clear(t.contexts)
}

// move counts a task that went from one state to another; zero is no state.
func (t *totals) move(e *entry, from, to int64) {
	if from == to {
		return
	}
	key := contextKey{owner: e.owner, id: e.record.ContextID}
	for _, c := range [...]*counts{at(t.owners, e.owner), at(t.contexts, key)} {
		if from > 0 {
			c[from-1]--
		}
		if to > 0 {
			c[to-1]++
		}
	}
}

func at[K comparable](m map[K]*counts, key K) *counts {
	c, ok := m[key]
	if !ok {
		c = &counts{}
		m[key] = c
	}
	return c
}

// enterContext prepares a context for one more task. It has a row, for its
// counters, only from its second task on.
func (t *tx) enterContext(key contextKey, isNew bool) error {
	if isNew {
		t.alone[key] = true
		return nil
	}
	_, shared, err := t.one("SELECT 1 FROM contexts WHERE owner = ?1 AND id = ?2", key.owner, string(key.id))
	if err != nil || shared {
		return err
	}
	if err := t.flushTasks(); err != nil { // so that it can be counted
		return err
	}
	first, found, err := t.countContext(key)
	if err != nil {
		return err
	}
	if !found {
		t.alone[key] = true
		return nil
	}
	args := []any{key.owner, string(key.id)}
	for _, count := range first {
		args = append(args, count)
	}
	delete(t.totals.contexts, key) // counted
	delete(t.alone, key)
	_, err = t.exec("INSERT INTO contexts (owner, id, "+stateColumns+") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", args...)
	return err
}

// countContext counts the tasks of a context that has no row: there is one at
// most.
func (c *connection) countContext(key contextKey) (found counts, some bool, err error) {
	const query = "SELECT state FROM tasks INDEXED BY tasks_context WHERE owner = ?1 AND context_id = ?2"
	err = c.each(query, []any{key.owner, string(key.id)}, func(r row) (bool, error) {
		if state := r.int(0); state >= 1 && int(state) <= len(found) {
			found[state-1]++
			some = true
		}
		return true, nil
	})
	return found, some, err
}

const stateColumns = "submitted, working, completed, failed, canceled, input_required, rejected, auth_required"

var columns = strings.Split(stateColumns, ", ")

// flushTotals writes the changes of the counters.
func (t *tx) flushTotals() error {
	for key, c := range t.totals.contexts {
		if t.alone[key] {
			continue
		}
		// Changes no row if the task is the only one of its context.
		if err := t.add(c, "contexts", "owner = ?1 AND id = ?2", key.owner, string(key.id)); err != nil {
			return err
		}
	}
	for n, c := range t.totals.owners {
		if err := t.add(c, "owners", "n = ?1", n); err != nil {
			return err
		}
	}
	return nil
}

// add adds to the counters of a row those that are not zero.
func (t *tx) add(c *counts, table, where string, args ...any) error {
	text := make([]byte, 0, 256)
	text = append(text, "UPDATE "...)
	text = append(text, table...)
	separator := " SET "
	for i, count := range c {
		if count == 0 {
			continue
		}
		args = append(args, count)
		text = append(text, separator...)
		text = append(text, columns[i]...)
		text = append(text, " = "...)
		text = append(text, columns[i]...)
		text = append(text, " + ?"...)
		text = strconv.AppendInt(text, int64(len(args)), 10)
		separator = ", "
	}
	if separator == " SET " {
		return nil
	}
	text = append(text, " WHERE "...)
	text = append(text, where...)
	_, err := t.exec(string(text), args...)
	return err
}

// countsAt reads the counters of a row.
func countsAt(r row, from int) (c counts) {
	for i := range c {
		c[i] = r.int(from + i)
	}
	return c
}
