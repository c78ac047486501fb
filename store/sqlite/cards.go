package sqlite

import (
	"context"
	"time"
)

// CardSince returns since when an agent's card has had its digest: now, in
// whole milliseconds, if it is new or was another the last time. It is what
// the Last-Modified of a card is made of.
func (s *Store) CardSince(ctx context.Context, agent, digest string, now time.Time) (time.Time, error) {
	var since int64
	err := s.write(ctx, func(t *tx) error {
		found, ok, err := t.one("SELECT since_ms, digest FROM cards WHERE agent = ?1", agent)
		if err != nil {
			return err
		}
		if ok && found.text(1) == digest {
			since = found.int(0)
			return nil
		}
		since = now.UnixMilli()
		const upsert = `INSERT INTO cards (agent, digest, since_ms) VALUES (?1, ?2, ?3)
			ON CONFLICT (agent) DO UPDATE SET digest = excluded.digest, since_ms = excluded.since_ms`
		_, err = t.exec(upsert, agent, digest, since)
		return err
	})
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(since).UTC(), nil
}
