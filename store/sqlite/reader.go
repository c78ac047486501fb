package sqlite

import (
	"context"
	"database/sql"
)

// reader is one connection that only reads. It is opened when first used.
type reader struct {
	conn *sql.Conn
	*connection
}

// read lends a reader to fn, within one snapshot. What fn does is bounded by
// its queries, so it is not interrupted when the context ends.
func (s *Store) read(ctx context.Context, fn func(*reader) error) error {
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	var r *reader
	select {
	case r = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return ErrClosed
	}
	finished := false
	defer func() {
		if !finished { // a panic, after which the connection is not used again
			r = &reader{}
		}
		s.readers <- r
	}()

	if r.conn == nil {
		conn, err := s.db.Conn(ctx)
		if err != nil {
			finished = true
			return s.inWords(err)
		}
		r.conn = conn
	}
	err := r.conn.Raw(func(raw any) error {
		if r.connection == nil {
			connection, err := newConnection(raw)
			if err != nil {
				return err
			}
			if _, err := connection.exec("PRAGMA query_only = ON"); err != nil {
				return err
			}
			r.connection = connection
		}
		return fn(r)
	})
	finished = true
	return s.inWords(err)
}

// snapshot runs fn so that all its queries see the same state.
func (r *reader) snapshot(fn func() error) error {
	if _, err := r.exec("BEGIN"); err != nil {
		return err
	}
	err := fn()
	if _, ended := r.exec("COMMIT"); err == nil {
		err = ended
	}
	return err
}

func (r *reader) close() {
	_ = r.conn.Raw(func(any) error {
		if r.connection != nil {
			r.connection.close()
		}
		return nil
	})
	_ = r.conn.Close()
}
