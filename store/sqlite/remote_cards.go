package sqlite

import (
	"context"
	"time"

	"github.com/legation/legation/internal/trust"
	"github.com/legation/legation/internal/work"
)

// RemoteCards returns the cards of remote agents, by name.
func (s *Store) RemoteCards(ctx context.Context) ([]trust.RemoteCard, error) {
	const query = `SELECT name, generation, state, reason, since_ms, raw, fault, asked, url, etag, last_modified,
		max_age_ms, fetched_ms, verified_ms, key_id, algorithm, version, digest,
		accepted, accepted_digest, route, accepted_ms, accepted_by FROM remote_cards ORDER BY name`
	var all []trust.RemoteCard
	err := s.read(ctx, func(r *reader) error {
		return r.each(query, nil, func(found row) (bool, error) {
			all = append(all, trust.RemoteCard{
				Name: found.text(0), Generation: found.int(1),
				State: trust.State(found.text(2)), Reason: trust.Code(found.text(3)), Since: instant(found.int(4)),
				Raw: found.bytes(5), Fault: found.text(6), Asked: found.text(7), URL: found.text(8),
				ETag: found.text(9), LastModified: found.text(10),
				MaxAge:    time.Duration(found.int(11)) * time.Millisecond,
				FetchedAt: instant(found.int(12)), VerifiedAt: instant(found.int(13)),
				KeyID: found.text(14), Algorithm: found.text(15), Version: found.text(16), Digest: found.text(17),
				Accepted: found.bytes(18), AcceptedDigest: found.text(19), Route: found.text(20),
				AcceptedAt: instant(found.int(21)), AcceptedBy: found.text(22),
			})
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// PutRemoteCard keeps the card of a remote agent.
func (s *Store) PutRemoteCard(ctx context.Context, kept trust.RemoteCard, effects work.Effects) error {
	return s.write(ctx, func(t *tx) error {
		const upsert = `INSERT INTO remote_cards (name, generation, state, reason, since_ms, raw, fault, asked, url, etag, last_modified,
				max_age_ms, fetched_ms, verified_ms, key_id, algorithm, version, digest,
				accepted, accepted_digest, route, accepted_ms, accepted_by)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)
			ON CONFLICT (name) DO UPDATE SET generation = max(generation, excluded.generation),
				state = excluded.state, reason = excluded.reason, since_ms = excluded.since_ms,
				raw = excluded.raw, fault = excluded.fault, asked = excluded.asked, url = excluded.url,
				etag = excluded.etag, last_modified = excluded.last_modified, max_age_ms = excluded.max_age_ms,
				fetched_ms = excluded.fetched_ms, verified_ms = excluded.verified_ms, key_id = excluded.key_id,
				algorithm = excluded.algorithm, version = excluded.version, digest = excluded.digest,
				accepted = excluded.accepted, accepted_digest = excluded.accepted_digest, route = excluded.route,
				accepted_ms = excluded.accepted_ms, accepted_by = excluded.accepted_by`
		_, err := t.exec(upsert, kept.Name, kept.Generation, string(kept.State), string(kept.Reason), millis(kept.Since),
			blob(kept.Raw), kept.Fault, kept.Asked, kept.URL, kept.ETag, kept.LastModified,
			kept.MaxAge.Milliseconds(), millis(kept.FetchedAt), millis(kept.VerifiedAt),
			kept.KeyID, kept.Algorithm, kept.Version, kept.Digest,
			blob(kept.Accepted), kept.AcceptedDigest, kept.Route, millis(kept.AcceptedAt), kept.AcceptedBy)
		if err != nil {
			return err
		}
		return t.effect(effects)
	})
}

// DeleteRemoteCard forgets the card of a remote agent.
func (s *Store) DeleteRemoteCard(ctx context.Context, name string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec("DELETE FROM remote_cards WHERE name = ?1", name)
		return err
	})
}

// millis is a time as it is stored: zero where there is none.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// instant is what millis stored.
func instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// blob is bytes of which there may be none.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
