package trust

import (
	"math/rand/v2"
	"time"

	"github.com/legation/legation/internal/registry"
)

// Bounds of how often cards are read. What a card asks for lies between minPause
// and half of the age at which it is too old.
const (
	minPause   = time.Minute
	firstRetry = 30 * time.Second
	lastRetry  = 15 * time.Minute
	longest    = time.Hour // that an agent may ask us to wait
	saveRetry  = 5 * time.Second
	soonest    = time.Minute // to read a card after a start
	lookAgain  = time.Minute // at the clock, which may have been set
)

// timing is when a card is read. Waiting goes by real timers, so due is a time
// of the machine and not of Config.Now. It is guarded by the entry's mutex.
type timing struct {
	due   time.Time // zero: at once
	retry time.Time // when to write down again what failed
	busy  bool      // somebody tends to it

	attempts int      // in a row that led to no trust
	failure  *Failure // of the last reading
}

// wanted reports whether the card is read without being asked to: that of an
// agent that is not to be used is left alone.
func (e *entry) wanted() bool { return !e.gone && e.ready == registry.Ready }

// readSoon makes the card be read at once.
func (e *entry) readSoon() { e.due, e.attempts = time.Time{}, 0 }

// schedule sets when the card is read next, by when it was read last.
func (e *entry) schedule(now time.Time) {
	if e.kept.FetchedAt.IsZero() || e.kept.FetchedAt.After(now.Add(skew)) || e.kept.Asked != e.reg.Location() {
		e.readSoon()
		return
	}
	e.due = time.Now().Add(e.kept.FetchedAt.Add(early(e.pause())).Sub(now))
}

// soon makes the card be read within a minute, as after a start: what is kept may
// be worth less by now.
func (e *entry) soon() {
	if e.due.IsZero() {
		return
	}
	if at := time.Now().Add(rand.N(soonest)); at.Before(e.due) { //nolint:gosec // spread, not secrecy
		e.due = at
	}
}

// wait is how long the card may still be left alone. One that was good and is too
// old is read at once, whatever was planned: the machine may have slept, or its
// clock was set. Failures still make the pauses grow.
func (e *entry) wait(now time.Time) time.Duration {
	if e.verdict.state == Trusted && e.tooOld(now) && e.attempts == 0 {
		return 0
	}
	return time.Until(e.due)
}

// pause is how long a card that was read may be left alone.
func (e *entry) pause() time.Duration {
	most := time.Duration(e.reg.Spec.MaxCardAge) / 2
	return min(max(e.kept.MaxAge, minPause), most)
}

// backoff is the pause after some failures in a row.
func backoff(failures int) time.Duration {
	pause := firstRetry
	for range min(failures-1, 10) {
		pause = min(2*pause, lastRetry)
	}
	return pause
}

// early spreads what would happen at the same time over a fifth of the pause.
func early(pause time.Duration) time.Duration {
	return pause - rand.N(max(pause/5, 1)) //nolint:gosec // spread, not secrecy
}
