package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// connection is one connection to the database and its prepared statements. It
// goes below database/sql, which would lock, convert and reflect for each
// statement; only one goroutine uses it at a time.
type connection struct {
	conn     driver.Conn
	prepared map[string]*statement
}

func newConnection(raw any) (*connection, error) {
	conn, ok := raw.(driver.Conn)
	if !ok {
		return nil, fmt.Errorf("unexpected connection %T", raw)
	}
	return &connection{conn: conn, prepared: map[string]*statement{}}, nil
}

// statement is the prepared form of a text.
func (c *connection) statement(text string) (*statement, error) {
	if s, ok := c.prepared[text]; ok {
		return s, nil
	}
	stmt, err := c.conn.Prepare(text)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", text, err)
	}
	s := &statement{stmt: stmt}
	c.prepared[text] = s
	return s, nil
}

// exec runs a statement and says how many rows it changed.
func (c *connection) exec(text string, args ...any) (int64, error) {
	s, err := c.statement(text)
	if err != nil {
		return 0, err
	}
	exec, ok := s.stmt.(driver.StmtExecContext)
	if !ok {
		return 0, errors.New("driver cannot execute statements")
	}
	result, err := exec.ExecContext(context.Background(), s.named(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// one reads the first row, if there is one. The row is valid until the
// statement is used again.
func (c *connection) one(text string, args ...any) (row, bool, error) {
	var found row
	err := c.each(text, args, func(r row) (bool, error) {
		found = r
		return false, nil
	})
	return found, found != nil, err
}

// each calls visit for each row until it returns false. The row is valid until
// visit returns; visit does not use the same statement.
func (c *connection) each(text string, args []any, visit func(row) (more bool, err error)) (err error) {
	s, err := c.statement(text)
	if err != nil {
		return err
	}
	query, ok := s.stmt.(driver.StmtQueryContext)
	if !ok {
		return errors.New("driver cannot run queries")
	}
	rows, err := query.QueryContext(context.Background(), s.named(args))
	if err != nil {
		return err
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = closed
		}
	}()
	if s.row == nil {
		s.row = make(row, len(rows.Columns()))
	}
	for {
		err := rows.Next(s.row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if more, err := visit(s.row); err != nil || !more {
			return err
		}
	}
}

func (c *connection) close() {
	for _, s := range c.prepared {
		_ = s.stmt.Close()
	}
	clear(c.prepared)
}

type statement struct {
	stmt driver.Stmt
	args []driver.NamedValue // reused
	row  row                 // reused
}

func (s *statement) named(args []any) []driver.NamedValue {
	if len(s.args) != len(args) {
		s.args = make([]driver.NamedValue, len(args))
	}
	for i, arg := range args {
		s.args[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return s.args
}

// row is the values of one row. A value of another type than asked for reads
// as its zero value, as NULL does; the schema is strict.
type row []driver.Value

func (r row) int(i int) int64 {
	v, _ := r[i].(int64)
	return v
}

func (r row) text(i int) string {
	v, _ := r[i].(string)
	return v
}

func (r row) bytes(i int) []byte {
	v, _ := r[i].([]byte)
	return v
}
