package task

import (
	"context"
	"io"

	"github.com/legation/legation/a2a"
)

// Feed is one reader's view of a task: what it was when the feed began, and
// then every event after that, once and in order. A feed that is read slowly
// delays nobody. It is used by one goroutine.
type Feed struct {
	// Task is the task as it was when the feed began.
	Task Record

	store Store
	after int64
	ended bool
	wake  <-chan struct{}
	stop  func()
}

// Follow begins a feed at a record the caller has, which need not be the newest.
// Close must be called.
func (e *Engine) Follow(rec Record) *Feed {
	f := &Feed{Task: rec, store: e.store, after: rec.Last, ended: rec.State.Terminal()}
	f.wake, f.stop = e.store.Watch(rec.ID)
	return f
}

// Subscribe begins a feed at a task as it stands. The errors are [ErrNotFound]
// and [ErrEnded]. Close must be called.
func (e *Engine) Subscribe(ctx context.Context, owner Owner, id a2a.TaskID) (*Feed, error) {
	rec, err := e.store.Task(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if rec.State.Terminal() {
		return nil, &EndedError{State: rec.State}
	}
	return e.Follow(rec), nil
}

// Wake is signaled when there may be more to read. It carries no data.
func (f *Feed) Wake() <-chan struct{} { return f.wake }

// Read returns the committed events that follow, without waiting: none if there
// are none yet. After the event that ended the task the error is io.EOF.
func (f *Feed) Read(ctx context.Context) ([]Event, error) {
	if f.ended {
		return nil, io.EOF
	}
	events, err := f.store.Events(ctx, f.Task.Owner, f.Task.ID, f.after)
	if err != nil {
		return nil, err
	}
	if len(events) > 0 {
		last := events[len(events)-1]
		f.after = last.Number
		f.ended = last.State.Terminal()
	}
	return events, nil
}

// Close ends the feed.
func (f *Feed) Close() { f.stop() }
