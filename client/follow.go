package client

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/legation/legation/a2a"
)

// FollowOptions tune [Client.Follow]. The zero value is ready to use.
type FollowOptions struct {
	// Known is the task as it was last seen. One that has ended is returned at
	// once; otherwise it only tells what a change is. Nil means not at all.
	Known *a2a.Task

	// AtOnce asks for the task before the first pause.
	AtOnce bool

	// UntilTerminal goes on while the task waits for input or authorization.
	UntilTerminal bool

	// HistoryLength bounds the history of the task. Nil means the peer's
	// default, zero none.
	HistoryLength *int32

	// Pauses are the waits between questions; the last one repeats. Nil means
	// 2, 4, 8 and 15 seconds.
	Pauses []time.Duration

	// Limit ends the following of a task that does not end. Zero means one
	// hour. A deadline of the context may come first.
	Limit time.Duration

	// OnChange is told the task whenever it is not what it was. Nil means
	// nobody is.
	OnChange func(*a2a.Task)
}

// ErrStillRunning says that a task was followed for as long as was allowed and
// has not ended. It goes on.
var ErrStillRunning = errors.New("client: the task has not ended within the time it was followed")

// Follow asks for a task again and again until it has ended, or waits for its
// caller, and returns it as it is then. The first terminal state is the one
// returned. A state of a later version keeps the polling going.
//
// A failure that may pass is passed over, up to the fifth in a row; of answers
// that break the protocol, another task's for example, up to the third. A peer
// that no longer knows the task gives a *[LostTaskError].
func (c *Client) Follow(ctx context.Context, id a2a.TaskID, opts FollowOptions) (*a2a.Task, error) {
	if opts.Known != nil && opts.settled(opts.Known.Status.State) {
		return opts.Known, nil
	}
	p := c.newPoller(id, opts)
	for {
		task, err := p.next(ctx)
		if err != nil {
			return nil, err
		}
		if opts.OnChange != nil {
			opts.OnChange(task)
		}
		if opts.settled(task.Status.State) {
			return task, nil
		}
	}
}

func (o FollowOptions) settled(state a2a.TaskState) bool {
	return state.Terminal() || state.Interrupted() && !o.UntilTerminal
}

// poller asks for a task until it changes.
type poller struct {
	client   *Client
	id       a2a.TaskID
	opts     FollowOptions
	deadline time.Time
	asked    int
	failures int // in a row
	invalid  int // answers that broke the protocol, in a row
	outage   *outage
	seen     [sha256.Size]byte
}

const (
	maxPollFailures = 5
	maxPollInvalid  = 3
	maxPollWait     = 5 * time.Minute // for what a peer asks for in Retry-After
)

var pollPauses = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second}

func (c *Client) newPoller(id a2a.TaskID, opts FollowOptions) *poller {
	if len(opts.Pauses) == 0 {
		opts.Pauses = pollPauses
	}
	limit := opts.Limit
	if limit <= 0 {
		limit = time.Hour
	}
	p := &poller{client: c, id: id, opts: opts, deadline: time.Now().Add(limit), outage: &outage{client: c}}
	if opts.Known != nil {
		p.changed(opts.Known)
	}
	return p
}

// next returns the task once it is not what it was.
func (p *poller) next(ctx context.Context) (*a2a.Task, error) {
	var wanted time.Duration
	for {
		if err := p.wait(ctx, wanted); err != nil {
			return nil, err
		}
		task, err := p.client.GetTask(ctx, &a2a.GetTaskRequest{ID: p.id, HistoryLength: p.opts.HistoryLength})
		switch {
		case err == nil:
			p.failures, p.invalid, wanted = 0, 0, 0
			p.outage.end()
			if p.changed(task) {
				return task, nil
			}
			continue
		case errors.Is(err, a2a.ErrTaskNotFound):
			return nil, &LostTaskError{TaskID: p.id, Err: err}
		case ctx.Err() != nil || !transient(err) || tooLarge(err):
			return nil, err
		}
		p.failures++
		if p.invalid++; !isType[*InvalidResponseError](err) {
			p.invalid = 0
		}
		if p.failures >= maxPollFailures || p.invalid >= maxPollInvalid {
			return nil, err
		}
		p.outage.begin(p.id, err)
		wanted = min(RetryAfter(err), maxPollWait)
	}
}

// wait spends the pause before the next question, and no more than is left.
func (p *poller) wait(ctx context.Context, wanted time.Duration) error {
	at := p.asked
	if p.opts.AtOnce {
		at--
	}
	p.asked++
	if at < 0 {
		return nil
	}
	d := max(p.opts.Pauses[min(at, len(p.opts.Pauses)-1)], wanted)
	left := time.Until(p.deadline)
	if err := pause(ctx, min(d, left)); err != nil {
		return err
	}
	if d >= left {
		return ErrStillRunning
	}
	return nil
}

// changed reports whether a task differs from the last one, and remembers it.
func (p *poller) changed(task *a2a.Task) bool {
	sum := sha256.Sum256(task.AppendJSON(nil))
	if sum == p.seen {
		return false
	}
	p.seen = sum
	return true
}
