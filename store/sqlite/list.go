package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// Bounds of a page, whatever is asked: how many tasks, and how many bytes of
// the documents asked for before it ends early. With its envelope a page stays
// within the 8 MiB that readers take, unless its only task does not.
const (
	maxPage      = 1000
	maxPageBytes = 7 << 20
)

// List reads one page. The work depends on the size of the page, not on the
// number of tasks; only the total of a query with Since counts. A page ends
// early, with More set, before the documents asked for take more than 7 MiB;
// it has one task at least.
func (s *Store) List(ctx context.Context, owner task.Owner, query task.Query) (task.Page, error) {
	number, ok := s.owners.number(owner)
	if !ok {
		return task.Page{}, nil
	}
	var page task.Page
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() (err error) {
			page, err = s.list(r, number, query)
			return err
		})
	})
	if err != nil {
		return task.Page{}, err
	}
	return page, nil
}

// scope is a set of tasks that are indexed together: those of an owner or
// those of a context.
type scope struct {
	from string // the index, and what its rows have in common
	args []any
}

func ownerScope(n int64) scope {
	return scope{from: "tasks INDEXED BY tasks_owner WHERE owner = ?1", args: []any{n}}
}

func contextScope(key contextKey) scope {
	return scope{from: "tasks INDEXED BY tasks_context WHERE owner = ?1 AND context_id = ?2", args: []any{key.owner, string(key.id)}}
}

// with is the scope's arguments and more, which are numbered from after on.
func (s scope) with(more ...any) (args []any, after int) {
	return append(s.args[:len(s.args):len(s.args)], more...), len(s.args) + 1
}

func (s *Store) list(r *reader, owner int64, query task.Query) (page task.Page, err error) {
	in, numbers, err := r.counters(owner, query.ContextID)
	if err != nil {
		return page, err
	}
	since := int64(math.MinInt64)
	if !query.Since.IsZero() {
		since = ceilMilli(query.Since) // status times are whole milliseconds
	}
	limit := min(max(query.Limit, 1), maxPage)
	var wanted stateSet
	for i, count := range numbers {
		if count == 0 || query.State != a2a.TaskStateUnspecified && query.State != states[i] {
			continue
		}
		if since != math.MinInt64 {
			if count, err = r.countSince(in, int64(i+1), since); err != nil {
				return page, err
			}
		}
		page.Total += count
		wanted |= 1 << i
	}
	found, err := r.newest(in, wanted, since, query.After, limit+1)
	if err != nil {
		return page, err
	}
	page.More = len(found) > limit
	size := 0
	for _, p := range found[:min(len(found), limit)] {
		record, err := s.listed(r, p.n, query.History, query.Artifacts)
		if err != nil {
			return page, err
		}
		if size += record.Size(); size > maxPageBytes && len(page.Records) > 0 {
			page.More = true
			break
		}
		page.Records = append(page.Records, record)
	}
	return page, nil
}

// counters are the scope of a query and its counters. Those of a context that
// does not exist are zero.
func (r *reader) counters(owner int64, context a2a.ContextID) (scope, counts, error) {
	if context == "" {
		found, _, err := r.one("SELECT "+stateColumns+" FROM owners WHERE n = ?1", owner)
		if err != nil || found == nil {
			return scope{}, counts{}, err
		}
		return ownerScope(owner), countsAt(found, 0), nil
	}
	key := contextKey{owner: owner, id: context}
	found, shared, err := r.one("SELECT "+stateColumns+" FROM contexts WHERE owner = ?1 AND id = ?2", owner, string(context))
	if err != nil {
		return scope{}, counts{}, err
	}
	if shared {
		return contextScope(key), countsAt(found, 0), nil
	}
	one, _, err := r.countContext(key)
	return contextScope(key), one, err
}

