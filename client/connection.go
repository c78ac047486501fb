package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/sse"
)

var (
	errIdle  = errors.New("the stream was silent for too long")
	errGrace = errors.New("the stream has come to its end")
)

// connection is one HTTP answer read as a stream of events. It is used by one
// goroutine at a time; the context it was opened under ends it at any moment.
type connection struct {
	x      *exchange
	pull   func() ([]byte, error, bool)
	stop   func()
	cancel context.CancelCauseFunc
	ctx    context.Context

	opened time.Time
	news   int         // events after the first
	grace  *time.Timer // ends a connection that has nothing left to say
}

// open sends a streaming request and returns once the answer's header is
// there. An answer that is no stream is an error, or counts as one event.
func (c *Client) open(ctx context.Context, method string, p params) (*connection, error) {
	ctx, cancel := context.WithCancelCause(guard.WithMaxAnswer(ctx, c.cfg.MaxStreamBytes))
	late := fmt.Errorf("no answer within %v: %w", c.cfg.Timeout, context.DeadlineExceeded)
	timer := time.AfterFunc(c.cfg.Timeout, func() { cancel(late) })
	x, err := c.send(ctx, method, p, typeStream+", "+typeJSON)
	timer.Stop()
	if err != nil {
		cancel(nil)
		return nil, labeled(method, err)
	}
	n := &connection{x: x, ctx: ctx, cancel: cancel, opened: time.Now()}
	if x.streams() {
		body := &watched{r: x.resp.Body, idle: c.cfg.StreamIdle, fire: func() { cancel(errIdle) }}
		n.pull, n.stop = iter.Pull2(sse.Events(body, sse.Limits{
			MaxEventBytes: c.cfg.MaxEventBytes,
			MaxTotalBytes: c.cfg.MaxStreamBytes,
		}))
		return n, nil
	}
	whole := time.AfterFunc(c.cfg.Timeout, func() { cancel(late) })
	defer whole.Stop()
	result, err := x.result(c.cfg.MaxAnswerBytes)
	if err != nil {
		n.close()
		return nil, labeled(method, err)
	}
	x.parsed = true
	n.pull, n.stop = iter.Pull2(func(yield func([]byte, error) bool) { yield(result, nil) })
	return n, nil
}

// next returns the next event this revision knows. The end of the stream is
// io.EOF.
func (n *connection) next() (*a2a.StreamResponse, error) {
	for {
		data, err, ok := n.pull()
		switch {
		case !ok:
			return nil, io.EOF
		case err != nil:
			if cause := context.Cause(n.ctx); cause != nil {
				err = cause
			} else if errors.Is(err, sse.ErrEventTooLarge) || errors.Is(err, sse.ErrStreamTooLarge) {
				err = fmt.Errorf("%w: %w", ErrTooLarge, err)
			}
			return nil, labeled(n.x.method, n.x.secrets.cover(err))
		}
		event, err := n.read(data)
		if err != nil {
			return nil, err
		}
		if event.Payload == nil {
			n.x.client.cfg.Logger.Info("an event of an unknown kind was skipped", "method", n.x.method)
			continue
		}
		return event, nil
	}
}

func (n *connection) read(data []byte) (*a2a.StreamResponse, error) {
	if !n.x.parsed {
		result, err := n.x.parse(data)
		if err != nil {
			return nil, err
		}
		data = result
	}
	event, err := decode[a2a.StreamResponse](n.x, data)
	if err != nil {
		return nil, err
	}
	switch payload := event.Payload.(type) {
	case *a2a.Task:
		err = n.x.task(payload)
	case *a2a.Message:
		err = n.x.message(payload)
	case *a2a.TaskStatusUpdateEvent:
		n.x.client.dropped(n.x.method, pruneMessage(payload.Status.Message))
		err = n.x.named(payload.TaskID)
	case *a2a.TaskArtifactUpdateEvent:
		n.x.client.dropped(n.x.method, pruneParts(&payload.Artifact.Parts))
		err = n.x.named(payload.TaskID)
	}
	return event, err
}

func (x *exchange) named(id a2a.TaskID) error {
	if id == "" {
		return x.invalid("the event names no task")
	}
	return nil
}

// windUp gives the peer a moment to end a stream that has come to its end, for
// what it may still send: a last snapshot.
func (n *connection) windUp() {
	if n.grace == nil {
		n.grace = time.AfterFunc(graceTime, func() { n.cancel(errGrace) })
	}
}

// goOn takes windUp back.
func (n *connection) goOn() {
	if n.grace != nil {
		n.grace.Stop()
		n.grace = nil
	}
}

const graceTime = time.Second

// close ends the connection. It may be called again.
func (n *connection) close() {
	n.goOn()
	n.cancel(nil)
	if n.stop != nil {
		n.stop()
	}
	n.x.resp.Body.Close()
}

// watched fires when a read lasts too long. Time the caller takes between two
// reads does not count.
type watched struct {
	r     io.Reader
	idle  time.Duration
	fire  func()
	timer *time.Timer
}

func (w *watched) Read(b []byte) (int, error) {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.idle, w.fire)
	} else {
		w.timer.Reset(w.idle)
	}
	n, err := w.r.Read(b)
	w.timer.Stop()
	return n, err
}
