package work

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// ErrStopping is the cause of a handler's ended context when the process stops
// and the time to finish is used up. What was held is then released.
var ErrStopping = errors.New("the process is stopping")

// ErrLost is the cause of a handler's ended context when its fence is void or
// could not be renewed in time.
var ErrLost = errors.New("the right to the work was lost")

// Handler does claimed work. It is told by its context when to stop, and why.
// It reports whether it ended or suspended the work in the store. Work that it
// leaves unfinished is claimable again once its lease has run out, or at once
// when the process stops.
type Handler func(ctx context.Context, item Item) (finished bool)

// Config tunes a [Claimer]. The zero value is ready to use.
type Config struct {
	// Lease is how long a claim holds without renewal. Zero means 15 s.
	Lease time.Duration

	// Heartbeat is the pause between renewals. Zero means a third of Lease.
	Heartbeat time.Duration

	// Poll is the pause between looks for work that was not announced: of a
	// dead node, for one. Zero means Heartbeat.
	Poll time.Duration

	// Drain is how long work under way may go on when the claimer stops.
	// Zero means 30 s, a negative value means not at all.
	Drain time.Duration

	// Grace is how long handlers may take to return once told to. Zero means
	// 5 s. One that takes longer is left behind, its item released.
	Grace time.Duration

	// Logger receives diagnostics. Nil discards them.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, c.Lease/3)
	c.Poll = cmp.Or(c.Poll, c.Heartbeat)
	c.Drain = max(cmp.Or(c.Drain, 30*time.Second), 0)
	c.Grace = cmp.Or(c.Grace, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Claimer takes work for one node, keeps its leases, and hands it to handlers.
// One claimer serves every kind. Its methods are safe for concurrent use.
type Claimer struct {
	store Store
	cfg   Config
	kinds map[Kind]*lane

	freed chan struct{} // signaled when a slot was given back

	mu       sync.Mutex
	hurry    chan struct{}   // closed when nothing may finish any more
	running  bool            // work may be started
	stopping bool            // nothing new is claimed
	base     context.Context // of handlers
	held     map[Key]*held
	left     []Fence   // of work that handlers left when the process stopped
	renewed  time.Time // when leases were last known to be good
}

// lane is one kind's handler and its free slots.
type lane struct {
	handler  Handler
	slots    int
	free     int
	perGroup int
	limitOf  func(group string) int
	more     bool // the store may have more than was taken; the claim loop's own
}

type held struct {
	fence    Fence
	cancel   context.CancelCauseFunc
	returned chan struct{} // closed when the handler has returned
}

// NewClaimer returns a claimer for the work kept in store.
func NewClaimer(store Store, cfg Config) *Claimer {
	return &Claimer{
		store: store,
		cfg:   cfg.withDefaults(),
		kinds: make(map[Kind]*lane),
		held:  make(map[Key]*held),
		freed: make(chan struct{}, 1),
		hurry: make(chan struct{}),
	}
}

// Lease is the lease that claims are made with.
func (c *Claimer) Lease() time.Duration { return c.cfg.Lease }

// Stopping reports whether Run has begun to stop: nothing new is taken.
func (c *Claimer) Stopping() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopping
}

// Hurry ends the drain: handlers are told to stop as soon as Run stops, or at
// once if it is stopping. It may be called again.
func (c *Claimer) Hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.hurry:
	default:
		close(c.hurry)
	}
}

// Busy returns how many handlers are at work.
func (c *Claimer) Busy() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}

// Handle says who does work of a kind: at most slots items at once on this
// node, and at most perGroup of one group on all nodes. It must be called
// before Run.
func (c *Claimer) Handle(kind Kind, slots, perGroup int, handler Handler) {
	c.kinds[kind] = &lane{handler: handler, slots: slots, free: slots, perGroup: perGroup}
}

// LimitGroups gives groups limits of their own for a kind that is handled: see
// [Query.GroupLimit]. It must be called before Run.
func (c *Claimer) LimitGroups(kind Kind, limit func(group string) int) {
	c.kinds[kind].limitOf = limit
}

