package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// recorder notes the statements that a connection executes.
type recorder struct {
	driver.Conn
	texts *[]string
}

func (r recorder) Prepare(text string) (driver.Stmt, error) {
	stmt, err := r.Conn.Prepare(text)
	return recorded{Stmt: stmt, text: text, texts: r.texts}, err
}

type recorded struct {
	driver.Stmt
	text  string
	texts *[]string
}

func (r recorded) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	*r.texts = append(*r.texts, r.text)
	return r.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (r recorded) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	*r.texts = append(*r.texts, r.text)
	return r.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// record returns the statements of all that the store executes from now on. It
// must have one reader, and be used by one goroutine.
func (s *Store) record(t *testing.T) *[]string {
	t.Helper()
	texts := new([]string)
	swap := func(c *connection) error {
		c.close()
		c.conn = recorder{Conn: c.conn, texts: texts}
		return nil
	}
	err := errors.Join(
		s.read(t.Context(), func(r *reader) error { return swap(r.connection) }),
		s.write(t.Context(), func(tx *tx) error { return swap(tx.connection) }),
	)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// REQ-SCOPE-06: another owner's task takes the very path of one that never was,
// though it is in memory.
func TestForeignTasksAreSoughtLikeAbsentOnes(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Config{Sync: Off, Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx := t.Context()
	create := func(caller string) task.Record {
		message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart("hello"))
		record, event := task.NewRecord(task.Record{
			Owner: task.Owner{Agent: "default", Caller: caller},
			ID:    a2a.TaskID(a2a.NewID()), ContextID: a2a.ContextID(a2a.NewID()), Skill: "echo",
		}, message, time.Now())
		created := task.NewTask{Record: record, Event: event, Admission: task.Admission{Queue: 1}}
		if _, err := store.Create(ctx, created, work.Effects{}); err != nil {
			t.Fatal(err)
		}
		return record
	}
	theirs := create("them")
	me := create("me").Owner
	texts := store.record(t)

	for name, ask := range map[string]func(id a2a.TaskID) error{
		"Task": func(id a2a.TaskID) error {
			_, err := store.Task(ctx, me, id)
			return err
		},
		"Events": func(id a2a.TaskID) error {
			_, err := store.Events(ctx, me, id, 0)
			return err
		},
		"Cancel": func(id a2a.TaskID) error {
			_, err := store.Cancel(ctx, me, id, time.Now(), work.Effects{})
			return err
		},
		"Continue": func(id a2a.TaskID) error {
			message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart("more"))
			_, err := store.Continue(ctx, task.Continuation{
				Message: task.MessageKey{Owner: me, ID: message.MessageID}, TaskID: id, Input: task.Input{Message: message},
			}, work.Effects{})
			return err
		},
	} {
		asked := func(id a2a.TaskID) []string {
			*texts = nil
			if err := ask(id); !errors.Is(err, task.ErrNotFound) {
				t.Errorf("%s() error = %v, want ErrNotFound", name, err)
			}
			return *texts
		}
		foreign, absent := asked(theirs.ID), asked("absent")
		if len(absent) == 0 {
			t.Errorf("%s() of an absent task reads nothing, so this compares nothing", name)
		}
		if diff := cmp.Diff(absent, foreign); diff != "" {
			t.Errorf("%s() reads (-absent +foreign):\n%s", name, diff)
		}
	}

	*texts = nil
	if _, err := store.Task(ctx, theirs.Owner, theirs.ID); err != nil || len(*texts) != 0 {
		t.Errorf("Task() of its owner: error %v after reading %v, want it from memory", err, *texts)
	}
}

// The index answers by itself, so that not even the row of another owner's
// task is touched.
func TestLookupsStayInTheIndex(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Config{Sync: Off})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for text, want := range map[string]string{
		"SELECT t.n" + tasksFrom + whereKey:            "COVERING INDEX tasks_id (id=? AND owner=?)",
		"SELECT " + taskColumns + tasksFrom + whereKey: "INDEX tasks_id (id=? AND owner=?)",
	} {
		plan := ""
		err := store.read(t.Context(), func(r *reader) error {
			return r.each("EXPLAIN QUERY PLAN "+text, taskKey{1, "t"}.args(), func(row row) (bool, error) {
				plan += row.text(3)
				return true, nil
			})
		})
		if err != nil || !strings.Contains(plan, want) {
			t.Errorf("%s\nruns as %q, %v; want %q", text, plan, err, want)
		}
	}
}

func TestNewDirectoriesAreMadeDurable(t *testing.T) {
	root := t.TempDir()
	for _, test := range []struct {
		dir  string
		want []string // directories that got a new name
	}{
		{"a/b/c", []string{"", "a", "a/b"}},
		{"a/b/d", []string{"a/b"}},
		{"a/b", nil},
	} {
		var synced []string
		err := makeDirectory(filepath.Join(root, test.dir), func(dir string) error {
			name, err := filepath.Rel(root, dir)
			synced = append(synced, strings.TrimPrefix(filepath.ToSlash(name), "."))
			return err
		})
		if diff := cmp.Diff(test.want, synced); err != nil || diff != "" {
			t.Errorf("makeDirectory(%s): %v, synced (-want +got):\n%s", test.dir, err, diff)
		}
	}
	failed := errors.New("no")
	if err := makeDirectory(filepath.Join(root, "e"), func(string) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("makeDirectory() error = %v, want the one of sync", err)
	}
}
