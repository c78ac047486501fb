package issuer

import (
	"context"
	"crypto"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/legation/legation/internal/access"
)

const (
	pause     = time.Minute      // between two visits to an issuer
	freshFor  = 15 * time.Minute // after that keys are asked for again
	usableFor = 24 * time.Hour   // after that an issuer that is down is gone
)

// keys is the keys of one issuer.
type keys struct {
	set    *Set
	issuer string

	mu      sync.Mutex
	all     []key
	version int64         // counts how often they were read
	fetched time.Time     // when they were
	tried   time.Time     // when the newest visit began
	failed  bool          // it did not succeed
	flight  chan struct{} // closed when the visit under way is over; nil: none
}

// stillAt reports whether the keys are those of a version.
func (k *keys) stillAt(version int64, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != version || !k.usable(now) {
		return false
	}
	k.refresh(now)
	return true
}

func (k *keys) usable(now time.Time) bool {
	return !k.fetched.IsZero() && now.Before(k.fetched.Add(usableFor))
}

// refresh begins a visit if the keys are not fresh. Nobody waits for it.
func (k *keys) refresh(now time.Time) {
	if now.After(k.fetched.Add(freshFor)) {
		k.begin(now)
	}
}

// begin begins a visit, or joins the one under way. It returns nil if it is too
// early for another. The lock is held.
func (k *keys) begin(now time.Time) <-chan struct{} {
	switch {
	case k.flight != nil:
		return k.flight
	case !k.tried.IsZero() && now.Before(k.tried.Add(pause)):
		return nil
	}
	flight := make(chan struct{})
	if !k.set.visit(func(ctx context.Context) {
		defer close(flight)
		k.visit(ctx)
	}) {
		return nil
	}
	k.tried, k.flight = now, flight
	return flight
}

// find returns the keys that may have signed, and the version they are of. If
// there is none the issuer is asked, unless it just was.
func (k *keys) find(ctx context.Context, id, algorithm string) ([]crypto.PublicKey, int64, error) {
	now := k.set.cfg.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.matching(id, algorithm, now); len(found) > 0 {
		k.refresh(now)
		return found, k.version, nil
	}
	if flight := k.begin(now); flight != nil {
		k.mu.Unlock()
		err := wait(ctx, flight)
		k.mu.Lock()
		if err != nil {
			return nil, 0, err
		}
		if found := k.matching(id, algorithm, now); len(found) > 0 {
			return found, k.version, nil
		}
	}
	if k.failed || !k.usable(now) {
		return nil, 0, access.ErrUnavailable
	}
	return nil, 0, access.ErrSignature
}

func wait(ctx context.Context, flight <-chan struct{}) error {
	select {
	case <-flight:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// matching are the keys that may have signed. A token that names no key may be
// signed with any.
func (k *keys) matching(id, algorithm string, now time.Time) []crypto.PublicKey {
	if !k.usable(now) {
		return nil
	}
	var found []crypto.PublicKey
	for _, key := range k.all {
		if (id == "" || key.id == id) && (key.algorithm == "" || key.algorithm == algorithm) {
			found = append(found, key.public)
		}
	}
	return found
}

// visit asks the issuer for its keys. What was known stays if that fails.
func (k *keys) visit(ctx context.Context) {
	all, err := k.ask(ctx)
	if err != nil && ctx.Err() == nil {
		k.set.cfg.Logger.Warn("the keys of an issuer cannot be had", "issuer", k.issuer, "error", bounded(err))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flight, k.failed = nil, err != nil
	if err != nil {
		return
	}
	k.version++
	k.all, k.fetched = all, k.set.cfg.Now()
}

// ask fetches in safety.
func (k *keys) ask(ctx context.Context) (all []key, err error) {
	defer func() {
		if p := recover(); p != nil {
			k.set.cfg.Logger.Error("reading keys panicked", "issuer", k.issuer, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic with a %T", p)
		}
	}()
	client, err := k.set.client(k.issuer)
	if err != nil {
		return nil, err
	}
	return fetch(ctx, client, k.issuer)
}