// Run claims and hands out work until ctx ends. Then it takes nothing new,
// lets handlers finish within Config.Drain, ends their contexts with
// [ErrStopping], and releases what is left. Handlers have returned when Run
// returns, except one that overstays Config.Grace.
func (c *Claimer) Run(ctx context.Context) error {
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	c.mu.Lock()
	c.running, c.base, c.renewed = true, base, time.Now()
	c.mu.Unlock()

	var heartbeat sync.WaitGroup
	heartbeat.Go(func() { c.keepLeases(base) })

	c.claimUntil(ctx)
	c.mu.Lock()
	c.stopping = true
	c.mu.Unlock()
	if !c.idle(c.cfg.Drain, c.hurry) {
		stop(ErrStopping)
		if !c.idle(c.cfg.Grace, nil) {
			c.cfg.Logger.Error("a handler does not return; leaving it behind")
		}
	}
	c.mu.Lock()
	c.running = false
	c.mu.Unlock()
	stop(ErrStopping)
	heartbeat.Wait()
	return c.releaseAll()
}

// claimUntil takes work until ctx ends.
func (c *Claimer) claimUntil(ctx context.Context) {
	poll := time.NewTicker(c.cfg.Poll)
	defer poll.Stop()
	for look := true; ; {
		for kind, lane := range c.kinds {
			if look || lane.more {
				c.claim(ctx, kind, lane)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.store.Ready():
			look = true
		case <-poll.C:
			look = true
		case <-c.freed: // worth a look only if something was left behind
			look = false
		}
	}
}

// claim fills the free slots of a kind with what the store has.
func (c *Claimer) claim(ctx context.Context, kind Kind, lane *lane) {
	// After a pause of the whole process our own leases may have run out: they
	// are renewed before anything is looked at that may be claimed.
	if !c.renewedInTime(ctx) {
		return
	}
	slots := c.reserve(lane, lane.slots)
	lane.more = true
	if slots == 0 || ctx.Err() != nil {
		c.giveBack(lane, slots)
		return
	}
	items, err := c.store.Claim(ctx, Query{
		Kind: kind, Limit: slots, PerGroup: lane.perGroup, GroupLimit: lane.limitOf, Lease: c.cfg.Lease,
	})
	if err != nil && ctx.Err() == nil {
		c.cfg.Logger.Error("claiming work failed; trying again later", "kind", kind, "error", err)
	}
	lane.more = err != nil || len(items) == slots
	for _, item := range items {
		slots--
		c.start(lane, item)
	}
	c.giveBack(lane, slots)
}

// reserve takes up to n free slots and returns how many it got.
func (c *Claimer) reserve(lane *lane, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running || c.stopping {
		return 0
	}
	n = min(n, lane.free)
	lane.free -= n
	return n
}

func (c *Claimer) giveBack(lane *lane, n int) {
	c.mu.Lock()
	lane.free += n
	c.mu.Unlock()
}

// Slot is room on this node for one item that is claimed elsewhere, in the
// change that creates it. Exactly one of Start and Free must be called.
type Slot struct {
	claimer *Claimer
	lane    *lane
}

// Reserve takes a slot for work of a kind. It reports false when none is free
// or the claimer is not running.
func (c *Claimer) Reserve(kind Kind) (Slot, bool) {
	lane := c.kinds[kind]
	if lane == nil || c.reserve(lane, 1) == 0 {
		return Slot{}, false
	}
	return Slot{claimer: c, lane: lane}, true
}

// Free gives the slot back.
func (s Slot) Free() {
	s.claimer.giveBack(s.lane, 1)
	s.claimer.signalFreed()
}

// Start hands the claimed item to its handler, on a goroutine of the claimer's.
func (s Slot) Start(item Item) { s.claimer.start(s.lane, item) }

func (c *Claimer) start(lane *lane, item Item) {
	c.mu.Lock()
	ctx, cancel := context.WithCancelCause(c.base)
	h := &held{fence: item.Fence, cancel: cancel, returned: make(chan struct{})}
	before := c.held[item.Key]
	c.held[item.Key] = h
	c.mu.Unlock()
	go func() {
		finished := false
		defer func() {
			if p := recover(); p != nil {
				// The value may quote what was being worked on; the stack does not.
				c.cfg.Logger.Error("a handler panicked", "key", item.Key, "stack", string(debug.Stack()))
			}
			c.done(lane, h, finished || !errors.Is(context.Cause(ctx), ErrStopping))
			cancel(nil)
			close(h.returned)
		}()
		if before != nil { // an older claim of ours: one handler at a time
			before.cancel(ErrLost)
			select {
			case <-before.returned:
			case <-ctx.Done():
				return
			}
		}
		finished = lane.handler(ctx, item)
	}()
}

// done forgets a handled item and makes its slot free.
func (c *Claimer) done(lane *lane, h *held, forget bool) {
	c.mu.Lock()
	if c.held[h.fence.Key] == h {
		delete(c.held, h.fence.Key)
	}
	if !forget {
		c.left = append(c.left, h.fence)
	}
	lane.free++
	c.mu.Unlock()
	c.signalFreed()
}

func (c *Claimer) signalFreed() {
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// Interrupt ends the context of the handler that holds key on this node, if
// there is one, with cause.
func (c *Claimer) Interrupt(key Key, cause error) {
	c.mu.Lock()
	h := c.held[key]
	c.mu.Unlock()
	if h != nil {
		h.cancel(cause)
	}
}

// keepLeases renews what is held until base ends.
func (c *Claimer) keepLeases(base context.Context) {
	beat := time.NewTicker(c.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-base.Done():
			return
		case <-beat.C:
			c.renew(base)
		}
	}
}

// renewedInTime renews if the last renewal is longer ago than it should be, and
// reports whether leases are good.
func (c *Claimer) renewedInTime(ctx context.Context) bool {
	late := func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.held) > 0 && time.Since(c.renewed) > 2*c.cfg.Heartbeat
	}
	if late() {
		c.renew(ctx)
	}
	return !late()
}

