package sqlite

import (
	"context"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Create stores a new task, the message that made it, its first event and its
// run.
func (s *Store) Create(ctx context.Context, created task.NewTask, effects work.Effects) (task.Accepted, error) {
	// Encoded here and not in the writer, which everybody waits for.
	events := []task.Event{created.Event}
	if err := checkEvents(events, 0, created.Record.Last); err != nil {
		return task.Accepted{}, err
	}
	body, err := encodeEvents(events)
	if err != nil {
		return task.Accepted{}, err
	}
	kept, err := s.encodeAudit(effects.Audit)
	if err != nil {
		return task.Accepted{}, err
	}
	effects.Audit = nil // kept is what is left of it
	var accepted task.Accepted
	err = s.write(ctx, func(t *tx) (err error) {
		accepted, err = t.create(created, events, body, effects)
		if err == nil && !accepted.Joined {
			t.keep(kept)
		}
		return err
	})
	if err != nil {
		return task.Accepted{}, err
	}
	return accepted, nil
}

func (t *tx) create(created task.NewTask, events []task.Event, body []byte, effects work.Effects) (task.Accepted, error) {
	record := created.Record
	claim, err := t.admit(record.Owner.Caller, created.Admission)
	if err == nil {
		err = t.checkQuota(effects)
	}
	if err != nil {
		// A message that was accepted joins, however busy the caller is.
		return t.join(created.Message, err)
	}
	owner, err := t.owner(record.Owner)
	if err != nil {
		return task.Accepted{}, err
	}
	n := t.lastTask + 1
	fresh, err := t.remember(owner, created.Message, n)
	if err != nil {
		return task.Accepted{}, err
	}
	if !fresh {
		return t.join(created.Message, nil)
	}
	t.lastTask = n // not taken back: a number that is never used harms nobody
	if err := t.enterContext(contextKey{owner: owner, id: record.ContextID}, created.NewContext); err != nil {
		return task.Accepted{}, err
	}
	e := &entry{place: place{n: n, owner: owner}, record: record}
	if err := t.insert(e, events, body); err != nil {
		return task.Accepted{}, err
	}
	return t.begin(record, claim, created.Admission, effects)
}

// join answers with the task that a message went to, or with otherwise.
func (t *tx) join(message task.MessageKey, otherwise error) (task.Accepted, error) {
	e, err := t.joined(message)
	switch {
	case err != nil:
		return task.Accepted{}, err
	case e == nil:
		return task.Accepted{}, otherwise
	}
	return task.Accepted{Record: e.record, Joined: true}, nil
}

// admit says whether a run of a caller may be held at once or is queued.
func (t *tx) admit(caller string, admission task.Admission) (claim bool, err error) {
	load := t.jobs.loads[caller]
	switch {
	case admission.Claim && load.held < admission.PerCaller:
		return true, nil
	case load.ready < admission.Queue:
		return false, nil
	}
	return false, task.ErrBusy
}

func runKey(id a2a.TaskID) work.Key { return work.Key{Kind: work.KindRun, ID: string(id)} }

// Continue stores a message to an interrupted task and makes its run work.
func (s *Store) Continue(ctx context.Context, next task.Continuation, effects work.Effects) (task.Accepted, error) {
	var accepted task.Accepted
	err := s.write(ctx, func(t *tx) (err error) {
		accepted, err = t.continued(next, effects)
		return err
	})
	if err != nil {
		return task.Accepted{}, err
	}
	return accepted, nil
}

func (t *tx) continued(next task.Continuation, effects work.Effects) (task.Accepted, error) {
	was, err := t.loadOwned(next.Message.Owner, next.TaskID)
	if err != nil {
		return task.Accepted{}, err
	}
	if e, err := t.joined(next.Message); e != nil || err != nil {
		if err != nil {
			return task.Accepted{}, err
		}
		return task.Accepted{Record: e.record, Joined: true}, nil
	}
	record, events, err := was.record.Continued(next.Input)
	if err != nil {
		return task.Accepted{}, err
	}
	claim, err := t.admit(record.Owner.Caller, next.Admission)
	if err != nil {
		return task.Accepted{}, err
	}
	if err := t.checkQuota(effects); err != nil {
		return task.Accepted{}, err
	}
	body, err := t.encode(was, record, events)
	if err != nil {
		return task.Accepted{}, err
	}
	if _, err := t.remember(was.owner, next.Message, was.n); err != nil {
		return task.Accepted{}, err
	}
	if err := t.update(was, record, events, body); err != nil {
		return task.Accepted{}, err
	}
	// Nothing holds the run of a task that waits for its caller; if something
	// did, its fence would end here.
	if err := t.dropWork(runKey(record.ID)); err != nil {
		return task.Accepted{}, err
	}
	return t.begin(record, claim, next.Admission, effects)
}

// begin makes the run of a message work, applies what travels with it, and
// tells of it early.
func (t *tx) begin(record task.Record, claim bool, admission task.Admission, effects work.Effects) (task.Accepted, error) {
	accepted := task.Accepted{Record: record}
	accepted.Work = t.addWork(runKey(record.ID), record.Owner.Caller, claim, admission.Lease)
	if err := t.effect(effects); err != nil {
		return task.Accepted{}, err
	}
	if accepted.Work != nil && admission.Early != nil {
		t.early[accepted.Work.Fence] = true
		admission.Early(accepted)
	}
	return accepted, nil
}

// encode checks and encodes events of a change that is computed in the writer.
func (t *tx) encode(was *entry, record task.Record, events []task.Event) ([]byte, error) {
	if err := checkEvents(events, was.record.Last, record.Last); err != nil {
		return nil, err
	}
	return encodeEvents(events)
}
