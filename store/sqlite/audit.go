package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"time"

	"github.com/legation/legation/internal/audit"
)

// auditor is the writer's part of the audit: the chain as it stands.
type auditor struct {
	node      string
	lastEntry int64
	lastSeal  audit.Seal
}

// farthest is beyond every number that entries are given.
const farthest = 1 << 62

// loadAudit finds the end of the chain, and chooses the node's name at the first
// start. Entries behind the last seal are not ours: they stay for who verifies
// the audit, which goes on behind them.
func (w *writer) loadAudit() error {
	if _, err := w.exec("INSERT OR IGNORE INTO meta (name, value) VALUES ('node', ?1)", rand.Text()); err != nil {
		return err
	}
	found, _, err := w.one("SELECT value FROM meta WHERE name = 'node'")
	if err != nil {
		return err
	}
	w.auditor.node = found.text(0)
	last, ok, err := w.one("SELECT n, first, count, at_ms, previous, hash FROM audit_seals WHERE n > 0 ORDER BY n DESC LIMIT 1")
	if err != nil {
		return err
	}
	if ok {
		w.auditor.lastSeal = sealOf(w.auditor.node, last)
		w.auditor.lastEntry = w.auditor.lastSeal.First + w.auditor.lastSeal.Count - 1
	}
	highest, _, err := w.one("SELECT coalesce(max(n), 0) FROM audit WHERE n < ?1", int64(farthest))
	if err != nil {
		return err
	}
	if n := highest.int(0); n > w.auditor.lastEntry {
		w.store.cfg.Logger.Error("the audit has entries that no seal covers; verify it", "after", w.auditor.lastEntry, "up to", n)
		w.auditor.lastEntry = n
	}
	return nil
}

func sealOf(node string, r row) audit.Seal {
	return audit.Seal{
		Node: node, Number: r.int(0), First: r.int(1), Count: r.int(2), At: time.UnixMilli(r.int(3)).UTC(),
		Previous: hashOf(r.bytes(4)), Hash: hashOf(r.bytes(5)),
	}
}

// hashOf is what is stored as a hash. One of another length is no hash of ours,
// and zero is none either.
func hashOf(b []byte) (h audit.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// evidence is an entry on its way to the table.
type evidence struct {
	atMS int64
	body []byte
}

// encodeAudit makes evidence of entries.
func (s *Store) encodeAudit(entries []audit.Entry) ([]evidence, error) {
	var all []evidence
	for _, e := range entries {
		if e.At.IsZero() {
			e.At = s.cfg.Now()
		}
		body, err := e.Encode()
		if err != nil {
			return nil, err
		}
		all = append(all, evidence{atMS: e.At.UnixMilli(), body: body})
	}
	return all, nil
}

// record takes entries into the group.
func (t *tx) record(entries []audit.Entry) error {
	all, err := t.store.encodeAudit(entries)
	if err != nil {
		return err
	}
	t.keep(all)
	return nil
}

// keep takes evidence into the group.
func (t *tx) keep(all []evidence) {
	t.evidence = append(t.evidence, all...)
	t.written += len(all)
}

// flushAudit writes the entries of the group and the seal over them.
func (t *tx) flushAudit() error {
	if len(t.evidence) == 0 {
		return nil
	}
	first := t.auditor.lastEntry + 1
	bodies := make([][]byte, len(t.evidence))
	for i, e := range t.evidence {
		bodies[i] = e.body
		if _, err := t.exec("INSERT INTO audit (n, at_ms, body) VALUES (?1, ?2, ?3)", first+int64(i), e.atMS, e.body); err != nil {
			return err
		}
	}
	s := audit.NewSeal(t.auditor.node, t.auditor.lastSeal, first, bodies, t.store.cfg.Now())
	const insert = "INSERT INTO audit_seals (n, first, count, at_ms, previous, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	if _, err := t.exec(insert, s.Number, s.First, s.Count, s.At.UnixMilli(), s.Previous[:], s.Hash[:]); err != nil {
		return err
	}
	was := t.auditor
	t.undo(func() { t.auditor = was })
	t.auditor.lastEntry, t.auditor.lastSeal = first+s.Count-1, s
	t.evidence = t.evidence[:0]
	return nil
}

// Record stores entries of what changed nothing else: refusals, for one.
func (s *Store) Record(ctx context.Context, entries ...audit.Entry) error {
	all, err := s.encodeAudit(entries)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		t.keep(all)
		return nil
	})
}

