package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/legation/legation/task"
)

// LimitPages makes the disk full at so many more pages than there are, or
// takes the limit away if there are to be none.
func (s *Store) LimitPages(ctx context.Context, more int64) error {
	return s.write(ctx, func(t *tx) error {
		limit := int64(1 << 30)
		if more >= 0 {
			found, _, err := t.one("PRAGMA page_count")
			if err != nil {
				return err
			}
			limit = found.int(0) + more
		}
		_, _, err := t.one(fmt.Sprintf("PRAGMA max_page_count = %d", limit))
		return err
	})
}

// Panic is a change that panics after it has written.
func (s *Store) Panic(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec("INSERT INTO cards (agent, digest, since_ms) VALUES ('panicked', '', 0)"); err != nil {
			return err
		}
		panic("at the disco")
	})
}

// Hold keeps the writer busy until the returned function is called, so that
// the changes after it make one group.
func (s *Store) Hold(ctx context.Context) (release func()) {
	gate, entered := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.write(ctx, func(*tx) error {
			close(entered)
			<-gate
			return nil
		})
	}()
	<-entered
	return func() { close(gate) }
}

// OnCommit calls a function between each commit and its becoming known in
// memory, until it is called with nil. Nothing may be written meanwhile.
func (s *Store) OnCommit(ctx context.Context, hook func()) error {
	return s.write(ctx, func(t *tx) error {
		t.undo(func() { s.committed = nil })
		s.committed = hook
		return nil
	})
}

// Healthy reports whether the newest change could be stored.
func (s *Store) Healthy() bool { return s.failed.Load() == nil }

// Waiting is how many changes wait for the writer.
func (s *Store) Waiting() int { return len(s.queue) }

// Plans are how SQLite runs the queries whose cost must not grow with the
// number of tasks.
func (s *Store) Plans(ctx context.Context) (map[string]string, error) {
	plans := map[string]string{}
	err := s.read(ctx, func(r *reader) error {
		for name, in := range map[string]scope{"tasks_owner": ownerScope(1), "tasks_context": contextScope(contextKey{owner: 1})} {
			plan := ""
			args, first := in.with(int64(0), int64(0), "", int64(1))
			if err := r.each("EXPLAIN QUERY PLAN "+newestText(in, 0xff, first), args, func(row row) (bool, error) {
				plan += row.text(3) + "\n"
				return true, nil
			}); err != nil {
				return err
			}
			plans[name] = plan
		}
		return nil
	})
	return plans, err
}

// Fill stores n ended tasks of a new owner, by itself and quickly.
func (s *Store) Fill(ctx context.Context, agent, caller string, n int64) error {
	return s.write(ctx, func(t *tx) error {
		owner, err := t.owner(task.Owner{Agent: agent, Caller: caller})
		if err != nil {
			return err
		}
		const rows = `WITH RECURSIVE numbers (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?1)
			INSERT INTO tasks (n, owner, state, status_ms, created_ms, last, settled, turn, id, context_id, skill, status, history)
			SELECT ?2 + i, ?3, 1 + i % 8, 1700000000000 + i, 1700000000000, 3, 3, 1,
				printf('%08x-0000-7000-8000-%012x', i, ?3), printf('context-%d', i % 13), 'echo', x'7b7d', zeroblob(500)
			FROM numbers`
		first := t.lastTask
		if _, err := t.exec(rows, n, first, owner); err != nil {
			return err
		}
		t.lastTask += n
		const contexts = `INSERT INTO contexts (owner, id, submitted, working, completed, failed, canceled, input_required, rejected, auth_required)
			SELECT owner, context_id, sum(state=1), sum(state=2), sum(state=3), sum(state=4), sum(state=5), sum(state=6), sum(state=7), sum(state=8)
			FROM tasks WHERE owner = ?1 GROUP BY context_id`
		if _, err := t.exec(contexts, owner); err != nil {
			return err
		}
		const owners = `UPDATE owners SET (submitted, working, completed, failed, canceled, input_required, rejected, auth_required) =
			(SELECT sum(submitted), sum(working), sum(completed), sum(failed), sum(canceled), sum(input_required), sum(rejected), sum(auth_required)
			FROM contexts WHERE owner = ?1) WHERE n = ?1`
		_, err = t.exec(owners, owner)
		return err
	})
}

// Pragmas are settings of the writer's connection.
func (s *Store) Pragmas(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	err := s.write(ctx, func(t *tx) error {
		for _, name := range []string{"journal_mode", "synchronous"} {
			row, _, err := t.one("PRAGMA " + name)
			if err != nil {
				return err
			}
			found[name] = fmt.Sprint(row[0])
		}
		return nil
	})
	return found, err
}

// Migrate makes a database of an earlier version.
func Migrate(ctx context.Context, db *sql.DB, version int64) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	return err
}

// The form of events in their rows.
var (
	EncodeEvents = encodeEvents
	DecodeEvents = decodeEvents
)

// SealedColumns are the columns that rotation reaches, as table.column.
func SealedColumns() []string {
	var names []string
	for _, column := range sealedColumns {
		names = append(names, column.name())
	}
	return names
}
