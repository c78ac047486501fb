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
// withdrawn, which is then its cause. Most of them end soon and for none of
// these reasons, so it takes no goroutine.
func (c *call) held(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cause := c.r.Context(), error(nil)
	if until := c.caller.Until; !until.IsZero() {
		if left := until.Sub(c.server.cfg.Now()); left < limit {
			limit, cause = left, errExpired
		}
	}
	unwatch := func() {}
	if revoked := c.caller.Revoked; revoked != nil {
		watched, withdraw := context.WithCancelCause(ctx)
		stop := context.AfterFunc(revoked, func() { withdraw(errWithdrawn) })
		ctx, unwatch = watched, func() {
			stop()
			withdraw(nil)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, cause)
	release := context.AfterFunc(c.server.stopping, cancel)
	return ctx, func() {
		release()
		cancel()
		unwatch()
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

// withdrawn is why a caller may not hold on any longer, or nil.
func withdrawn(ctx context.Context) error {
	if refusal, ok := errors.AsType[*Refusal](context.Cause(ctx)); ok {
		return refusal
	}
	return nil
}
