package task

import (
	"cmp"
	"context"
	"sync"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/work"
)

// accept stores a message with a claim if this node has room for its run, and
// starts the run as soon as the store has taken the message.
func (e *Engine) accept(ctx context.Context, owner Owner, message *a2a.Message, store func(Admission) (Accepted, error)) (Reply, error) {
	admission := Admission{Lease: e.claimer.Lease(), PerCaller: e.cfg.PerCaller, Queue: e.cfg.Queue}
	if e.cfg.CallerLimits != nil {
		runs, queued := e.cfg.CallerLimits(owner.Caller)
		admission.PerCaller, admission.Queue = cmp.Or(runs, admission.PerCaller), cmp.Or(queued, admission.Queue)
	}
	slot, room := e.claimer.Reserve(work.KindRun)
	if !room {
		accepted, err := store(admission)
		if err != nil {
			return Reply{}, err
		}
		return Reply{Task: &accepted.Record}, nil
	}
	l := &launch{engine: e, slot: slot, message: message, durable: make(chan struct{})}
	admission.Claim, admission.Early = true, l.early
	accepted, err := store(admission)
	l.settle(ctx, accepted, err)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Task: &accepted.Record}, nil
}

// launch starts the run of one message, once.
type launch struct {
	engine  *Engine
	slot    work.Slot
	message *a2a.Message
	durable chan struct{} // closed when the store has answered

	mu      sync.Mutex
	settled bool
	started work.Fence // zero until then
}

// early starts a run that is not durable yet. What the run puts out is durable
// no sooner than its task is. An agent that cannot be repeated is not entered
// before: a new task of it has its change to working to wait for; one that is
// continued works already, and so is started by settle.
func (l *launch) early(accepted Accepted) {
	if accepted.Record.State == a2a.TaskStateWorking && !l.engine.repeatable(accepted.Record) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.settled && l.started == (work.Fence{}) {
		l.start(accepted)
	}
}

// settle starts the run if that was not done early, and gives back what is not
// needed.
func (l *launch) settle(ctx context.Context, accepted Accepted, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = true
	defer close(l.durable)
	claimed := err == nil && accepted.Work != nil
	switch started := l.started != (work.Fence{}); {
	case claimed && !started:
		l.start(accepted)
	case claimed && accepted.Work.Fence != l.started:
		// The store took the message at the second try, under another fence.
		// The run that was started finds its own void, and this one is claimed
		// like any other.
		if err := l.engine.store.Release(ctx, []work.Fence{accepted.Work.Fence}); err != nil {
			l.engine.cfg.Logger.Warn("a run waits for its lease to end", "task", accepted.Record.ID, "error", err)
		}
	case !started:
		l.slot.Free()
	case err != nil:
		l.engine.mu.Lock()
		delete(l.engine.handed, l.started) // if its handler was not called
		l.engine.mu.Unlock()
	}
}

// start hands a claimed run to its handler. The lock is held.
func (l *launch) start(accepted Accepted) {
	said := *l.message // as it reads in the history
	said.TaskID, said.ContextID = accepted.Record.ID, accepted.Record.ContextID
	l.started = accepted.Work.Fence
	l.engine.mu.Lock()
	l.engine.handed[l.started] = handed{record: accepted.Record, message: &said, durable: l.durable}
	l.engine.mu.Unlock()
	l.slot.Start(*accepted.Work)
}

// repeatable reports whether a turn of a task may be entered more than once.
func (e *Engine) repeatable(rec Record) bool {
	answers, ok := e.agents.Agent(rec.Owner.Agent, rec.Skill)
	if !ok {
		return false
	}
	r, ok := answers.(agent.Repeatable)
	return ok && r.Repeatable()
}
