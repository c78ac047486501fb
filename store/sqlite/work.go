package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/legation/legation/internal/work"
)

// Ready is signaled when something became ready, or a hold ended that kept
// others of its group waiting. A lease that runs out is not signaled.
func (s *Store) Ready() <-chan struct{} { return s.ready }

// Claim takes claimable work, oldest first.
func (s *Store) Claim(ctx context.Context, query work.Query) ([]work.Item, error) {
	var items []work.Item
	err := s.write(ctx, func(t *tx) (err error) {
		items, err = t.claim(query)
		return err
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Renew prolongs leases.
func (s *Store) Renew(ctx context.Context, lease time.Duration, fences []work.Fence) ([]work.Key, error) {
	var lost []work.Key
	err := s.write(ctx, func(t *tx) error {
		lost = nil
		until := s.cfg.Now().Add(lease)
		for _, fence := range fences {
			if !t.jobs.holds(fence) {
				lost = append(lost, fence.Key)
				continue
			}
			h := t.jobs.held[fence.Key]
			h.until = until
			t.hold(fence.Key, h)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

// Release gives work up. It keeps its place in the order and its attempts.
func (s *Store) Release(ctx context.Context, fences []work.Fence) error {
	return s.write(ctx, func(t *tx) error {
		for _, fence := range fences {
			if !t.jobs.holds(fence) {
				continue
			}
			h := t.jobs.held[fence.Key]
			t.putWork(fence.Key, workRow{status: statusReady, attempt: h.attempt, queued: h.queued, woken: h.woken, group: h.group}, true)
			t.letGo(fence.Key)
			t.addLoad(h.group, 0, 1)
		}
		return nil
	})
}

// claimable is work that a claim may take.
type claimable struct {
	key     work.Key
	group   string
	attempt int64
	queued  int64
	woken   bool
	expired bool // held, with a lease that has run out
}

func (t *tx) claim(query work.Query) ([]work.Item, error) {
	if query.Limit <= 0 {
		return nil, nil
	}
	now := t.store.cfg.Now()
	if err := t.wakeDue(query, now); err != nil {
		return nil, err
	}
	if err := t.flushWork(); err != nil {
		return nil, err
	}
	candidates := t.expired(query.Kind, now)
	free := map[string]int{} // how many more each group may hold
	taken := 0
	const ready = "SELECT id, grp, attempt, queued, woken FROM work WHERE status = 0 AND kind = ?1 ORDER BY queued"
	err := t.each(ready, []any{string(query.Kind)}, func(r row) (bool, error) {
		group := r.text(1)
		left, ok := free[group]
		if !ok {
			left = query.LimitOf(group) - t.jobs.loads[group].held
		}
		if left > 0 {
			free[group] = left - 1
			taken++
			candidates = append(candidates, claimable{
				key: work.Key{Kind: query.Kind, ID: r.text(0)}, group: group,
				attempt: r.int(2), queued: r.int(3), woken: r.int(4) != 0,
			})
		} else {
			free[group] = left
		}
		return taken < query.Limit, nil
	})
	if err != nil {
		t.broken = err
		return nil, err
	}
	slices.SortFunc(candidates, func(a, b claimable) int { return cmp.Compare(a.queued, b.queued) })

	var items []work.Item
	until := now.Add(query.Lease)
	for _, c := range candidates[:min(len(candidates), query.Limit)] {
		items = append(items, t.take(c, until))
	}
	return items, nil
}

// wakeDue makes work ready that was suspended until now.
func (t *tx) wakeDue(query work.Query, now time.Time) error {
	const due = "SELECT id FROM work WHERE status = 2 AND kind = ?1 AND due_ms <= ?2 ORDER BY due_ms LIMIT ?3"
	if err := t.flushWork(); err != nil {
		return err
	}
	var keys []work.Key
	err := t.each(due, []any{string(query.Kind), now.UnixMilli(), int64(query.Limit)}, func(r row) (bool, error) {
		keys = append(keys, work.Key{Kind: query.Kind, ID: r.text(0)})
		return true, nil
	})
	if err != nil {
		t.broken = err
		return err
	}
	for _, key := range keys {
		if err := t.wake(key); err != nil {
			return err
		}
	}
	return nil
}

// expired are the holds whose lease has run out. To claim one anew does not
// change how many its group holds.
func (t *tx) expired(kind work.Kind, now time.Time) []claimable {
	var found []claimable
	for key, h := range t.jobs.held {
		if key.Kind == kind && h.until.Before(now) {
			found = append(found, claimable{
				key: key, group: h.group, attempt: h.attempt, queued: h.queued, woken: h.woken, expired: true,
			})
		}
	}
	return found
}

// take claims one.
func (t *tx) take(c claimable, until time.Time) work.Item {
	c.attempt++
	t.putWork(c.key, workRow{status: statusHeld, attempt: c.attempt, queued: c.queued, woken: c.woken, group: c.group}, true)
	if !c.expired {
		t.addLoad(c.group, 0, -1)
	}
	return t.holdNew(c, until)
}

// holdNew gives work a new epoch.
func (t *tx) holdNew(c claimable, until time.Time) work.Item {
	epoch := t.jobs.nextEpoch()
	t.hold(c.key, hold{epoch: epoch, until: until, group: c.group, attempt: c.attempt, queued: c.queued, woken: c.woken})
	return work.Item{Fence: work.Fence{Key: c.key, Epoch: epoch}, Attempt: int(c.attempt)}
}

// addWork makes a key new work, held at once or ready.
func (t *tx) addWork(key work.Key, group string, claim bool, lease time.Duration) *work.Item {
	c := claimable{key: key, group: group, queued: t.jobs.nextPlace()}
	status := int64(statusReady)
	if claim {
		status, c.attempt = statusHeld, 1
	}
	t.putWork(key, workRow{status: status, attempt: c.attempt, queued: c.queued, group: group}, false)
	if !claim {
		t.addLoad(group, 0, 1)
		return nil
	}
	item := t.holdNew(c, t.store.cfg.Now().Add(lease))
	return &item
}

// dropWork ends a key, in whatever state it is.
func (t *tx) dropWork(key work.Key) error {
	if _, held := t.jobs.held[key]; held {
		t.endWork(key)
		return nil
	}
	found, err := t.workOf(key)
	if err != nil || found == nil {
		return err
	}
	t.endWork(key)
	if found.status == statusReady {
		t.addLoad(found.group, 0, -1)
	}
	return nil
}

// endWork removes a key and its hold.
func (t *tx) endWork(key work.Key) {
	t.putWork(key, workRow{gone: true}, true)
	t.letGo(key)
}

// suspendWork gives up a hold until the key is woken or the time has come, or
// at once if it was woken.
func (t *tx) suspendWork(key work.Key, until time.Time) {
	h := t.jobs.held[key]
	r := workRow{status: statusSuspended, queued: t.jobs.nextPlace(), group: h.group}
	switch {
	case h.woken:
		r.status = statusReady
	case !until.IsZero():
		r.due = ceilMilli(until)
	}
	t.putWork(key, r, true)
	t.letGo(key)
	if h.woken {
		t.addLoad(h.group, 0, 1)
	}
}

// ceilMilli is the first whole millisecond that is not before t.
func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}

// wake makes a suspended key ready, and a held one find itself woken later.
func (t *tx) wake(key work.Key) error {
	if h, held := t.jobs.held[key]; held {
		if h.woken {
			return nil
		}
		h.woken = true
		t.hold(key, h)
		t.putWork(key, workRow{status: statusHeld, attempt: h.attempt, queued: h.queued, woken: true, group: h.group}, true)
		return nil
	}
	found, err := t.workOf(key)
	if err != nil || found == nil || found.status != statusSuspended {
		return err
	}
	t.putWork(key, workRow{status: statusReady, queued: t.jobs.nextPlace(), group: found.group}, true)
	t.addLoad(found.group, 0, 1)
	return nil
}

// effect applies what travels with a change.
func (t *tx) effect(effects work.Effects) error {
	if err := t.count(effects); err != nil {
		return err
	}
	if err := t.record(effects.Audit); err != nil {
		return err
	}
	for _, key := range effects.Wake {
		if err := t.wake(key); err != nil {
			return err
		}
	}
	for _, key := range effects.Cancel {
		if err := t.dropWork(key); err != nil {
			return err
		}
	}
	return nil
}
