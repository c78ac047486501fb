package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
)

// errDeadline is the cause of the context of a turn that took too long.
var errDeadline = errors.New("the run took too long")

// ending is how a turn ends: the state and message to write, and what becomes
// of the work.
type ending struct {
	outcome agent.Outcome
	then    Then
}

// settled is what the end of a turn settles of its caller's quota. What failed or
// was refused uses up what was measured of it and no more; else what was not
// measured counts as it was held. A turn that is suspended goes on.
func settled(id a2a.TaskID, outcome agent.Outcome) []quota.Use {
	use := quota.Use{ID: string(id), Amount: quota.Amount{Tokens: outcome.Tokens, Cost: outcome.Cost}}
	switch outcome.State {
	case a2a.TaskStateWorking:
		return nil
	case a2a.TaskStateFailed, a2a.TaskStateRejected:
	default:
		use.AsHeld = true
	}
	return []quota.Use{use}
}

// handle does the work of a claimed run: one turn of one task. It is the
// claimer's handler.
func (e *Engine) handle(ctx context.Context, item work.Item) (finished bool) {
	log := e.cfg.Logger.With("task", item.ID, "attempt", item.Attempt)
	taken, err := e.claimed(ctx, item)
	if err != nil {
		if !errors.Is(err, ErrFenced) && ctx.Err() == nil {
			log.Error("reading a claimed run failed", "error", err)
		}
		return errors.Is(err, ErrFenced)
	}
	rec := taken.record
	d, err := newDraft(rec)
	if err != nil {
		log.Error("a stored task is unreadable", "error", err)
		return false
	}
	log = log.With("agent", rec.Owner.Agent, "skill", rec.Skill)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lost := func() { cancel(work.ErrLost) }
	out := newOutput(ctx, e.store, item.Fence, d, e.cfg.Now, e.limit, lost)

	end, ended := e.refuseEntry(rec, item)
	if !ended {
		end, ended = e.enter(ctx, log, taken, item, out)
	}
	out.close()
	if !ended {
		return !errors.Is(context.Cause(ctx), work.ErrStopping)
	}
	return e.finish(log, out, end)
}

// claimed reads what is to be run: the task, and the message that makes the turn.
func (e *Engine) claimed(ctx context.Context, item work.Item) (handed, error) {
	e.mu.Lock()
	known, ok := e.handed[item.Fence]
	delete(e.handed, item.Fence)
	e.mu.Unlock()
	if ok {
		return known, nil
	}
	rec, err := e.store.Held(ctx, item.Fence)
	if err != nil {
		return handed{}, err
	}
	task, err := decoded(rec)
	if err != nil {
		return handed{}, err
	}
	for i := len(task.History) - 1; i >= 0; i-- {
		if task.History[i].Role == a2a.RoleUser {
			return handed{record: rec, message: &task.History[i]}, nil
		}
	}
	return handed{}, fmt.Errorf("task %s has no message of its caller", rec.ID)
}

// refuseEntry ends a turn that must not be entered, or not again.
func (e *Engine) refuseEntry(rec Record, item work.Item) (ending, bool) {
	if _, ok := e.agents.Agent(rec.Owner.Agent, rec.Skill); !ok {
		return ending{outcome: agent.Failed("The skill of this task is no longer served here."), then: End}, true
	}
	// A turn that was never entered can be entered as if for the first time.
	entered := item.Attempt > 1 && rec.State != a2a.TaskStateSubmitted
	switch {
	case e.unanswered(rec):
		waited := e.cfg.Now().Sub(rec.StatusAt).Round(time.Second)
		return ending{outcome: agent.Failed(fmt.Sprintf("No answer came within %v.", waited)), then: End}, true
	case entered && !e.repeatable(rec):
		return ending{outcome: agent.Failed("The run was interrupted, probably by a restart, and cannot be repeated safely. Send the message again as a new task if it should be done again."), then: End}, true
	case item.Attempt > e.cfg.Attempts:
		return ending{outcome: agent.Failed(fmt.Sprintf("The run was interrupted %d times and was given up.", item.Attempt-1)), then: End}, true
	}
	return ending{}, false
}

// unanswered reports whether a task that waits for its caller has waited for
// too long. A task that asked for input is claimed for no other reason; one that
// asked for an authorization may have got it.
func (e *Engine) unanswered(rec Record) bool {
	switch rec.State {
	case a2a.TaskStateInputRequired:
		return true
	case a2a.TaskStateAuthRequired:
		return e.cfg.InputWait > 0 && !e.cfg.Now().Before(rec.StatusAt.Add(e.cfg.InputWait))
	}
	return false
}

