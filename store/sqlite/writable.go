package sqlite

import "context"

// Writable reports whether changes can be stored just now: nil, or why the
// newest one could not. After a failure it tries a change that changes nothing.
func (s *Store) Writable(ctx context.Context) error {
	if s.failed.Load() == nil {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec("UPDATE meta SET value = value WHERE name = 'starts'")
		return err
	})
}

// outcome remembers whether the newest transaction could be stored.
func (s *Store) outcome(err error) {
	if err != nil {
		s.failed.Store(&err)
		return
	}
	s.failed.Store(nil)
}
