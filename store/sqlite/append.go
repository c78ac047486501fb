package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Append stores what a run put out and what becomes of its work.
func (s *Store) Append(ctx context.Context, fence work.Fence, batch task.Batch, effects work.Effects) error {
	body, err := encodeEvents(batch.Events)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error { return t.append(fence, batch, body, effects) })
}

func (t *tx) append(fence work.Fence, batch task.Batch, body []byte, effects work.Effects) error {
	if !t.jobs.holds(fence) {
		return task.ErrFenced
	}
	if fence.Key != runKey(batch.Record.ID) {
		return fmt.Errorf("%s %s cannot write about task %s: %w", fence.Kind, fence.ID, batch.Record.ID, task.ErrFenced)
	}
	was, err := t.loadOwned(batch.Record.Owner, batch.Record.ID)
	if err != nil {
		return err
	}
	if was.record.State.Terminal() {
		return task.ErrFenced
	}
	if err := checkEvents(batch.Events, was.record.Last, batch.Record.Last); err != nil {
		return err
	}
	if err := t.checkQuota(effects); err != nil {
		return err
	}
	if err := t.update(was, batch.Record, batch.Events, body); err != nil {
		return err
	}
	if batch.Then != task.Hold && t.early[fence] {
		t.quick = true
	}
	switch batch.Then {
	case task.End:
		t.endWork(fence.Key)
	case task.Suspend:
		t.suspendWork(fence.Key, batch.Until)
	}
	return t.effect(effects)
}

// Cancel ends a task and its work.
func (s *Store) Cancel(ctx context.Context, owner task.Owner, id a2a.TaskID, at time.Time, effects work.Effects) (task.Record, error) {
	var canceled task.Record
	err := s.write(ctx, func(t *tx) (err error) {
		canceled, err = t.cancel(owner, id, at, effects)
		return err
	})
	if err != nil {
		return task.Record{}, err
	}
	return canceled, nil
}

func (t *tx) cancel(owner task.Owner, id a2a.TaskID, at time.Time, effects work.Effects) (task.Record, error) {
	was, err := t.loadOwned(owner, id)
	if err != nil {
		return task.Record{}, err
	}
	record, events, err := was.record.Canceled(at)
	if err != nil {
		return task.Record{}, err
	}
	body, err := t.encode(was, record, events)
	if err != nil {
		return task.Record{}, err
	}
	if err := t.checkQuota(effects); err != nil {
		return task.Record{}, err
	}
	if err := t.update(was, record, events, body); err != nil {
		return task.Record{}, err
	}
	if err := t.dropWork(runKey(id)); err != nil {
		return task.Record{}, err
	}
	return record, t.effect(effects)
}
