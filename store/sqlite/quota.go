package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
)

// ledger is what the writer knows of quotas: all holds, and what was used in the
// days that were asked for. One goroutine decides and one transaction writes,
// so an admission sees every other.
type ledger struct {
	holds map[string]held
	open  map[string]int64 // holds by caller
	days  map[dayKey]*day
}

// held is an open hold.
type held struct {
	dayKey
	amount quota.Amount
}

// dayKey names a day of a caller.
type dayKey struct {
	caller string
	day    quota.Day
}

// day is what a caller holds and has used of a day.
type day struct{ held, used quota.Amount }

func newLedger() *ledger {
	return &ledger{holds: map[string]held{}, open: map[string]int64{}, days: map[dayKey]*day{}}
}

// quotaRows is what a group of changes has touched.
type quotaRows struct {
	holds map[string]bool // and whether the table has it
	days  map[dayKey]bool // and whether its use has changed
}

func newQuotaRows() quotaRows {
	return quotaRows{holds: map[string]bool{}, days: map[dayKey]bool{}}
}

func (r *quotaRows) touched(key dayKey) bool {
	_, ok := r.days[key]
	return ok
}

func (r *quotaRows) reset() {
	clear(r.holds)
	clear(r.days)
}

// keptDays is for how long used quotas are kept, as long as the audit is.
const keptDays = 400

