package server

import (
	"errors"
	"io"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/sse"
	"github.com/legation/legation/task"
)

// sendStreamingMessage answers SendStreamingMessage: one message, or the task
// as it was taken and then its events. The stream ends with the task, and when
// the task asks the caller for input: that needs another call anyway.
func sendStreamingMessage(c *call) error {
	req, err := c.sendRequest()
	if err != nil {
		return err
	}
	if err := c.checkStreaming(); err != nil {
		return err
	}
	if err := c.takePlace(); err != nil {
		return err
	}
	defer c.server.places.free()
	reply, err := c.send(&req)
	if err != nil {
		return err
	}
	if reply.Message != nil {
		if err := c.begin(); err != nil {
			return nil
		}
		event := a2a.StreamResponse{Payload: reply.Message}
		_ = c.stream.Event(c.prefix, event.AppendJSON(nil), suffix) // the last write: nobody is left to tell
		return nil
	}
	feed := c.server.engine.Follow(*reply.Task)
	defer feed.Close()
	view := task.View{History: configuration(&req).HistoryLength, Artifacts: true}
	return c.follow(feed, view, func(s a2a.TaskState) bool { return s == a2a.TaskStateInputRequired })
}

var suffix = []byte(jsonrpc.ResultSuffix)

// begin opens the stream. Its events share all but their result.
func (c *call) begin() (err error) {
	c.answered = true
	c.prefix = jsonrpc.AppendResultPrefix(nil, c.id)
	c.stream, err = sse.NewWriter(c.w, sse.Options{WriteTimeout: c.server.cfg.WriteTimeout})
	return err
}

// never is for streams that end with their task only.
func never(a2a.TaskState) bool { return false }

// follow streams a task and what becomes of it, until it has ended, is in a
// state that ends this stream, the reader or the server goes, or the stream is
// as old as one may get: it is resumed by subscribing again. Several events
// that are there leave in one piece.
func (c *call) follow(feed *task.Feed, view task.View, ends func(a2a.TaskState) bool) error {
	ctx, cancel := c.held(c.server.cfg.StreamLimit)
	defer cancel()
	if c.begin() != nil {
		return nil // the reader is gone
	}
	if c.snapshot(feed, view) != nil || ends(feed.Task.State) {
		return nil
	}
	for {
		events, err := feed.Read(ctx)
		switch {
		case c.withdrawn(ctx) != nil:
			return c.withdrawn(ctx)
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case len(events) == 0:
			if c.stream.Wait(ctx, feed.Wake()) != nil {
				return c.withdrawn(ctx)
			}
			continue
		}
		if done, err := c.write(events, ends); done || err != nil {
			return nil
		}
	}
}

// snapshot writes the task as it was when the feed began.
func (c *call) snapshot(feed *task.Feed, view task.View) error {
	buf := buffers.Get().(*[]byte)
	b := append((*buf)[:0], `{"task":`...)
	b = feed.Task.AppendTask(b, view)
	b = append(b, '}')
	c.stream.Add(c.prefix, b, suffix)
	putBuffer(buf, b)
	return c.stream.Flush()
}

// flushAt bounds what is gathered for one write.
const flushAt = 256 << 10

// write sends events on their way and reports whether one of them ends the
// stream.
func (c *call) write(events []task.Event, ends func(a2a.TaskState) bool) (done bool, err error) {
	for _, event := range events {
		if event.Body != nil {
			c.stream.Add(c.prefix, event.Body, suffix)
		}
		if c.stream.Buffered() >= flushAt {
			if err := c.stream.Flush(); err != nil {
				return true, err
			}
		}
		if done = ends(event.State); done {
			break
		}
	}
	return done, c.stream.Flush()
}
