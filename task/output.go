package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
)

const (
	// linger is how long a first output waits for company before it is
	// committed: a short turn's output and outcome become one commit, and no
	// reader notices. While a commit is in flight the next group gathers.
	linger = 5 * time.Millisecond

	// pace is how many bytes a second one run may have rewritten: a commit
	// writes the whole task, so a large one is committed less often.
	pace = 16 << 20

	// What may wait for a commit before an agent is held up.
	maxPendingBytes  = 1 << 20
	maxPendingEvents = 1024
)

var (
	errOverflow = fmt.Errorf("%w: its output does not fit", ErrTooLarge)
	errClosed   = errors.New("the turn is over")
)

// output gathers what an agent puts out during one turn and commits it in
// groups. It implements agent.Output.
type output struct {
	ctx   context.Context // of the run: while it lasts, commits are tried again
	store Store
	fence work.Fence
	now   func() time.Time
	max   int    // bytes the task may be stored with
	lost  func() // called when the fence turns out to be void

	mu        sync.Mutex
	moved     *sync.Cond // a commit came back
	draft     *draft
	committed int64 // number of the newest committed event
	pending   []Event
	bytes     int       // of pending
	busy      bool      // a commit is in flight
	next      time.Time // when the pace allows the next commit
	timer     *time.Timer
	closed    bool
	overflow  bool
	err       error       // of a commit; nothing is committed after it
	settle    []quota.Use // with the end of the turn

	turn      int
	unnamed   a2a.ArtifactID // the artifact that nameless chunks belong to
	artifacts int            // nameless artifacts so far
}

func newOutput(ctx context.Context, store Store, fence work.Fence, d *draft, now func() time.Time, maxBytes int, lost func()) *output {
	o := &output{ctx: ctx, store: store, fence: fence, now: now, max: maxBytes, lost: lost,
		draft: d, committed: d.rec.Last, turn: d.rec.Turn.Number}
	o.moved = sync.NewCond(&o.mu)
	return o
}

// Status implements agent.Output.
func (o *output) Status(ctx context.Context, message *a2a.Message) error {
	if err := checkMessage(message); err != nil {
		return err
	}
	return o.put(ctx, func() (Event, error) {
		return o.draft.status(a2a.TaskStateWorking, message, o.now(), o.max)
	})
}

// Artifact implements agent.Output.
func (o *output) Artifact(ctx context.Context, artifact a2a.Artifact, chunk agent.Chunk) error {
	if err := checkArtifact(&artifact); err != nil {
		return err
	}
	return o.put(ctx, func() (Event, error) {
		if artifact.ArtifactID == "" {
			artifact.ArtifactID = o.name(chunk)
		}
		return o.draft.artifact(artifact, chunk, o.max)
	})
}

// name gives a nameless piece the id of the artifact it belongs to. The ids are
// the same when the turn is entered again.
func (o *output) name(chunk agent.Chunk) a2a.ArtifactID {
	if !chunk.Append || o.unnamed == "" {
		o.artifacts++
		o.unnamed = a2a.ArtifactID(fmt.Sprintf("result-%d-%d", o.turn, o.artifacts))
	}
	return o.unnamed
}

// Flush implements agent.Output.
func (o *output) Flush(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	want := o.draft.rec.Last
	o.commitSoon(0)
	return o.wait(ctx, func() bool { return o.committed >= want })
}

// put applies one change to the draft and leaves its event to be committed. It
// holds the agent up while too much is waiting.
func (o *output) put(ctx context.Context, change func() (Event, error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	full := func() bool { return o.bytes > maxPendingBytes || len(o.pending) >= maxPendingEvents }
	if full() {
		o.commitSoon(0)
		if err := o.wait(ctx, func() bool { return !full() }); err != nil {
			return err
		}
	}
	switch {
	case o.err != nil:
		return o.err
	case o.closed:
		return errClosed
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case o.overflow:
		return errOverflow
	}
	event, err := change()
	if err != nil {
		o.overflow = errors.Is(err, errOverflow)
		return err
	}
	o.pending = append(o.pending, event)
	o.bytes += len(event.Body)
	o.commitSoon(linger)
	return nil
}

// wait returns once ready holds. The lock is held on entry and return.
func (o *output) wait(ctx context.Context, ready func() bool) error {
	defer context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.moved.Broadcast()
	})()
	for {
		switch {
		case o.err != nil:
			return o.err
		case ready():
			return nil
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		}
		o.moved.Wait()
	}
}

// commitSoon sees to it that what is pending is committed after a delay at the
// latest. The lock is held.
func (o *output) commitSoon(delay time.Duration) {
	if o.busy || o.closed || len(o.pending) == 0 {
		return // a commit that comes back looks for more
	}
	paced := max(delay, time.Until(o.next))
	if o.timer == nil {
		o.timer = time.AfterFunc(paced, o.commitPending)
	} else if delay == 0 && o.timer.Stop() {
		o.timer.Reset(paced)
	}
}

// commitPending commits groups until nothing is pending. It runs on the timer's
// goroutine, at most one at a time.
func (o *output) commitPending() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	if !o.closed && !o.busy && o.err == nil && len(o.pending) > 0 {
		o.commit(Hold, time.Time{})
		o.commitSoon(0) // what gathered meanwhile
	}
}

// commit commits what is pending. The lock is held on entry and return, but not
// during the store's work.
func (o *output) commit(then Then, until time.Time) {
	batch := Batch{Record: o.draft.record(), Events: o.pending, Then: then, Until: until}
	o.next = time.Now().Add(time.Duration(batch.Record.Size()) * time.Second / pace)
	o.pending, o.bytes, o.busy = nil, 0, true
	o.mu.Unlock()
	err := o.append(batch)
	o.mu.Lock()
	o.busy = false
	if err != nil {
		o.err = err
		o.lost()
	} else {
		o.committed = batch.Record.Last
	}
	o.moved.Broadcast()
}

// close ends the output: whatever the agent still puts out is refused. It
// returns once no commit is in flight.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
	for o.busy {
		o.moved.Wait()
	}
}

// overflowed reports whether the agent put out more than may be stored.
func (o *output) overflowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.overflow
}

// last is what a turn ends with.
type last struct {
	events []Event
	until  time.Time   // see Batch.Until
	settle []quota.Use // of the caller's quota
}

// finish commits what is pending together with the end of the turn. The output
// must be closed.
func (o *output) finish(then Then, end func(*draft) (last, error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	last, err := end(o.draft)
	if err != nil {
		return err
	}
	o.pending = append(o.pending, last.events...)
	if then == Hold && len(o.pending) == 0 {
		return nil
	}
	o.settle = last.settle
	o.commit(then, last.until)
	return o.err
}

// append stores a batch. A store that fails, on a full disk for one, is tried
// again for as long as the run lasts: what an agent did is worth the wait, and
// the agent is held up meanwhile.
func (o *output) append(batch Batch) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), storeTimeout)
		err := o.store.Append(ctx, o.fence, batch, work.Effects{Settle: o.settle})
		cancel()
		if err == nil || errors.Is(err, ErrFenced) || errors.Is(err, ErrEnded) {
			return err
		}
		select {
		case <-o.ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