// loadLedger reads the holds of turns that were under way. What is held for no
// run, by an answer that was cut short by a crash, is given back.
func (w *writer) loadLedger() error {
	const orphans = "DELETE FROM quota_holds WHERE NOT EXISTS (SELECT 1 FROM work WHERE work.kind = 'run' AND work.id = quota_holds.id)"
	if _, err := w.exec(orphans); err != nil {
		return err
	}
	const forget = "DELETE FROM quota_days WHERE day < ?1"
	if _, err := w.exec(forget, int64(quota.DayOf(w.store.cfg.Now())-keptDays)); err != nil {
		return err
	}
	err := w.each("SELECT id, caller, day, tasks, tokens, cost FROM quota_holds", nil, func(r row) (bool, error) {
		w.ledger.holds[r.text(0)] = held{dayKey{r.text(1), quota.Day(r.int(2))}, amountAt(r, 3)}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, h := range w.ledger.holds {
		w.ledger.open[h.caller]++
		d, err := w.dayOf(h.dayKey)
		if err != nil {
			return err
		}
		d.held = d.held.Plus(h.amount)
	}
	return nil
}

func amountAt(r row, from int) quota.Amount {
	return quota.Amount{Tasks: r.int(from), Tokens: r.int(from + 1), Cost: r.int(from + 2)}
}

// dayOf is a day of a caller. Once read it stays in memory while it matters.
func (w *writer) dayOf(key dayKey) (*day, error) {
	if d, ok := w.ledger.days[key]; ok {
		return d, nil
	}
	used, err := w.usedOn(key)
	if err != nil {
		return nil, err
	}
	for old, d := range w.ledger.days {
		if old.caller == key.caller && old.day < key.day && d.held == (quota.Amount{}) && !w.tx.quota.touched(old) {
			delete(w.ledger.days, old) // the table has what it says
		}
	}
	d := &day{used: used}
	w.ledger.days[key] = d
	return d, nil
}

func (c *connection) usedOn(key dayKey) (quota.Amount, error) {
	found, ok, err := c.one("SELECT tasks, tokens, cost FROM quota_days WHERE caller = ?1 AND day = ?2", key.caller, int64(key.day))
	if err != nil || !ok {
		return quota.Amount{}, err
	}
	return amountAt(found, 0), nil
}

// checkQuota makes sure that what a change counts can be counted, and that its
// hold fits beside all others. It changes nothing.
func (t *tx) checkQuota(effects work.Effects) error {
	for _, use := range effects.Settle {
		if err := use.Check(); err != nil {
			return err
		}
	}
	hold := effects.Hold
	if hold == nil {
		return nil
	}
	if err := hold.Check(); err != nil {
		return err
	}
	was, adds := t.ledger.holds[hold.ID]
	adds = adds && !slices.ContainsFunc(effects.Settle, func(u quota.Use) bool { return u.ID == hold.ID })
	if adds && was.caller != hold.Caller {
		return fmt.Errorf("quota of %s is held for another caller", hold.ID)
	}
	d, err := t.dayOf(dayOfHold(hold, was, adds))
	if err != nil {
		return err
	}
	return quota.Admit(quota.Counters{Open: t.ledger.open[hold.Caller], Held: d.held, Used: d.used}, *hold, adds)
}

// dayOfHold is the day that a hold counts for: that of its first part.
func dayOfHold(hold *quota.Hold, was held, adds bool) dayKey {
	if adds {
		return was.dayKey
	}
	return dayKey{hold.Caller, quota.DayOf(hold.At)}
}

// count applies the uses and the hold of a change, which were checked.
func (t *tx) count(effects work.Effects) error {
	for _, use := range effects.Settle {
		was, ok := t.ledger.holds[use.ID]
		if !ok {
			continue
		}
		used := use.Of(was.amount)
		d, err := t.touchDay(was.dayKey, used != quota.Amount{})
		if err != nil {
			return err
		}
		d.held, d.used = d.held.Minus(was.amount), d.used.Plus(used)
		t.setHold(use.ID, was, nil)
	}
	hold := effects.Hold
	if hold == nil {
		return nil
	}
	was, adds := t.ledger.holds[hold.ID]
	key := dayOfHold(hold, was, adds)
	d, err := t.touchDay(key, false)
	if err != nil {
		return err
	}
	d.held = d.held.Plus(hold.Amount)
	t.setHold(hold.ID, was, &held{key, was.amount.Plus(hold.Amount)})
	return nil
}

// touchDay is a day of a caller that is about to change.
func (t *tx) touchDay(key dayKey, used bool) (*day, error) {
	d, err := t.dayOf(key)
	if err != nil {
		return nil, err
	}
	was := *d
	t.undo(func() { *d = was })
	t.quota.days[key] = t.quota.days[key] || used
	return d, nil
}

// setHold replaces a hold, or ends it if now is nil.
func (t *tx) setHold(id string, was held, now *held) {
	_, existed := t.ledger.holds[id]
	if _, touched := t.quota.holds[id]; !touched {
		t.quota.holds[id] = existed
	}
	caller, open := was.caller, int64(0)
	if now != nil {
		caller = now.caller
		t.ledger.holds[id] = *now
		open++
	} else {
		delete(t.ledger.holds, id)
	}
	if existed {
		open--
	}
	t.ledger.count(caller, open)
	t.undo(func() {
		t.ledger.count(caller, -open)
		if existed {
			t.ledger.holds[id] = was
		} else {
			delete(t.ledger.holds, id)
		}
	})
}

func (l *ledger) count(caller string, more int64) {
	if l.open[caller] += more; l.open[caller] == 0 {
		delete(l.open, caller)
	}
}

// flushQuota writes holds and days. A hold that began and ended in this group
// needs no row.
func (t *tx) flushQuota() error {
	const (
		put = "INSERT INTO quota_holds (id, caller, day, tasks, tokens, cost) VALUES (?1, ?2, ?3, ?4, ?5, ?6) " +
			"ON CONFLICT (id) DO UPDATE SET caller = ?2, day = ?3, tasks = ?4, tokens = ?5, cost = ?6"
		remove = "DELETE FROM quota_holds WHERE id = ?1"
		use    = "INSERT INTO quota_days (caller, day, tasks, tokens, cost) VALUES (?1, ?2, ?3, ?4, ?5) " +
			"ON CONFLICT (caller, day) DO UPDATE SET tasks = ?3, tokens = ?4, cost = ?5"
	)
	for id, stored := range t.quota.holds {
		var err error
		if h, ok := t.ledger.holds[id]; ok {
			_, err = t.exec(put, id, h.caller, int64(h.day), h.amount.Tasks, h.amount.Tokens, h.amount.Cost)
		} else if stored {
			_, err = t.exec(remove, id)
		}
		if err != nil {
			return err
		}
	}
	for key, changed := range t.quota.days {
		if !changed {
			continue
		}
		used := t.ledger.days[key].used
		if _, err := t.exec(use, key.caller, int64(key.day), used.Tasks, used.Tokens, used.Cost); err != nil {
			return err
		}
	}
	return nil
}

// Account applies effects that come with no other change.
func (s *Store) Account(ctx context.Context, effects work.Effects) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.checkQuota(effects); err != nil {
			return err
		}
		return t.effect(effects)
	})
}

// Counted is what a caller holds and has used of a day, and how many holds it
// has of whatever day.
func (s *Store) Counted(ctx context.Context, caller string, on quota.Day) (quota.Counters, error) {
	var c quota.Counters
	err := s.write(ctx, func(t *tx) (err error) {
		key := dayKey{caller, on}
		c = quota.Counters{Open: t.ledger.open[caller]}
		if d, ok := t.ledger.days[key]; ok {
			c.Held, c.Used = d.held, d.used
			return nil
		}
		c.Used, err = t.usedOn(key)
		return err
	})
	if err != nil {
		return quota.Counters{}, err
	}
	return c, nil
}
