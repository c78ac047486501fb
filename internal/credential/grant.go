package credential

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxMargin    = time.Minute     // before its end a token is renewed, or a fifth of its life before
	justFetched  = time.Second     // a token of this age is not renewed though it was refused
	failureKept  = 5 * time.Second // a failure is told again
	failureLimit = time.Minute     // that long if the endpoint asks for it
)

// token is an access token.
type token struct {
	value        string
	got, expires time.Time
	epoch        int64
}

func (t token) goodAt(now time.Time) bool { return t.value != "" && now.Before(t.expires) }

// renewAt is when to fetch the next one.
func (t token) renewAt() time.Time {
	return t.expires.Add(-min(maxMargin, t.expires.Sub(t.got)/5))
}

// grant is what one token endpoint gives for one purpose: the present token, and
// the turn to fetch the next.
type grant struct {
	now   func() time.Time
	epoch *atomic.Int64
	turn  chan struct{} // held by the one who fetches

	metadata metadata // of the issuer; with the turn

	mu          sync.Mutex
	token       token
	failure     error
	failedEpoch int64
	failedUntil time.Time
}

func newGrant(now func() time.Time, epoch *atomic.Int64) *grant {
	return &grant{now: now, epoch: epoch, turn: make(chan struct{}, 1)}
}

// get returns a token that is good, and fetches one if need be. One goroutine
// fetches at a time, with its own context; the others wait, or go on with a token
// that is about to end. With renew set the token of before was refused.
func (g *grant) get(ctx context.Context, renew bool, fetch func(context.Context) (token, error)) (token, error) {
	began := g.now()
	present, _ := g.state()
	if !renew && began.Before(present.renewAt()) && present.goodAt(began) {
		return present, nil
	}
	select {
	case g.turn <- struct{}{}:
	default:
		if !renew && present.goodAt(began) {
			return present, nil
		}
		select {
		case g.turn <- struct{}{}:
		case <-ctx.Done():
			return token{}, context.Cause(ctx)
		}
	}
	defer func() { <-g.turn }()

	now := g.now()
	present, failure := g.state()
	switch {
	case renew && present.goodAt(now) && present.got.After(began.Add(-justFetched)):
		return present, nil
	case !renew && present.goodAt(now) && (failure != nil || now.Before(present.renewAt())):
		return present, nil
	case failure != nil:
		return token{}, failure
	}
	epoch := g.epoch.Load()
	next, err := fetch(ctx)
	if err == nil {
		next.epoch = epoch
		g.mu.Lock()
		g.token, g.failure = next, nil
		g.mu.Unlock()
		return next, nil
	}
	if ctx.Err() != nil {
		return token{}, err // says nothing of the endpoint
	}
	g.mu.Lock()
	g.failure, g.failedEpoch, g.failedUntil = err, epoch, g.now().Add(keptFor(err))
	g.mu.Unlock()
	if !renew && present.goodAt(g.now()) {
		return present, nil
	}
	return token{}, err
}

// state is the token and the failure that still count.
func (g *grant) state() (token, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	epoch := g.epoch.Load()
	present, failure := g.token, g.failure
	if present.epoch != epoch {
		present = token{}
	}
	if g.failedEpoch != epoch || !g.now().Before(g.failedUntil) {
		failure = nil
	}
	return present, failure
}
