package trust

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/legation/legation/internal/registry"
)

// Run reads cards in time until ctx ends: each by its own age, those that failed
// again and again with growing pauses, and a bounded number at once, of which those
// that failed the last time have half, so that agents that are slow delay no
// others. It also tells when trust has run out. It
// returns nil once everything that it began has ended.
func (b *Book) Run(ctx context.Context) error {
	var tending sync.WaitGroup
	defer tending.Wait()
	free := slots{all: b.cfg.Concurrent, failing: max(b.cfg.Concurrent/2, 1)}
	ended := make(chan bool, b.cfg.Concurrent)
	for {
		next := time.Duration(-1)
		for _, e := range b.all() {
			wait, failing, ok := b.wait(e)
			switch {
			case !ok:
			case wait > 0:
				if wait = min(wait, lookAgain); next < 0 || wait < next {
					next = wait
				}
			case free.have(failing) && e.take():
				free.use(failing, -1)
				tending.Go(func() {
					defer func() { ended <- failing }()
					defer e.leave()
					b.tend(ctx, e)
				})
			}
		}
		if !b.pause(ctx, next, ended, &free) {
			return nil
		}
	}
}

// slots are how many more may be read at once: all together, and of those that
// failed the last time.
type slots struct{ all, failing int }

func (s *slots) have(failing bool) bool { return s.all > 0 && (!failing || s.failing > 0) }

func (s *slots) use(failing bool, n int) {
	s.all += n
	if failing {
		s.failing += n
	}
}

// pause waits until there may be something to do: next has passed, which is for
// ever if it is negative, or something has changed or ended. It reports false
// once ctx has ended.
func (b *Book) pause(ctx context.Context, next time.Duration, ended <-chan bool, free *slots) bool {
	var passed <-chan time.Time
	if next >= 0 {
		timer := time.NewTimer(next)
		defer timer.Stop()
		passed = timer.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-passed:
	case <-b.wake:
	case failing := <-ended:
		free.use(failing, 1)
	}
	return true
}

// wait returns how long there is nothing to do for an agent, and whether it failed
// the last time. It is not ok if there never is, or somebody is at it.
func (b *Book) wait(e *entry) (_ time.Duration, failing, ok bool) {
	now := b.cfg.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy || e.gone {
		return 0, false, false
	}
	at := time.Duration(-1)
	sooner := func(d time.Duration) {
		if d = max(d, 0); at < 0 || d < at {
			at = d
		}
	}
	if e.wanted() {
		sooner(e.wait(now))
	}
	if e.kept.State == Trusted && e.verdict.state == Trusted {
		if e.tooOld(now) {
			sooner(0)
		}
		sooner(e.until().Sub(now))
	}
	if e.changes != e.written {
		sooner(time.Until(e.retry))
	}
	return at, e.attempts > 0, at >= 0
}

func (e *entry) take() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy {
		return false
	}
	e.busy = true
	return true
}

func (e *entry) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = false
}

// tend does what is due for one agent.
func (b *Book) tend(ctx context.Context, e *entry) {
	e.mu.Lock()
	b.change(e, nil) // its age may have changed what it is worth
	unsaved := e.changes != e.written
	due := e.wanted() && e.wait(b.cfg.Now()) <= 0
	e.mu.Unlock()
	if unsaved {
		b.saveLater(ctx, e)
	}
	if due && ctx.Err() == nil {
		// What went wrong is told by read.
		_ = b.read(ctx, e)
	}
}

// saveLater writes down what was changed, and sees to it that it is tried again.
func (b *Book) saveLater(ctx context.Context, e *entry) {
	err := b.save(ctx, e)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retry = time.Time{}
	if err != nil {
		e.retry = time.Now().Add(saveRetry)
	}
}

// RefreshNow reads the card of one remote agent at once, whatever its age, and
// also if it is disabled or lacks something. The knowledge is that after it, and
// before it if the card could not be read: then the error is a *[ReadError].
func (b *Book) RefreshNow(ctx context.Context, name registry.Name) (Knowledge, error) {
	e := b.entry(name)
	if e == nil {
		return Knowledge{}, fmt.Errorf("%w: %s", ErrUnknown, bounded(string(name)))
	}
	err := b.read(ctx, e)
	return e.knowledge(b.cfg.Now()), err
}

// read reads a card and judges it.
func (b *Book) read(ctx context.Context, e *entry) error {
	select {
	case e.reading <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.reading }()
	e.mu.Lock()
	reg := e.reg
	e.mu.Unlock()

	fetched, err := b.fetch(ctx, reg)
	if err != nil && ctx.Err() != nil {
		return err // we gave up, which says nothing of the agent
	}
	now := b.cfg.Now()
	e.mu.Lock()
	if e.gone || e.reg.Generation != reg.Generation {
		e.readSoon() // what was read is not what is meant now
		e.mu.Unlock()
		b.signal()
		return &ReadError{Code: CodeRegistration, Words: "the registration was changed while the card was read", Err: err}
	}
	failed := b.take(e, reg, fetched, err, now)
	e.mu.Unlock()
	b.saveLater(ctx, e)
	return failed
}

// take takes in what was read. The caller holds e.mu.
func (b *Book) take(e *entry, reg Registration, fetched Fetched, err error, now time.Time) error {
	refused, _ := errors.AsType[*ReadError](err)
	if err != nil && !(refused != nil && refused.NoCard) {
		b.failed(e, refused, now)
		return err
	}
	b.change(e, func(kept *RemoteCard) {
		kept.Asked, kept.FetchedAt = reg.Location(), stamp(now)
		if err != nil {
			kept.Raw, kept.Fault = nil, refused.Words
			kept.URL, kept.ETag, kept.LastModified, kept.MaxAge = "", "", "", 0
			return
		}
		kept.Raw, kept.Fault = fetched.Raw, ""
		kept.URL, kept.ETag, kept.LastModified, kept.MaxAge = fetched.URL, fetched.ETag, fetched.LastModified, fetched.MaxAge
	})
	if times := e.attempts; e.failure != nil && err == nil {
		b.log(e, slog.LevelInfo, "the card of a remote agent can be read again", "failures", times)
	}
	e.failure = nil
	if e.verdict.state != Trusted {
		e.attempts++
		e.due = time.Now().Add(early(backoff(e.attempts)))
		return err
	}
	e.attempts = 0
	e.due = time.Now().Add(early(e.pause()))
	return nil
}

// failed notes that a card could not be read, and tries again later.
func (b *Book) failed(e *entry, why *ReadError, now time.Time) {
	e.attempts++
	failure := &Failure{At: stamp(now), Code: CodeUnreachable, Words: "its card could not be read", Times: e.attempts}
	pause := backoff(e.attempts)
	if why != nil {
		failure.Code, failure.Words = why.Code, why.Words
		pause = max(pause, min(why.RetryAfter, longest))
	}
	e.failure = failure
	e.due = time.Now().Add(early(pause))
	b.log(e, slog.LevelWarn, "the card of a remote agent could not be read", "code", failure.Code, "why", failure.Words, "times", failure.Times)
}

// fetch asks the source, within its time. A panic there is a failure of this
// agent alone.
func (b *Book) fetch(ctx context.Context, reg Registration) (fetched Fetched, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.ReadTimeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			b.cfg.Logger.Error("a panic while a card was read", "remoteAgent", reg.Name, "panic", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			err = &ReadError{Code: CodeUnreachable, Words: "the reading of its card failed by a fault of this program"}
		}
	}()
	return b.source.Read(ctx, reg)
}
