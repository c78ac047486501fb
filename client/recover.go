package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
)

// recovery counts what a stream has done to live on.
type recovery struct {
	inARow int // subscriptions since the last sound connection
	total  int
}

// resubscribePauses are the waits before each subscription in a row; there are
// as many tries as waits. maxResubscribes bounds them over a stream's life.
var resubscribePauses = [...]time.Duration{
	500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second,
}

const (
	maxResubscribes = 1000

	// A connection that lasted this long, or brought news, was sound.
	soundAfter = 10 * time.Second
)

// recover finds another source for the events of a task that has not ended,
// and returns its first event, a snapshot of the task.
func (s *Stream) recover(lost *connection, cause error) (*a2a.StreamResponse, error) {
	if lost.news > 0 || time.Since(lost.opened) >= soundAfter {
		s.again.inARow = 0
	}
	// What was too large or broke the protocol would be and do so again.
	if !tooLarge(cause) && !isType[*InvalidResponseError](cause) {
		if cause != io.EOF || !s.state.Interrupted() {
			s.outage.begin(s.id, broken(cause))
		}
		if event, err := s.resubscribe(cause); event != nil || err != nil {
			return event, err
		}
	}
	s.client.cfg.Logger.Info("the stream is lost, the task is polled", "task", bounded(string(s.id)))
	s.poller = s.client.newPoller(s.id, FollowOptions{AtOnce: true})
	s.poller.outage = s.outage
	return s.step()
}

// resubscribe returns neither an event nor an error if polling is what is left.
func (s *Stream) resubscribe(cause error) (*a2a.StreamResponse, error) {
	for s.again.inARow < len(resubscribePauses) && s.again.total < maxResubscribes {
		wait := max(resubscribePauses[s.again.inARow], min(RetryAfter(cause), maxPollWait))
		s.again.inARow++
		s.again.total++
		if err := pause(s.ctx, wait); err != nil {
			return nil, s.ended(err)
		}
		req := &a2a.SubscribeToTaskRequest{Tenant: s.client.iface.Tenant, ID: s.id}
		conn, first, err := s.client.begin(s.ctx, a2a.MethodSubscribeToTask, req)
		switch {
		case err == nil:
			if task, ok := first.Payload.(*a2a.Task); !ok || task.ID != s.id {
				conn.close() // without a snapshot events may be missing or doubled
				return nil, nil
			}
			s.conn = conn
			s.outage.end()
			return first, nil
		case s.ctx.Err() != nil:
			return nil, s.ended(err)
		case errors.Is(err, a2a.ErrTaskNotFound):
			return nil, &LostTaskError{TaskID: s.id, Err: err}
		case !transient(err) || isType[*InvalidResponseError](err):
			return nil, nil // ended meanwhile, or no sound subscriptions here: GetTask knows
		}
		cause = err
		s.outage.begin(s.id, err)
	}
	return nil, nil
}

// broken says what an end means that comes too early.
func broken(cause error) error {
	if cause == io.EOF {
		return fmt.Errorf("the stream ended before the task: %w", io.ErrUnexpectedEOF)
	}
	return cause
}

// transient reports whether a read that failed may succeed later.
func transient(err error) bool { return Classify(err, true) != Refused }

func tooLarge(err error) bool {
	return errors.Is(err, ErrTooLarge) || isType[*guard.TooLargeError](err)
}

// pause waits, or returns why it did not.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
