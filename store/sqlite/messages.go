package sqlite

import (
	"bytes"
	"context"
	"errors"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// Joined finds the task that a message went to. The error is
// [task.ErrMessageChanged] if it was accepted with other content.
func (s *Store) Joined(ctx context.Context, message task.MessageKey) (task.Record, bool, error) {
	owner, ok := s.owners.number(message.Owner)
	if !ok || message.ID == "" {
		return task.Record{}, false, nil
	}
	var found *entry
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() (err error) {
			n, ok, err := r.acceptedBy(owner, message)
			if err != nil || !ok {
				return err
			}
			found, err = s.readTask(r.connection, whereNumber, n)
			return err
		})
	})
	if err != nil || found == nil {
		return task.Record{}, false, err
	}
	return found.record, true, nil
}

// acceptedBy is the number of the task that took a message.
func (c *connection) acceptedBy(owner int64, message task.MessageKey) (int64, bool, error) {
	found, ok, err := c.one("SELECT task, hash FROM messages WHERE owner = ?1 AND id = ?2", owner, string(message.ID))
	if err != nil || !ok {
		return 0, false, err
	}
	if !bytes.Equal(found.bytes(1), message.Hash[:]) {
		return 0, false, task.ErrMessageChanged
	}
	return found.int(0), true, nil
}

// joined is the task that took a message before, or nil.
func (t *tx) joined(message task.MessageKey) (*entry, error) {
	owner, known := t.store.owners.number(message.Owner)
	if !known || message.ID == "" {
		return nil, nil
	}
	n, ok, err := t.acceptedBy(owner, message)
	if err == nil && !ok {
		return nil, nil
	}
	for _, touched := range t.order { // not complete in the tables yet
		if err == nil && touched.n == n {
			return touched.entry, nil
		}
	}
	var e *entry
	if err == nil {
		e, err = t.store.readTask(t.connection, whereNumber, n)
	}
	if err != nil && !errors.Is(err, task.ErrMessageChanged) {
		t.broken = err
	}
	return e, err
}

// remember stores where a message went, and reports whether it was new. It
// writes nothing if it was not.
func (t *tx) remember(owner int64, message task.MessageKey, n int64) (bool, error) {
	if message.ID == a2a.MessageID("") {
		return true, nil
	}
	const insert = "INSERT INTO messages (owner, id, task, hash) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING"
	changed, err := t.exec(insert, owner, string(message.ID), n, message.Hash[:])
	return changed > 0, err
}
