package server

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/legation/legation/a2a"
)

// places are what waits and streams take while they are held open, over all
// agents and callers.
type places struct {
	taken atomic.Int64
	most  int64
}

// take takes a place, or reports that there is none.
func (p *places) take() bool {
	if p.taken.Add(1) <= p.most {
		return true
	}
	p.free()
	return false
}

func (p *places) free() { p.taken.Add(-1) }

// takePlace takes the place of a wait or a stream, before anything is changed
// or looked up for it. The place must be freed.
func (c *call) takePlace() error {
	if c.server.places.take() {
		return nil
	}
	return later(http.StatusServiceUnavailable, placePause,
		"too many streams and waiting requests are open here; try again later, or send with returnImmediately and read the task with %s", a2a.MethodGetTask)
}

// held is the context of a wait or a stream: it ends when the caller leaves,
// the server stops, or the limit is reached.
func (c *call) held(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.r.Context(), limit)
	release := context.AfterFunc(c.server.stopping, cancel)
	return ctx, func() {
		release()
		cancel()
	}
}
