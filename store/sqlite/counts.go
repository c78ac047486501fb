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

// context is the number of a context, which is new if it has no tasks yet. Its
// row is written with its counters at the end of the group.
func (t *tx) context(owner int64, id a2a.ContextID) (int64, error) {
	key := contextKey{owner: owner, id: id}
	if n, ok := t.contexts[key]; ok {
		return n, nil
	}
	found, ok, err := t.one("SELECT n FROM contexts WHERE owner = ?1 AND id = ?2", owner, string(id))
	if err != nil {
		return 0, err
	}
	if ok {
		return found.int(0), nil
	}
	t.lastContext++ // not taken back: a number that is never used harms nobody
	t.contexts[key] = t.lastContext
	return t.lastContext, nil
}

const stateColumns = "submitted, working, completed, failed, canceled, input_required, rejected, auth_required"

const insertContext = "INSERT INTO contexts (owner, id, n, " + stateColumns + ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"

var columns = strings.Split(stateColumns, ", ")

// flushTotals writes new contexts and the changes of the counters.
func (t *tx) flushTotals() error {
	for key, n := range t.contexts {
		args := []any{key.owner, string(key.id), n}
		for _, count := range at(t.totals.contexts, key) {
			args = append(args, count)
		}
		if _, err := t.exec(insertContext, args...); err != nil {
			return err
		}
		delete(t.totals.contexts, key)
	}
	for key, c := range t.totals.contexts {
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