// enter runs an agent for one turn. It reports false when there is nothing to
// write about its end: the task was canceled or taken over, or the process stops.
func (e *Engine) enter(ctx context.Context, log *slog.Logger, taken handed, item work.Item, out *output) (ending, bool) {
	rec, message := taken.record, taken.message
	if e.cfg.RunTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.cfg.RunTimeout, errDeadline)
		defer cancel()
	}
	answers, _ := e.agents.Agent(rec.Owner.Agent, rec.Skill)
	if rec.State != a2a.TaskStateWorking { // a message that continues a task has said so already
		if err := out.Status(ctx, nil); err != nil {
			return ending{}, false
		}
	}
	if !e.repeatable(rec) {
		// Written down before it is begun: after a crash it is certain whether
		// the agent had been entered.
		if err := out.Flush(ctx); err != nil {
			return ending{}, false
		}
	}
	turn := agent.Turn{
		TaskID: rec.ID, ContextID: rec.ContextID, Skill: rec.Skill,
		Number: rec.Turn.Number, Attempt: item.Attempt,
		Message: message, Metadata: rec.Turn.Metadata, AcceptedOutputModes: rec.Turn.AcceptedOutputModes,
		MaxTokens: maxTokens(message),
		Memory:    &memory{engine: e, owner: rec.Owner, taskID: rec.ID, contextID: rec.ContextID, message: message, durable: taken.durable},
	}
	type result struct {
		outcome agent.Outcome
		err     error
	}
	returned := make(chan result, 1)
	go func() {
		outcome, err := protected(ctx, log, answers, turn, out)
		returned <- result{outcome, err}
	}()

	select {
	case r := <-returned:
		if ctx.Err() == nil {
			return e.judge(log, out, r.outcome, r.err), true
		}
		returned <- r
	case <-ctx.Done():
	}
	// From here on the agent is not believed any more, but its slot is not
	// given away before it has returned.
	cause := context.Cause(ctx)
	if errors.Is(cause, errDeadline) {
		out.close()
		e.finish(log, out, ending{outcome: agent.Failed(fmt.Sprintf("The run took longer than %v and was ended.", e.cfg.RunTimeout)), then: End})
	}
	<-returned
	if errors.Is(cause, work.ErrStopping) {
		out.close()
		e.finish(log, out, ending{then: Hold}) // keep what it put out so far
	}
	log.Info("run ended early", "cause", cause)
	return ending{}, false
}

// protected enters an agent and turns a panic into an error.
func protected(ctx context.Context, log *slog.Logger, answers agent.Agent, turn agent.Turn, out agent.Output) (outcome agent.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("an agent panicked", "stack", string(debug.Stack()))
			err = errors.New("the agent panicked")
		}
	}()
	return answers.Run(ctx, turn, out)
}

// judge turns what an agent returned into the end of its turn.
func (e *Engine) judge(log *slog.Logger, out *output, outcome agent.Outcome, err error) ending {
	if out.overflowed() {
		return ending{outcome: e.tooLarge(), then: End}
	}
	if err == nil {
		err = checkOutcome(&outcome)
	}
	if err != nil {
		reference := a2a.NewID()
		log.Error("run failed", "reference", reference, "error", err)
		return ending{outcome: agent.Failed("The agent failed. Reference for its operator: " + reference), then: End}
	}
	if outcome.State.Terminal() {
		return ending{outcome: outcome, then: End}
	}
	return ending{outcome: outcome, then: Suspend}
}

// checkOutcome fills in the default state and refuses what no turn ends with.
func checkOutcome(outcome *agent.Outcome) error {
	if outcome.State == "" {
		outcome.State = a2a.TaskStateCompleted
	}
	if err := errors.Join(checkMessage(outcome.Message), checkStruct("the outcome's metadata", outcome.Metadata)); err != nil {
		return err
	}
	switch {
	case outcome.State.Terminal(), outcome.State.Interrupted():
		return nil
	case outcome.State == a2a.TaskStateWorking && len(outcome.Wait) > 0:
		return nil
	}
	return fmt.Errorf("a turn cannot end in state %s", outcome.State)
}

// end applies an outcome to the task. One that does not fit fails the task.
func (e *Engine) end(d *draft, outcome *agent.Outcome) (Event, error) {
	err := d.metadata(outcome.Metadata, e.limit)
	if err == nil {
		var event Event
		if event, err = d.status(outcome.State, outcome.Message, e.cfg.Now(), e.limit); err == nil {
			return event, nil
		}
	}
	if !errors.Is(err, errOverflow) {
		return Event{}, err
	}
	*outcome = e.tooLarge()
	return d.status(outcome.State, outcome.Message, e.cfg.Now(), 0)
}

// tooLarge is the end of a task that holds as much as it may.
func (e *Engine) tooLarge() agent.Outcome {
	return agent.Failed(fmt.Sprintf("The output is larger than the %d bytes a task may be stored with.", e.cfg.MaxBytes))
}

// finish writes the end of a turn. The output must be closed.
func (e *Engine) finish(log *slog.Logger, out *output, end ending) (finished bool) {
	err := out.finish(end.then, func(d *draft) (l last, err error) {
		unchanged := end.outcome.State == a2a.TaskStateWorking && end.outcome.Message == nil
		if end.then == Hold || end.then == Suspend && unchanged {
			return last{}, nil
		}
		event, err := e.end(d, &end.outcome)
		if d.rec.State.Interrupted() && e.cfg.InputWait > 0 {
			l.until = d.rec.StatusAt.Add(e.cfg.InputWait)
		}
		l.events, l.settle = []Event{event}, settled(d.rec.ID, end.outcome)
		return l, err
	})
	switch {
	case err == nil:
		log.Info("turn ended", "state", end.outcome.State)
		return true
	case errors.Is(err, ErrFenced), errors.Is(err, ErrEnded):
		return true
	default:
		log.Error("the end of a turn could not be written; it will be tried again after its lease", "error", err)
		return false
	}
}
