package work_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/internal/work"
)

const kind work.Kind = "test"

// rows is a small store whose failures the tests choose.
type rows struct {
	mu       sync.Mutex
	epoch    int64
	waiting  []string
	held     map[string]work.Fence
	released []string
	renewed  time.Time
	expires  time.Duration // after the newest renewal; zero means never
	renewErr error
	claimErr error
	ready    chan struct{}
}

func newRows(ids ...string) *rows {
	return &rows{waiting: ids, held: map[string]work.Fence{}, ready: make(chan struct{}, 1)}
}

func (r *rows) Claim(_ context.Context, q work.Query) ([]work.Item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claimErr != nil {
		return nil, r.claimErr
	}
	var items []work.Item
	if r.expires > 0 && time.Since(r.renewed) > r.expires {
		for id := range r.held {
			items = append(items, r.hold(q.Kind, id))
		}
	}
	for len(items) < q.Limit && len(r.waiting) > 0 {
		items = append(items, r.hold(q.Kind, r.waiting[0]))
		r.waiting = r.waiting[1:]
	}
	return items, nil
}

func (r *rows) hold(kind work.Kind, id string) work.Item {
	r.epoch++
	fence := work.Fence{Key: work.Key{Kind: kind, ID: id}, Epoch: r.epoch}
	r.held[id] = fence
	return work.Item{Fence: fence, Attempt: 1}
}

func (r *rows) Renew(_ context.Context, _ time.Duration, fences []work.Fence) ([]work.Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.renewErr == nil {
		r.renewed = time.Now()
	}
	var lost []work.Key
	for _, f := range fences {
		if r.held[f.ID] != f {
			lost = append(lost, f.Key)
		}
	}
	return lost, r.renewErr
}

func (r *rows) Release(_ context.Context, fences []work.Fence) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range fences {
		if r.held[f.ID] == f {
			delete(r.held, f.ID)
			r.released = append(r.released, f.ID)
		}
	}
	return nil
}

func (r *rows) Ready() <-chan struct{} { return r.ready }

func (r *rows) add(id string) {
	r.mu.Lock()
	r.waiting = append(r.waiting, id)
	r.mu.Unlock()
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// start runs a claimer until the returned function is called, which returns
// what Run returned.
func start(c *work.Claimer) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-done
	}
}

func TestClaimsNoMoreThanItHasSlotsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		for i := range 10 {
			store.add(strconv.Itoa(i))
		}
		next := make(chan struct{})
		var mu sync.Mutex
		var running, most, done int
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 3, 8, func(ctx context.Context, item work.Item) bool {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			<-next
			mu.Lock()
			running--
			done++
			mu.Unlock()
			return true
		})
		stop := start(c)
		if running != 3 {
			t.Errorf("%d handlers run at once, want 3", running)
		}
		for range 10 {
			next <- struct{}{}
			synctest.Wait()
		}
		if err := stop(); err != nil || most != 3 || done != 10 {
			t.Errorf("Run() = %v, %d done, at most %d at once; want nil, 10, 3", err, done, most)
		}
	})
}

func TestAnnouncedWorkStartsAtOnceAndUnannouncedWithinAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		began := make(chan time.Time, 1)
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 1, 1, func(context.Context, work.Item) bool {
			began <- time.Now()
			return true
		})
		stop := start(c)
		defer stop()

		at := time.Now()
		store.add("announced")
		if got := (<-began).Sub(at); got != 0 {
			t.Errorf("announced work began after %v", got)
		}
		at = time.Now()
		store.mu.Lock()
		store.waiting = append(store.waiting, "left by a dead node")
		store.mu.Unlock()
		if got := (<-began).Sub(at); got > 5*time.Second {
			t.Errorf("unannounced work began after %v", got)
		}
	})
}