func (c *Claimer) renew(ctx context.Context) {
	began := time.Now()
	fences := c.fences()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Lease)
	defer cancel()
	lost, err := c.store.Renew(ctx, c.cfg.Lease, fences)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.cfg.Logger.Error("renewing leases failed", "held", len(fences), "error", err)
		if time.Since(c.renewed) < c.cfg.Lease {
			return
		}
		for _, h := range c.held { // they may belong to another node by now
			h.cancel(ErrLost)
		}
		return
	}
	c.renewed = began
	for _, key := range lost {
		if h := c.held[key]; h != nil && slices.Contains(fences, h.fence) {
			h.cancel(ErrLost)
		}
	}
}

func (c *Claimer) fences() []Fence {
	c.mu.Lock()
	defer c.mu.Unlock()
	fences := make([]Fence, 0, len(c.held))
	for _, h := range c.held {
		fences = append(fences, h.fence)
	}
	return fences
}

// idle waits until every slot is free, at most for limit or until hurry.
func (c *Claimer) idle(limit time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		if c.allFree() {
			return true
		}
		select {
		case <-c.freed:
		case <-timer.C:
			return c.allFree()
		case <-hurry:
			return c.allFree()
		}
	}
}

func (c *Claimer) allFree() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, lane := range c.kinds {
		if lane.free < lane.slots {
			return false
		}
	}
	return true
}

// releaseAll gives up what handlers left.
func (c *Claimer) releaseAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Grace)
	defer cancel()
	fences := c.fences()
	c.mu.Lock()
	fences = append(fences, c.left...)
	c.left = nil
	c.mu.Unlock()
	if len(fences) == 0 {
		return nil
	}
	return c.store.Release(ctx, fences)
}