// Audit reads entries, the newest first. They are in the order of their numbers,
// in which a clock that was set back shows.
func (s *Store) Audit(ctx context.Context, query audit.Query) (audit.Page, error) {
	before := query.Before
	if before <= 0 {
		before = math.MaxInt64
	}
	limit := min(max(query.Limit, 1), audit.MaxPage)
	var page audit.Page
	err := s.read(ctx, func(r *reader) error {
		const text = "SELECT n, body FROM audit WHERE n < ?1 AND n > 0 ORDER BY n DESC"
		read, older := 0, 0
		return r.each(text, []any{before}, func(kept row) (bool, error) {
			entry, err := audit.Decode(kept.bytes(1))
			switch {
			case err != nil:
				return false, fmt.Errorf("audit entry %d: %w", kept.int(0), err)
			case !query.Since.IsZero() && entry.At.Before(query.Since):
				if older++; older == audit.MaxOlder {
					return false, nil
				}
			default:
				older = 0
				if query.Matches(entry) {
					page.Entries = append(page.Entries, audit.Recorded{Number: kept.int(0), Entry: entry})
				}
			}
			if read++; len(page.Entries) == limit || read == audit.MaxScan {
				page.Next = kept.int(0)
				return false, nil
			}
			return true, nil
		})
	})
	return page, err
}

// Evidence reads the seals after one, with the entries they cover as they are
// kept, at most a thousand seals in one call. If the first seal there is has no
// entries it is an anchor.
func (s *Store) Evidence(ctx context.Context, after int64, visit func(seal audit.Seal, entries [][]byte) error) error {
	return s.read(ctx, func(r *reader) error {
		return r.snapshot(func() error {
			node, _, err := r.one("SELECT value FROM meta WHERE name = 'node'")
			if err != nil {
				return err
			}
			name := node.text(0)
			const text = "SELECT n, first, count, at_ms, previous, hash FROM audit_seals WHERE n > ?1 ORDER BY n LIMIT 1000"
			return r.each(text, []any{after}, func(found row) (bool, error) {
				seal := sealOf(name, found)
				var entries [][]byte
				const covered = "SELECT body FROM audit WHERE n >= ?1 AND n < ?2 ORDER BY n"
				err := r.each(covered, []any{seal.First, seal.First + seal.Count}, func(e row) (bool, error) {
					entries = append(entries, e.bytes(0))
					return true, nil
				})
				if err != nil {
					return false, err
				}
				return true, visit(seal, entries)
			})
		})
	})
}

// Unsealed returns the numbers of entries that no seal covers, before the first
// and behind the last.
func (s *Store) Unsealed(ctx context.Context) ([]int64, error) {
	// In one statement, so that it sees the entries of one moment.
	const text = `SELECT n FROM (SELECT n FROM audit WHERE n < coalesce((SELECT min(first) FROM audit_seals WHERE n > 0), ?1) LIMIT 100)
		UNION SELECT n FROM (SELECT n FROM audit WHERE n >= (SELECT first + count FROM audit_seals WHERE n > 0 ORDER BY n DESC LIMIT 1) LIMIT 100)
		ORDER BY n LIMIT 100`
	var found []int64
	err := s.read(ctx, func(r *reader) error {
		return r.each(text, []any{int64(math.MaxInt64)}, func(kept row) (bool, error) {
			found = append(found, kept.int(0))
			return true, nil
		})
	})
	return found, err
}

// ForgetAudit removes entries that are older than a time, seal by seal up to the
// first that is not, and returns how many. The last seal over them stays as the
// anchor of the chain.
func (s *Store) ForgetAudit(ctx context.Context, before time.Time) (forgotten int64, err error) {
	for {
		var removed, seals int64
		err := s.write(ctx, func(t *tx) (err error) {
			removed, seals, err = t.forgetAudit(before)
			return err
		})
		if err != nil { // then the change may be under way still
			return forgotten, err
		}
		forgotten += removed
		if removed+seals == 0 {
			return forgotten, nil
		}
	}
}

// forgetAudit removes what some of the oldest seals cover, and those before the
// last of them.
func (t *tx) forgetAudit(before time.Time) (entries, seals int64, err error) {
	// One of them is the anchor; at least one more is looked at, however much it
	// covers.
	const text = `WITH oldest AS (
			SELECT n, first, first + count AS next, at_ms, row_number() OVER (ORDER BY n) AS place, sum(count) OVER (ORDER BY n) AS entries
			FROM (SELECT n, first, count, at_ms FROM audit_seals WHERE n > 0 ORDER BY n LIMIT 256)
		)
		SELECT n, next, (SELECT min(first) FROM oldest) FROM oldest
		WHERE n < coalesce((SELECT min(n) FROM oldest WHERE at_ms >= ?1), ?2) AND (entries <= 2000 OR place <= 2)
		ORDER BY n DESC LIMIT 1`
	last, ok, err := t.one(text, before.UnixMilli(), int64(math.MaxInt64))
	if err != nil || !ok {
		return 0, 0, err
	}
	anchor, next, first := last.int(0), last.int(1), last.int(2)
	if entries, err = t.exec("DELETE FROM audit WHERE n >= ?1 AND n < ?2", first, next); err != nil {
		return 0, 0, err
	}
	seals, err = t.exec("DELETE FROM audit_seals WHERE n > 0 AND n < ?1", anchor)
	return entries, seals, err
}
