package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// Most of what one call of Events returns; one event may be larger.
const (
	maxEvents     = 256
	maxEventBytes = 1 << 20
)

// Events of one task are numbered in 24 bits: sixteen million of them.
const eventBits = 24

func eventKey(n, number int64) int64 { return n<<eventBits | number }

// Events reads committed events. The newest are shared from memory, older ones
// are read, at most 256 of them or about 1 MiB in one call.
func (s *Store) Events(ctx context.Context, owner task.Owner, id a2a.TaskID, after int64) ([]task.Event, error) {
	number, ok := s.owners.number(owner)
	if !ok {
		return nil, task.ErrNotFound
	}
	after = max(after, 0)
	key := taskKey{owner: number, id: id}
	if events, ok := s.tail.after(key, after); ok {
		return events, nil
	}
	var events []task.Event
	err := s.read(ctx, func(r *reader) error {
		n, err := s.taskNumber(r, key)
		if err != nil {
			return err
		}
		if after >= 1<<eventBits-1 {
			return nil // there are none, and the key would name another task's
		}
		args := []any{eventKey(n, after), eventKey(n+1, 0)}
		return r.each("SELECT body FROM events WHERE key > ?1 AND key < ?2 ORDER BY key", args, func(row row) (bool, error) {
			batch, err := decodeEvents(row.bytes(0))
			if err != nil {
				return false, fmt.Errorf("events of task %s: %w", id, err)
			}
			for _, event := range batch {
				if event.Number > after {
					events = append(events, event)
				}
			}
			return len(bounded(events)) == len(events), nil
		})
	})
	if err != nil {
		return nil, err
	}
	return bounded(events), nil
}

// taskNumber finds the rows of a task.
func (s *Store) taskNumber(r *reader, key taskKey) (int64, error) {
	if e, ok := s.cache.get(key); ok {
		return e.n, nil
	}
	row, ok, err := r.one("SELECT t.n"+tasksFrom+whereKey, key.args()...)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, task.ErrNotFound
	}
	return row.int(0), nil
}

// bounded is as many of the events, from the first, as one call returns.
func bounded(events []task.Event) []task.Event {
	size := 0
	for i, event := range events {
		size += len(event.Body)
		if i == maxEvents || i > 0 && size > maxEventBytes {
			return events[:i:i]
		}
	}
	return events[:len(events):len(events)]
}

// encodeEvents is the form of a batch in its row. Each event is a line: its
// number, its state's number or 0, how many bytes follow or "-" for no body,
// and the body.
func encodeEvents(events []task.Event) ([]byte, error) {
	size := 0
	for _, event := range events {
		size += len(event.Body) + 24
	}
	b := make([]byte, 0, size)
	for _, event := range events {
		var state int64
		if event.State != a2a.TaskStateUnspecified {
			var err error
			if state, err = stateNumber(event.State); err != nil {
				return nil, err
			}
		}
		b = strconv.AppendInt(b, event.Number, 10)
		b = append(b, ' ')
		b = strconv.AppendInt(b, state, 10)
		b = append(b, ' ')
		if event.Body == nil {
			b = append(b, "- \n"...)
			continue
		}
		b = strconv.AppendInt(b, int64(len(event.Body)), 10)
		b = append(b, ' ')
		b = append(b, event.Body...)
		b = append(b, '\n')
	}
	return b, nil
}

var errEvents = errors.New("stored events are damaged")

// decodeEvents undoes encodeEvents. The bodies share the row's memory.
func decodeEvents(b []byte) ([]task.Event, error) {
	var events []task.Event
	for len(b) > 0 {
		number, b1, ok1 := bytes.Cut(b, []byte{' '})
		state, b2, ok2 := bytes.Cut(b1, []byte{' '})
		length, rest, ok3 := bytes.Cut(b2, []byte{' '})
		if !ok1 || !ok2 || !ok3 {
			return nil, errEvents
		}
		n, err1 := strconv.ParseInt(string(number), 10, 64)
		st, err2 := strconv.ParseInt(string(state), 10, 64)
		event := task.Event{Number: n, State: stateOf(st)}
		size := 0
		var err3 error
		if string(length) != "-" {
			size, err3 = strconv.Atoi(string(length))
		}
		if errors.Join(err1, err2, err3) != nil || size < 0 || size >= len(rest) || rest[size] != '\n' {
			return nil, errEvents
		}
		if string(length) != "-" {
			event.Body = rest[:size:size]
		}
		events = append(events, event)
		b = rest[size+1:]
	}
	return events, nil
}
