package trust_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// running runs the book until the test ends.
func (w *world) running() {
	w.Helper()
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.book.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("Run() error = %v", err)
		}
	})
}

// between asserts that a pause is within a fifth below what it is to be.
func between(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got > want || got < want*4/5 {
		t.Errorf("%s after %v, want %v or up to a fifth less", what, got, want)
	}
}

// REQ-CARD-08 and REQ-CARD-10: a card is read again by its own age, within
// bounds.
func TestRefreshByAge(t *testing.T) {
	for name, tt := range map[string]struct {
		age, most, want time.Duration
	}{
		"its own":           {20 * time.Minute, 24 * time.Hour, 20 * time.Minute},
		"at once":           {0, 24 * time.Hour, time.Minute},
		"longer than is ok": {24 * time.Hour, time.Hour, 30 * time.Minute},
		"below a minute":    {time.Hour, time.Minute, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := key(t, "k")
				w := newWorld(t, trust.Config{Now: time.Now})
				raw := signed(t, agentCard(), k)
				w.source.on(agentName, func(context.Context) (trust.Fetched, error) {
					return trust.Fetched{Raw: raw, MaxAge: tt.age}, nil
				})
				start := time.Now()
				w.running()
				w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.MaxCardAge = registry.Duration(tt.most) }))
				time.Sleep(tt.want*2 + time.Second)
				times := w.source.times(agentName, start)
				if len(times) < 3 || times[0] != 0 {
					t.Fatalf("read at %v", times)
				}
				between(t, "read again", times[1], tt.want)
				between(t, "and again", times[2]-times[1], tt.want)
				w.trusted()
				known, _ := w.book.Known(agentName)
				if known.NextRead.Before(time.Now()) || known.NextRead.After(time.Now().Add(tt.want)) {
					t.Errorf("next read at %v, now it is %v", known.NextRead, time.Now())
				}
			})
		})
	}
}

// Failures are tried again with growing pauses, and a card that does not verify
// like one that cannot be read.
func TestBackoff(t *testing.T) {
	for name, answer := range map[string]answer{
		"unreachable":     fails(unreachable),
		"not explained":   fails(errors.New("something")),
		"not to be had":   serves([]byte("{}")),
		"a panic":         func(context.Context) (trust.Fetched, error) { panic("fault") },
		"never answering": func(ctx context.Context) (trust.Fetched, error) { <-ctx.Done(); return trust.Fetched{}, ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := key(t, "k")
				w := newWorld(t, trust.Config{Now: time.Now, ReadTimeout: time.Nanosecond})
				w.source.on(agentName, answer)
				start := time.Now()
				w.running()
				w.register(agentName, ready(pinned(t, k)))
				time.Sleep(2 * time.Hour)
				times := w.source.times(agentName, start)
				want := 30 * time.Second
				for i := 1; i < len(times); i++ {
					between(t, fmt.Sprint("try ", i), times[i]-times[i-1], want)
					want = min(2*want, 15*time.Minute)
				}
				if len(times) < 10 || len(times) > 18 {
					t.Errorf("%d tries in two hours", len(times))
				}

				w.source.on(agentName, serves(signed(t, agentCard(), k)))
				time.Sleep(15 * time.Minute)
				w.trusted()
			})
		})
	}
}

// An agent that asks for patience gets it, within bounds.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, trust.Config{Now: time.Now})
		w.source.on(agentName, fails(&trust.ReadError{Code: "status", Words: "busy", RetryAfter: 24 * time.Hour}))
		start := time.Now()
		w.running()
		w.register(agentName, ready(pinned(t, key(t, "k"))))
		time.Sleep(61 * time.Minute)
		times := w.source.times(agentName, start)
		if len(times) != 2 {
			t.Fatalf("read at %v, want twice", times)
		}
		between(t, "read again", times[1], time.Hour)
	})
}

// Slow agents delay no other, and no more than the bound are asked at once.
func TestSlowAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		good := serves(signed(t, agentCard(), k))
		slow := func(ctx context.Context) (trust.Fetched, error) { <-ctx.Done(); return trust.Fetched{}, ctx.Err() }
		for i := range 15 {
			name := registry.Name(fmt.Sprint("slow-", i))
			w.source.on(name, slow)
			w.register(name, ready(pinned(t, k)))
		}
		w.source.on(agentName, good)
		w.register(agentName, ready(pinned(t, k)))
		w.running()
		synctest.Wait()
		w.trusted()

		w.source.on("slow-16", slow)
		w.register("slow-16", ready(pinned(t, k)))
		synctest.Wait() // it has the last place
		w.source.on("late", good)
		w.register("late", ready(pinned(t, k)))
		synctest.Wait()
		if waiting, _ := w.book.Known("late"); waiting.State != trust.Unknown {
			t.Errorf("with sixteen that are asked, another is %s", waiting.State)
		}
		time.Sleep(31 * time.Second)
		if late, _ := w.book.Known("late"); late.State != trust.Trusted {
			t.Errorf("after the time of a reading it is %s: %+v", late.State, late.Reasons)
		}
	})
}

// Those that failed the last time have half of the places, however many they are.
func TestSlowAgentsThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		for i := range 40 {
			name := registry.Name(fmt.Sprint("slow-", i))
			w.source.on(name, func(ctx context.Context) (trust.Fetched, error) { <-ctx.Done(); return trust.Fetched{}, ctx.Err() })
			w.register(name, ready(pinned(t, k)))
		}
		w.running()
		time.Sleep(10 * time.Minute) // all have failed, and again
		for i := range 20 {
			name := registry.Name(fmt.Sprint("good-", i))
			w.source.on(name, serves(signed(t, agentCard(), k)))
			w.register(name, ready(pinned(t, k)))
			synctest.Wait()
			if known, _ := w.book.Known(name); known.State != trust.Trusted {
				t.Fatalf("%s is %s", name, known.State)
			}
			time.Sleep(7 * time.Second)
		}
	})
}