func TestAHandlerIsToldThatItsFenceIsVoid(t *testing.T) {
	for _, test := range []struct {
		name  string
		lose  func(*rows)
		after time.Duration // at most
	}{
		{"taken over", func(r *rows) { r.hold(kind, "a") }, 5 * time.Second},
		{"store down for a whole lease", func(r *rows) { r.renewErr = errors.New("down") }, 20 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newRows("a")
				ended := make(chan error, 1)
				c := work.NewClaimer(store, work.Config{})
				c.Handle(kind, 1, 1, func(ctx context.Context, _ work.Item) bool {
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return false
				})
				stop := start(c)
				store.mu.Lock()
				test.lose(store)
				store.mu.Unlock()
				began := time.Now()
				if cause := <-ended; !errors.Is(cause, work.ErrLost) {
					t.Errorf("cause = %v, want ErrLost", cause)
				}
				if took := time.Since(began); took > test.after {
					t.Errorf("told after %v, want at most %v", took, test.after)
				}
				stop()
				if len(store.released) > 0 {
					t.Errorf("released %v, which belongs to somebody else", store.released)
				}
			})
		})
	}
}

func TestAShortOutageOfTheStoreInterruptsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows("a")
		store.claimErr, store.renewErr = errors.New("down"), errors.New("down")
		finish := make(chan struct{})
		var cause error
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 1, 1, func(ctx context.Context, _ work.Item) bool {
			<-finish
			cause = context.Cause(ctx)
			return true
		})
		stop := start(c)
		set := func(err error) {
			store.mu.Lock()
			store.claimErr, store.renewErr = err, err
			store.mu.Unlock()
		}
		set(nil)
		<-time.After(6 * time.Second)
		synctest.Wait()
		set(errors.New("down"))
		<-time.After(8 * time.Second)
		set(nil)
		<-time.After(30 * time.Second)
		close(finish)
		stop()
		if cause != nil {
			t.Errorf("the handler was told %v", cause)
		}
	})
}

func TestStopping(t *testing.T) {
	for _, test := range []struct {
		name     string
		takes    time.Duration // of the handler, if it is left alone
		obeys    bool          // it returns when told to
		finished bool          // the handler got to its end
		released []string
		within   time.Duration
	}{
		{"short work finishes", 10 * time.Second, true, true, nil, 10 * time.Second},
		{"long work is told to stop and released", time.Hour, true, false, []string{"a"}, 30 * time.Second},
		{"a stubborn handler is left behind", time.Minute, false, false, []string{"a"}, 36 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newRows("a")
				var finished bool
				gone := make(chan struct{})
				c := work.NewClaimer(store, work.Config{})
				c.Handle(kind, 2, 2, func(ctx context.Context, _ work.Item) bool {
					defer close(gone)
					told := ctx.Done()
					if !test.obeys {
						told = nil
					}
					select {
					case <-time.After(test.takes):
						finished = ctx.Err() == nil
						return finished
					case <-told:
						return false
					}
				})
				stop := start(c)
				store.mu.Lock()
				store.waiting = append(store.waiting, "b")
				store.mu.Unlock()
				began := time.Now()
				if err := stop(); err != nil {
					t.Errorf("Run() = %v", err)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("stopping took %v, want at most %v", took, test.within)
				}
				if !slices.Equal(store.released, test.released) {
					t.Errorf("released %v, want %v", store.released, test.released)
				}
				if !c.Stopping() {
					t.Error("Stopping() = false after the stop")
				}
				if _, ok := c.Reserve(kind); ok {
					t.Error("a slot was given out after the stop")
				}
				if len(store.waiting) != 1 {
					t.Error("new work was claimed while stopping")
				}
				<-gone
				if finished != test.finished {
					t.Errorf("finished = %v, want %v", finished, test.finished)
				}
			})
		})
	}
}

// TestAPausedProcessKeepsItsWork is what happens when a machine sleeps: all
// leases run out, and the first thing done is to renew them.
func TestAPausedProcessKeepsItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows("a")
		finish := make(chan struct{})
		entered := 0
		c := work.NewClaimer(store, work.Config{Lease: 10 * time.Hour, Heartbeat: time.Hour, Poll: time.Second})
		c.Handle(kind, 2, 2, func(ctx context.Context, _ work.Item) bool {
			entered++
			<-finish
			if ctx.Err() != nil {
				t.Errorf("the handler was told %v", context.Cause(ctx))
			}
			return true
		})
		stop := start(c)
		set := func(err error) {
			store.mu.Lock()
			store.claimErr, store.renewErr = err, err
			store.expires, store.renewed = 3*time.Hour, time.Now()
			store.mu.Unlock()
		}
		set(errors.New("paused"))
		<-time.After(4*time.Hour + time.Minute)
		store.mu.Lock()
		store.claimErr, store.renewErr = nil, nil
		store.mu.Unlock()
		<-time.After(2 * time.Second)
		close(finish)
		stop()
		if entered != 1 {
			t.Errorf("the work was entered %d times, want once", entered)
		}
	})
}

