package server

import (
	"context"
	"errors"
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
// the server stops, the limit is reached, or what the caller was let in for is
// withdrawn, of which withdrawn tells. Most of them end soon and for none of
// these reasons, so it takes no goroutine.
func (c *call) held(limit time.Duration) (context.Context, context.CancelFunc) {
	var cause error
	if until := c.caller.Until; !until.IsZero() {
		if left := until.Sub(c.server.cfg.Now()); left < limit {
			limit, cause = left, errExpired
		}
	}
	ctx, cancel := context.WithTimeoutCause(c.r.Context(), limit, cause)
	release := context.AfterFunc(c.server.stopping, cancel)
	if c.caller.Revoked == nil {
		return ctx, func() {
			release()
			cancel()
		}
	}
	unwatch := context.AfterFunc(c.caller.Revoked, cancel)
	return ctx, func() {
		unwatch()
		release()
		cancel()
	}
}

// Why a caller may not hold on any longer.
var (
	errWithdrawn = &Refusal{
		Status: http.StatusForbidden, Code: "withdrawn",
		Reason: "the credential or the rights that this was opened with were taken away",
	}
	errExpired = &Refusal{
		Status: http.StatusUnauthorized, Code: "credential_expired", Challenge: "Bearer",
		Reason: "the credential that this was opened with has expired; come back with a new one",
	}
)

// stands returns why what the caller was let in for does not count any more: its
// body may have taken its time, and the moment before a change is the last to
// look.
func (c *call) stands() error {
	switch {
	case c.caller.Revoked != nil && c.caller.Revoked.Err() != nil:
		return errWithdrawn
	case !c.caller.Until.IsZero() && !c.server.cfg.Now().Before(c.caller.Until):
		return errExpired
	}
	return nil
}

// withdrawn is why a caller may not hold on to a context of held any longer, or
// nil.
func (c *call) withdrawn(ctx context.Context) error {
	revoked := c.caller.Revoked
	switch {
	case ctx.Err() == nil:
		return nil
	case revoked != nil && revoked.Err() != nil:
		return errWithdrawn
	case errors.Is(context.Cause(ctx), errExpired):
		return errExpired
	}
	return nil
}