func (r *reader) countSince(in scope, state, since int64) (int64, error) {
	args, first := in.with(state, since)
	text := fmt.Sprintf("SELECT count(*) FROM %s AND state = ?%d AND status_ms >= ?%d", in.from, first, first+1)
	found, ok, err := r.one(text, args...)
	if err != nil || !ok {
		return 0, err
	}
	return found.int(0), nil
}

// position is a task's place in the order of lists.
type position struct {
	n        int64
	statusMS int64
	id       string
}

// stateSet is a set of states, each the bit of its index in states.
type stateSet uint8

// newest are the positions of the newest tasks in some states, after a cursor.
func (r *reader) newest(in scope, wanted stateSet, since int64, after *task.Cursor, limit int) (found []position, err error) {
	if wanted == 0 {
		return nil, nil
	}
	end := position{statusMS: math.MaxInt64}
	if after != nil {
		end = position{statusMS: after.StatusAt.UnixMilli(), id: string(after.ID)}
	}
	args, first := in.with(since, end.statusMS, end.id, int64(limit))
	err = r.each(newestText(in, wanted, first), args, func(row row) (bool, error) {
		found = append(found, position{n: row.int(0), statusMS: row.int(1), id: row.text(2)})
		return true, nil
	})
	return found, err
}

// newestText reads one range of the index for each state. SQLite merges them
// row by row, so that it reads no more than it returns, whatever the filter.
func newestText(in scope, wanted stateSet, first int) string {
	var ranges []string
	for i := range states {
		if wanted&(1<<i) != 0 {
			ranges = append(ranges, fmt.Sprintf("SELECT n, status_ms, id FROM %s AND state = %d AND status_ms >= ?%d AND (status_ms, id) < (?%d, ?%d)",
				in.from, i+1, first, first+1, first+2))
		}
	}
	return strings.Join(ranges, " UNION ALL ") + fmt.Sprintf(" ORDER BY status_ms DESC, id DESC LIMIT ?%d", first+3)
}

// listed reads one task of a page, without the pieces that were not asked for.
// SQLite reads large columns only where they are used.
func (s *Store) listed(r *reader, n int64, history, artifacts bool) (task.Record, error) {
	found, ok, err := r.one("SELECT "+taskColumns+
		", CASE WHEN ?2 THEN t.history END, CASE WHEN ?3 THEN t.artifacts END"+tasksFrom+whereNumber, n, history, artifacts)
	if err != nil {
		return task.Record{}, err
	}
	if !ok {
		return task.Record{}, task.ErrNotFound
	}
	e, err := s.scanTask(found)
	if err != nil {
		return task.Record{}, err
	}
	return e.record, nil
}

// Earlier reads the newest ended tasks of a context besides one, oldest first.
// It stops before the task whose documents would exceed maxBytes.
func (s *Store) Earlier(ctx context.Context, owner task.Owner, context a2a.ContextID, besides a2a.TaskID, limit, maxBytes int) ([]task.Record, error) {
	number, ok := s.owners.number(owner)
	if !ok || limit <= 0 || context == "" {
		return nil, nil
	}
	limit = min(limit, maxPage)
	var records []task.Record
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() (err error) {
			records, err = s.earlier(r, number, context, besides, limit, maxBytes)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(records)
	return records, nil
}

func (s *Store) earlier(r *reader, owner int64, context a2a.ContextID, besides a2a.TaskID, limit, maxBytes int) (records []task.Record, err error) {
	in, numbers, err := r.counters(owner, context)
	if err != nil {
		return nil, err
	}
	var ended stateSet
	for i, count := range numbers {
		if count > 0 && states[i].Terminal() {
			ended |= 1 << i
		}
	}
	found, err := r.newest(in, ended, math.MinInt64, nil, limit+1)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p position) bool { return p.id == string(besides) })
	for _, p := range found[:min(len(found), limit)] {
		record, err := s.listed(r, p.n, true, true)
		if err != nil {
			return nil, err
		}
		if maxBytes -= record.Size(); maxBytes < 0 {
			break
		}
		records = append(records, record)
	}
	return records, nil
}