// TestOneHandlerOfAKeyAtATime claims a key anew while its handler still works.
func TestOneHandlerOfAKeyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows("a")
		var mu sync.Mutex
		running, most, entered := 0, 0, 0
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 3, 3, func(ctx context.Context, _ work.Item) bool {
			mu.Lock()
			entered++
			running++
			most = max(most, running)
			mu.Unlock()
			<-ctx.Done()
			<-time.After(time.Second) // it takes its time
			mu.Lock()
			running--
			mu.Unlock()
			return true
		})
		stop := start(c)
		store.add("a") // its lease has run out, says the store
		<-time.After(5 * time.Second)
		c.Hurry()
		stop()
		if entered != 2 || most != 1 {
			t.Errorf("entered %d times, at most %d at once; want 2 and 1", entered, most)
		}
	})
}

func TestHurryEndsTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows("a")
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 1, 1, func(ctx context.Context, _ work.Item) bool {
			<-ctx.Done()
			return false
		})
		stop := start(c)
		if c.Busy() != 1 {
			t.Errorf("Busy() = %d, want 1", c.Busy())
		}
		began := time.Now()
		go func() {
			<-time.After(3 * time.Second)
			c.Hurry()
			c.Hurry()
		}()
		if err := stop(); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("Run() = %v after %v, want nil after 3 s", err, time.Since(began))
		}
		if !slices.Equal(store.released, []string{"a"}) || c.Busy() != 0 {
			t.Errorf("released %v, busy %d", store.released, c.Busy())
		}
	})
}

func TestASlotIsStartedOrFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows()
		entered := make(chan string, 2)
		hold := make(chan struct{})
		c := work.NewClaimer(store, work.Config{})
		c.Handle(kind, 1, 1, func(ctx context.Context, item work.Item) bool {
			entered <- item.ID
			select {
			case <-hold:
			case <-ctx.Done():
				entered <- context.Cause(ctx).Error()
			}
			return true
		})
		if _, ok := c.Reserve(kind); ok {
			t.Fatal("a slot was given out before Run")
		}
		stop := start(c)
		defer stop()
		if _, ok := c.Reserve("unknown"); ok {
			t.Error("a slot was given out for a kind nobody handles")
		}
		slot, ok := c.Reserve(kind)
		if _, second := c.Reserve(kind); !ok || second {
			t.Fatalf("Reserve() = %v, then %v; want true, then false", ok, second)
		}
		store.add("queued")
		synctest.Wait()
		slot.Free()
		if got := <-entered; got != "queued" {
			t.Errorf("entered %q after the slot was freed", got)
		}
		hold <- struct{}{}
		synctest.Wait()

		slot, _ = c.Reserve(kind)
		item := store.hold(kind, "direct")
		slot.Start(item)
		<-entered
		c.Interrupt(work.Key{Kind: kind, ID: "other"}, errors.New("not this one"))
		c.Interrupt(item.Key, errors.New("canceled"))
		if got := <-entered; got != "canceled" {
			t.Errorf("the handler was told %q", got)
		}
	})
}

func TestAPanicStaysInItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newRows("a", "b")
		var after []string
		var log bytes.Buffer
		c := work.NewClaimer(store, work.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		c.Handle(kind, 1, 1, func(_ context.Context, item work.Item) bool {
			after = append(after, item.ID)
			if item.ID == "a" {
				panic("what somebody wrote")
			}
			return true
		})
		stop := start(c)
		stop()
		if !slices.Equal(after, []string{"a", "b"}) {
			t.Errorf("handled %v, want a and then b", after)
		}
		if said := log.String(); !strings.Contains(said, "a handler panicked") || strings.Contains(said, "what somebody wrote") {
			t.Errorf("the log says %q, want the panic without its value", said)
		}
	})
}
