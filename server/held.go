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
// withdrawn, which is then its cause.
func (c *call) held(limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.r.Context(), limit)
	release := context.AfterFunc(c.server.stopping, cancel)
	if c.caller.Revoked == nil && c.caller.Until.IsZero() {
		return ctx, func() {
			release()
			cancel()
		}
	}
	watched, withdraw := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.caller.watch(watched, withdraw, c.server.cfg.Now())
	}()
	return watched, func() {
		release()
		cancel()
		<-done
	}
}

// watch ends a context when the caller's credential ends or is taken away. It
// returns when the context has ended.
func (c *Caller) watch(ctx context.Context, withdraw context.CancelCauseFunc, now time.Time) {
	var ends <-chan time.Time
	if !c.Until.IsZero() {
		timer := time.NewTimer(c.Until.Sub(now))
		defer timer.Stop()
		ends = timer.C
	}
	select {
	case <-c.Revoked:
		withdraw(&Refusal{
			Status: http.StatusForbidden, Code: "withdrawn",
			Reason: "the credential or the rights that this was opened with were taken away",
		})
	case <-ends:
		withdraw(&Refusal{
			Status: http.StatusUnauthorized, Code: "credential_expired", Challenge: "Bearer",
			Reason: "the credential that this was opened with has expired; come back with a new one",
		})
	case <-ctx.Done():
	}
}

// withdrawn is why a caller may not hold on any longer, or nil.
func withdrawn(ctx context.Context) error {
	if refusal, ok := errors.AsType[*Refusal](context.Cause(ctx)); ok {
		return refusal
	}
	return nil
}
