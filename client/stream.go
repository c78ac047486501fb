package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/legation/legation/a2a"
)

// Stream is the life of one task, or one message, as events. It outlives its
// connection: while the task has not ended, a stream that breaks is subscribed
// to again, and where that does not work the task is polled. Each such change
// shows as a `task` event with all there is, so that folding events, as
// [Assembly] does, stays right; messages of a status sent meanwhile may be
// missing. Nothing is ever sent again.
//
// A stream ends once the task has, once it waits for input that takes a new
// message, or after a lone message. The first terminal state is kept: a status
// that follows it is not delivered. A stream that is not read to its end must be
// closed. Methods may be called by several goroutines, Next by one at a time.
type Stream struct {
	client *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	sent   bool // opened by a send, not by a subscription

	reading sync.Mutex // held by Next, and by Close after it canceled
	conn    *connection
	poller  *poller
	first   *a2a.StreamResponse
	again   recovery
	outage  *outage
	err     error

	mu      sync.Mutex // guards what Task returns
	id      a2a.TaskID
	state   a2a.TaskState
	message bool
}

// SubscribeToTask returns the stream of a task that has not ended. Its first
// event is the task as it is. Of a task that has ended the error matches
// [a2a.ErrUnsupportedOperation], and GetTask has the rest. Unlike the stream
// of a send it goes on while the task waits for input, if the peer lets it.
func (c *Client) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) (*Stream, error) {
	const method = a2a.MethodSubscribeToTask
	if err := c.streams(method); err != nil {
		return nil, err
	}
	if req == nil || req.ID == "" {
		return nil, &RequestError{Method: method, Why: "the id of the task is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	return c.stream(ctx, method, &prepared, req.ID)
}

// stream opens a stream and waits for its first event, so that an error which
// is sent as one is returned like any other.
func (c *Client) stream(ctx context.Context, method string, p params, id a2a.TaskID) (*Stream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	conn, first, err := c.begin(ctx, method, p)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &Stream{client: c, ctx: ctx, cancel: cancel, sent: id == "", conn: conn, first: first, id: id, outage: &outage{client: c}}
	if id != "" {
		if task, ok := first.Payload.(*a2a.Task); !ok || task.ID != id {
			s.finish(nil)
			return nil, conn.x.invalid("the stream does not start with the task that was asked for")
		}
	}
	return s, nil
}

// begin opens a connection and reads its first event.
func (c *Client) begin(ctx context.Context, method string, p params) (*connection, *a2a.StreamResponse, error) {
	conn, err := c.open(ctx, method, p)
	if err != nil {
		return nil, nil, err
	}
	first, err := conn.next()
	if err == nil {
		return conn, first, nil
	}
	conn.close()
	if err == io.EOF {
		err = labeled(method, fmt.Errorf("the stream ended before its first event: %w", io.ErrUnexpectedEOF))
	}
	return nil, nil, err
}

// Next waits for the next event. io.EOF says that the stream has come to its
// end, or was closed. Every other error is why it could not: [Client.Follow]
// may find out later, for the task goes on. The error stays.
func (s *Stream) Next() (a2a.StreamResponse, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for s.err == nil {
		event, err := s.step()
		if err != nil {
			s.finish(err)
			break
		}
		if s.admit(event) {
			return *event, nil
		}
	}
	return a2a.StreamResponse{}, s.err
}

// All yields the events up to the end and closes the stream. An error is the
// last thing it yields.
func (s *Stream) All() iter.Seq2[a2a.StreamResponse, error] {
	return func(yield func(a2a.StreamResponse, error) bool) {
		defer s.Close()
		for {
			event, err := s.Next()
			if err == io.EOF || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// Task returns the id of the task, empty until it is known, and its last known
// state.
func (s *Stream) Task() (a2a.TaskID, a2a.TaskState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id, s.state
}

// Close ends the stream, and a Next that waits with io.EOF. The task goes on.
// It may be called again.
func (s *Stream) Close() error {
	s.cancel(errClosed)
	s.reading.Lock()
	defer s.reading.Unlock()
	s.finish(io.EOF)
	return nil
}

// finish keeps the first reason for the end and lets go of everything.
func (s *Stream) finish(err error) {
	if s.err == nil {
		s.err = err
	}
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
	s.cancel(nil)
}

// step returns the next event of whatever the events come from just now.
func (s *Stream) step() (*a2a.StreamResponse, error) {
	if first := s.first; first != nil {
		s.first = nil
		return first, nil
	}
	id, state := s.Task()
	if s.conn == nil {
		if state.Terminal() || s.sent && state == a2a.TaskStateInputRequired {
			return nil, io.EOF
		}
		task, err := s.poller.next(s.ctx)
		if err != nil {
			return nil, s.ended(err)
		}
		return &a2a.StreamResponse{Payload: task}, nil
	}
	event, err := s.conn.next()
	if err == nil {
		s.conn.news++
		return event, nil
	}
	lost := s.conn
	lost.close()
	s.conn = nil
	switch {
	case state.Terminal() || s.message:
		return nil, io.EOF
	case s.ctx.Err() != nil:
		return nil, s.ended(err)
	case id == "" || isType[*PeerError](err):
		return nil, err
	case state == a2a.TaskStateInputRequired && (s.sent || err == io.EOF):
		return nil, io.EOF
	}
	return s.recover(lost, err)
}

// errClosed is the cause of a stream's context once the stream is closed.
var errClosed = errors.New("client: the stream is closed")

// ended tells an end that was asked for from one that happened.
func (s *Stream) ended(err error) error {
	switch cause := context.Cause(s.ctx); {
	case cause == errClosed:
		return io.EOF
	case cause != nil:
		return cause
	}
	return err
}

// admit takes note of an event and reports whether it is to be delivered.
func (s *Stream) admit(event *a2a.StreamResponse) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := s.note(event)
	if !ok {
		s.client.cfg.Logger.Warn("an event that does not belong to the stream was dropped", "task", bounded(string(s.id)))
	}
	switch {
	case s.conn == nil:
	case s.message, s.state.Terminal(), s.sent && s.state == a2a.TaskStateInputRequired:
		s.conn.windUp()
	default:
		s.conn.goOn()
	}
	return ok
}

func (s *Stream) note(event *a2a.StreamResponse) bool {
	switch payload := event.Payload.(type) {
	case *a2a.Message:
		// Alone it is the answer; once there is a task it has no place.
		if s.id != "" || s.message {
			return false
		}
		s.message = true
		return true
	case *a2a.Task:
		return s.enter(payload.ID, payload.Status.State)
	case *a2a.TaskStatusUpdateEvent:
		return !s.state.Terminal() && s.enter(payload.TaskID, payload.Status.State)
	case *a2a.TaskArtifactUpdateEvent:
		return s.enter(payload.TaskID, s.state)
	}
	return false
}

// enter accepts a state of the stream's task, and nothing that would replace a
// terminal one.
func (s *Stream) enter(id a2a.TaskID, state a2a.TaskState) bool {
	if s.message || s.id != "" && s.id != id || s.state.Terminal() && state != s.state {
		return false
	}
	s.id, s.state = id, state
	return true
}
