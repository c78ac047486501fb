package task

import (
	"context"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
)

// Store is what the engine needs of a store. Each method is one atomic change
// or one consistent read; a change is durable when its method returns. A store
// may commit several changes together. All methods are safe for concurrent use.
type Store interface {
	work.Store

	// Create stores a new task with its first event and its run as work. If
	// the message was accepted before, nothing is stored and the task it went
	// to is returned as joined; [ErrMessageChanged] if its content differs.
	// [ErrBusy] if the caller has too many runs queued.
	Create(ctx context.Context, task NewTask, effects work.Effects) (Accepted, error)

	// Joined finds the task that a message went to.
	Joined(ctx context.Context, message MessageKey) (Record, bool, error)

	// Continue appends a caller's message to an interrupted task and makes its
	// run new work, in place of what was suspended. What the message does to the task is
	// [Record.Continued]'s to say; its errors are returned. A message that was
	// accepted before joins as with Create. Also ErrNotFound and ErrBusy.
	Continue(ctx context.Context, next Continuation, effects work.Effects) (Accepted, error)

	// Append stores what a run put out. [ErrFenced] if the fence is void: the
	// task was canceled, ended, or taken over.
	Append(ctx context.Context, fence work.Fence, batch Batch, effects work.Effects) error

	// Cancel ends a task as [Record.Canceled] says, voids the fence of its run
	// and removes its work.
	Cancel(ctx context.Context, owner Owner, id a2a.TaskID, at time.Time, effects work.Effects) (Record, error)

	// Account applies effects that come with no other change. It is refused
	// with a [quota.ExceededError] if their hold does not fit.
	Account(ctx context.Context, effects work.Effects) error

	// Task reads one task. ErrNotFound if the owner has no such task.
	Task(ctx context.Context, owner Owner, id a2a.TaskID) (Record, error)

	// Held reads the task behind claimed work. ErrFenced if the fence is void.
	Held(ctx context.Context, fence work.Fence) (Record, error)

	// List reads one page, newest status first, then by descending id.
	List(ctx context.Context, owner Owner, query Query) (Page, error)

	// Earlier reads the newest ended tasks of a context besides one, oldest
	// first, at most limit of them and at most maxBytes of documents.
	Earlier(ctx context.Context, owner Owner, context a2a.ContextID, besides a2a.TaskID, limit, maxBytes int) ([]Record, error)

	// Events reads committed events with numbers above after, in order. It may
	// return fewer than there are; an empty result means there are no more.
	Events(ctx context.Context, owner Owner, id a2a.TaskID, after int64) ([]Event, error)

	// Watch returns a channel that is signaled, without blocking, after a
	// change of the task was committed, and a function that ends the watch.
	Watch(id a2a.TaskID) (wake <-chan struct{}, stop func())

	// TokenKey returns a random key, the same for the life of the store, with
	// which page tokens are authenticated.
	TokenKey(ctx context.Context) ([]byte, error)
}

// MessageKey identifies a message for deduplication.
type MessageKey struct {
	Owner Owner
	ID    a2a.MessageID // empty: the message is not deduplicated
	Hash  [32]byte      // of its canonical content
}

// Admission says under which limits a run becomes work.
type Admission struct {
	// Claim asks that the work be held at once by the node that asks, if the
	// caller is below PerCaller runs held. Otherwise it is queued.
	Claim bool
	Lease time.Duration

	PerCaller int // most runs of one caller held at once
	Queue     int // most runs of one caller queued

	// Early, if not nil, may be told of a claimed run before it is durable; no
	// change that is made under its fence becomes durable, or is seen, before
	// it. If the change fails after all the fence is void, and if the store
	// tries it again Early may be told of another. Early must not block.
	Early func(Accepted)
}

// NewTask is a task to create.
type NewTask struct {
	Record    Record // complete, with Last = 1
	Event     Event  // the first event
	Message   MessageKey
	Admission Admission

	// NewContext says that the context's id was made for this task, so that it
	// has no other. A store need not look for others then, and its totals are
	// wrong if there are.
	NewContext bool
}

// Continuation is a message to an existing task.
type Continuation struct {
	Message   MessageKey
	TaskID    a2a.TaskID
	Input     Input
	Admission Admission
}

// Accepted is the task that took a message.
type Accepted struct {
	Record Record

	// Joined says that the message had been accepted before.
	Joined bool

	// Work is the claimed run, or nil if it was queued or joined.
	Work *work.Item
}

// Batch is a group of changes to one task by its run.
type Batch struct {
	Record Record  // the task after the changes
	Events []Event // the new events; the last one's number is Record.Last
	Then   Then
	Until  time.Time // with Suspend: it wakes by itself then; zero means never
}

// Then says what becomes of the run's work.
type Then int

const (
	// Hold keeps the fence: the turn goes on.
	Hold Then = iota
	// End removes the work: the turn is over.
	End
	// Suspend gives up the fence until another change wakes the work, or until
	// Batch.Until. If it was woken while held, it is claimable at once. What
	// is claimed after that counts as a first attempt.
	Suspend
)

// Query selects a page of tasks.
type Query struct {
	ContextID a2a.ContextID // empty: any
	State     a2a.TaskState // empty: any
	Since     time.Time     // zero: any; else status times at or after it
	After     *Cursor       // nil: the first page
	Limit     int
	Artifacts bool // read Document.Artifacts too
	History   bool // read Document.History too
}

// Cursor is the place of a task in the order of lists.
type Cursor struct {
	StatusAt time.Time
	ID       a2a.TaskID
}

// Page is one page of a list.
type Page struct {
	Records []Record
	Total   int64 // tasks that match the query, on all pages
	More    bool  // there is a page after this one
}