// A clock that was set, or a machine that slept, makes a card that is too old be
// read at once; if it cannot be read, the pauses grow as ever.
func TestClocksThatAreSet(t *testing.T) {
	for name, jump := range map[string]time.Duration{"on": 25 * time.Hour, "back": -10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := key(t, "k")
				w := newWorld(t, trust.Config{})
				w.now.at = time.Now()
				raw := signed(t, agentCard(), k)
				w.source.on(agentName, func(context.Context) (trust.Fetched, error) {
					return trust.Fetched{Raw: raw, MaxAge: 24 * time.Hour}, nil
				})
				w.running()
				w.register(agentName, ready(pinned(t, k)))
				synctest.Wait()
				w.trusted()
				w.now.advance(jump)
				w.untrusted(trust.Stale, trust.CodeTooOld)
				start := time.Now()
				time.Sleep(time.Minute)
				synctest.Wait()
				w.trusted()

				w.source.on(agentName, fails(unreachable))
				w.now.advance(jump)
				time.Sleep(10 * time.Minute)
				if times := w.source.times(agentName, start); len(times) < 4 || len(times) > 9 {
					t.Errorf("read at %v", times)
				}
			})
		})
	}
}

// A registration that is disabled is left alone, and one that was changed is
// looked at without waiting.
func TestWhoIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		w.source.on(agentName, serves(signed(t, agentCard(), k)))
		w.running()
		start := time.Now()
		w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.Enabled = false }))
		time.Sleep(48 * time.Hour)
		if times := w.source.times(agentName, start); len(times) > 0 {
			t.Errorf("a disabled agent was read at %v", times)
		}
		if known := w.refresh(); known.State != trust.Disabled || known.Card == nil || !known.NextRead.IsZero() {
			t.Errorf("read by hand it is %s, next at %v", known.State, known.NextRead)
		}
		changed := time.Now()
		w.register(agentName, ready(pinned(t, k)))
		w.trusted()
		synctest.Wait()
		w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.CardURL = "https://cards.example/card.json" }))
		w.untrusted(trust.Unknown, trust.CodeNeverRead)
		synctest.Wait()
		w.trusted()
		if times := w.source.times(agentName, changed); len(times) != 3 {
			t.Errorf("read at %v, want by hand and after each change", times)
		}
	})
}

// What was read under a registration that is in force no more is not believed.
func TestChangedWhileRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		raw := signed(t, agentCard(), k)
		w := newWorld(t, trust.Config{Now: time.Now})
		reading, answered := make(chan struct{}), make(chan struct{})
		w.source.on(agentName, func(context.Context) (trust.Fetched, error) {
			close(reading)
			<-answered
			return trust.Fetched{Raw: raw}, nil
		})
		w.register(agentName, ready(pinned(t, k)))
		failed := make(chan error, 1)
		go func() { _, err := w.book.RefreshNow(t.Context(), agentName); failed <- err }()
		<-reading

		// A second one waits for its turn, and no longer than it wants to.
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := w.book.RefreshNow(ctx, agentName); !errors.Is(err, context.Canceled) {
			t.Errorf("RefreshNow() error = %v, want canceled", err)
		}
		w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.URL = "https://other.example" }))
		close(answered)
		if refused, ok := errors.AsType[*trust.ReadError](<-failed); !ok || refused.Code != trust.CodeRegistration {
			t.Errorf("RefreshNow() error = %v, want a *ReadError", refused)
		}
		w.untrusted(trust.Unknown, trust.CodeNeverRead)
	})
}

// A reading that began under another registration is not the one that the change
// asks for.
func TestChangedWhileReadByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		raw := signed(t, agentCard(), k)
		w := newWorld(t, trust.Config{Now: time.Now})
		answered := make(chan struct{})
		w.source.on(agentName, func(context.Context) (trust.Fetched, error) {
			<-answered
			return trust.Fetched{Raw: raw, MaxAge: time.Hour}, nil
		})
		w.running()
		w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.Exceptions = []registry.Exception{"partner.example"} }))
		synctest.Wait()
		w.register(agentName, ready(pinned(t, k)))
		close(answered)
		synctest.Wait()
		if times := w.source.times(agentName, time.Now()); len(times) != 2 {
			t.Errorf("read at %v, want once more", times)
		}
		w.trusted()
	})
}

// That trust has run out is told when it happens, and ends what is open.
func TestRunTellsStaleness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		w.source.on(agentName, serves(signed(t, agentCard(), k)))
		w.register(agentName, ready(pinned(t, k)))
		w.refresh()
		ticket := w.trusted()
		w.source.on(agentName, fails(unreachable))
		w.running()
		start := time.Now()
		<-ticket.Withdrawn
		if got := time.Since(start); got != 24*time.Hour {
			t.Errorf("withdrawn after %v, want 24h", got)
		}
		synctest.Wait()
		if got := w.stored(); got.State != trust.Stale || got.Reason != trust.CodeTooOld {
			t.Errorf("stored: %s for %s", got.State, got.Reason)
		}
	})
}

// What could not be written down is tried again.
func TestRunWritesDownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		w.store.failing(errors.New("disk full"))
		w.source.on(agentName, serves(signed(t, agentCard(), k)))
		w.running()
		w.register(agentName, ready(pinned(t, k)))
		time.Sleep(time.Minute)
		w.untrusted(trust.Unknown, trust.CodeNotStored)
		w.store.failing(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		w.trusted()
	})
}
