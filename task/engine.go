package task

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/work"
)

// Agents finds who answers. It must be safe for concurrent use.
type Agents interface {
	// Agent returns what is published as a skill of an agent, or false.
	Agent(name, skill string) (agent.Agent, bool)
}

// Config tunes an [Engine]. The zero value is ready to use.
type Config struct {
	// Workers is how many runs may execute at once on this node. Zero means 32.
	Workers int

	// PerCaller is how many runs of one caller may execute at once. Zero
	// means 8.
	PerCaller int

	// Queue is how many runs of one caller may wait. Zero means 64.
	Queue int

	// CallerLimits returns how many runs of a caller may execute at once, and
	// how many may wait, in place of PerCaller and Queue; zero stands for
	// those. It must be quick. Nil means that all callers are alike.
	CallerLimits func(caller string) (runs, queued int)

	// RunTimeout ends a turn that is still working. Zero means one hour, a
	// negative value means never.
	RunTimeout time.Duration

	// InputWait ends a task that has waited this long for its caller's answer.
	// Zero means 24 hours, a negative value means never.
	InputWait time.Duration

	// MaxBytes is how large a task may be stored, with 16 KiB for what an
	// answer puts around it. Zero means 8 MiB.
	MaxBytes int

	// Attempts is how often a turn is entered before it is given up, counting
	// entries cut short by a crash. Zero means 3.
	Attempts int

	// EarlierTasks and EarlierBytes bound what a turn sees of its context.
	// Zero means 20 tasks and 1 MiB.
	EarlierTasks, EarlierBytes int

	// Claimer is what runs are claimed with, where it serves other work too;
	// whoever made it runs it. Nil means the engine makes its own, which
	// [Engine.Run] runs.
	Claimer *work.Claimer

	// Drain is how long runs may go on when Run stops; it counts only without
	// Claimer. Zero means 30 s, a negative value means not at all.
	Drain time.Duration

	// Repeats lets a message id be used more than once: every message makes a
	// task of its own. It is for test agents; products leave it off.
	Repeats bool

	// Now supplies the times written into records. Nil means time.Now.
	Now func() time.Time

	// Logger receives diagnostics. Nil discards them.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Workers = cmp.Or(c.Workers, 32)
	c.PerCaller = cmp.Or(c.PerCaller, 8)
	c.Queue = cmp.Or(c.Queue, 64)
	c.RunTimeout = cmp.Or(c.RunTimeout, time.Hour)
	c.InputWait = cmp.Or(c.InputWait, 24*time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, 8<<20)
	c.Attempts = cmp.Or(c.Attempts, 3)
	c.EarlierTasks = cmp.Or(c.EarlierTasks, 20)
	c.EarlierBytes = cmp.Or(c.EarlierBytes, 1<<20)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Engine is the task engine of one node. Its methods are safe for concurrent
// use.
type Engine struct {
	store   Store
	claimer *work.Claimer
	agents  Agents
	cfg     Config

	limit    int // bytes a task may be stored with
	tokenKey []byte
	asking   chan struct{} // responders at work

	mu     sync.Mutex
	handed map[work.Fence]handed // claimed in the change that made them
}

// handed is what is known of a run when it is claimed where its message came in.
type handed struct {
	record  Record
	message *a2a.Message
	durable <-chan struct{} // closed when the store has answered
}

// NewEngine returns an engine on store. Messages are taken and runs execute
// while [Engine.Run] does, or Config.Claimer.
func NewEngine(ctx context.Context, store Store, agents Agents, cfg Config) (*Engine, error) {
	key, err := store.TokenKey(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		store: store, claimer: cfg.Claimer, agents: agents,
		cfg:      cfg.withDefaults(),
		tokenKey: key,
		handed:   make(map[work.Fence]handed),
	}
	e.limit = max(e.cfg.MaxBytes-envelope, 1)
	e.asking = make(chan struct{}, e.cfg.Workers)
	if e.claimer == nil {
		e.claimer = work.NewClaimer(store, work.Config{Drain: cfg.Drain, Logger: cfg.Logger})
	}
	e.claimer.Handle(work.KindRun, e.cfg.Workers, e.cfg.PerCaller, e.handle)
	if limits := e.cfg.CallerLimits; limits != nil {
		e.claimer.LimitGroups(work.KindRun, func(caller string) int {
			runs, _ := limits(caller)
			return runs
		})
	}
	return e, nil
}

// Run executes runs until ctx ends, lets those under way finish within
// Config.Drain, and leaves the rest to the next start. It is not called where
// Config.Claimer is set.
func (e *Engine) Run(ctx context.Context) error { return e.claimer.Run(ctx) }

// envelope is what an answer puts around a stored task, at most: ids, member
// names, and a JSON-RPC id of 1 KiB.
const envelope = 16 << 10

// Task reads a task. The error is [ErrNotFound] if the owner has no such task.
func (e *Engine) Task(ctx context.Context, owner Owner, id a2a.TaskID) (Record, error) {
	return e.store.Task(ctx, owner, id)
}

// Cancel ends a task at once: what its run still puts out changes nothing. The
// errors are [ErrNotFound] and [ErrEnded]. The entries are stored with the
// change; the id of the task is filled in.
func (e *Engine) Cancel(ctx context.Context, owner Owner, id a2a.TaskID, entries ...audit.Entry) (Record, error) {
	for i := range entries {
		entries[i].TaskID = string(id)
	}
	// What the run has used by now is not known.
	effects := work.Effects{Settle: []quota.Use{{ID: string(id), AsHeld: true}}, Audit: entries}
	rec, err := e.store.Cancel(ctx, owner, id, e.cfg.Now(), effects)
	if err != nil {
		return Record{}, err
	}
	e.claimer.Interrupt(runKey(id), errCanceled)
	return rec, nil
}

// Wait returns the task once it is terminal or interrupted by something newer
// than rec, or as it stands when ctx ends.
func (e *Engine) Wait(ctx context.Context, rec Record) (Record, error) {
	wake, stop := e.store.Watch(rec.ID)
	defer stop()
	for {
		now, err := e.store.Task(context.WithoutCancel(ctx), rec.Owner, rec.ID)
		if err != nil {
			return Record{}, err
		}
		if now.State.Terminal() || now.State.Interrupted() || now.Settled > rec.Last {
			return now, nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return now, nil
		}
	}
}

func runKey(id a2a.TaskID) work.Key { return work.Key{Kind: work.KindRun, ID: string(id)} }

// errCanceled is the cause of the context of a run whose task was canceled.
var errCanceled = errors.New("task was canceled")
