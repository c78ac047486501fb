package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// maxGroup is the most changes in one commit, and the most that wait.
const maxGroup = 256

// change is one atomic change on its way through the writer.
type change struct {
	ctx   context.Context
	apply func(*tx) error // may run more than once; the last run counts
	err   error
	done  chan struct{} // closed when err is final
}

// write hands a change to the writer and waits until it is durable or refused.
// If the error is the context's, apply may still be running: what it has set
// must not be read.
func (s *Store) write(ctx context.Context, apply func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closing:
		return ErrClosed
	default:
	}
	c := &change{ctx: ctx, apply: apply, done: make(chan struct{})}
	select {
	case s.queue <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return ErrClosed
	}
	select {
	case <-c.done:
		return s.inWords(c.err)
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stopped:
	}
	select {
	case <-c.done: // among the last
		return s.inWords(c.err)
	default:
		return ErrClosed
	}
}

// writer is the one that writes. Its fields are its goroutine's own.
type writer struct {
	*connection
	store *Store
	jobs  *jobs
	tx    *tx
	group []*change

	lastTask int64 // highest number in use
	auditor  auditor
	ledger   *ledger

	patience time.Duration // with runs that began in a group
	waiting  *time.Timer   // for them, nil before
}

// startWriter starts the writer and returns when it has read what it needs.
func (s *Store) startWriter(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		close(s.stopped)
		return err
	}
	started := make(chan error, 1)
	go func() {
		defer close(s.stopped)
		defer conn.Close()
		_ = conn.Raw(func(raw any) error {
			w, err := s.newWriter(raw)
			started <- err
			if err != nil {
				return nil
			}
			defer w.close()
			w.run()
			return nil
		})
	}()
	err = <-started
	if err != nil {
		<-s.stopped
	}
	return err
}

func (s *Store) newWriter(raw any) (_ *writer, err error) {
	// Nothing is answered from here, so a panic can be reported.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic with a %T", p)
		}
	}()
	connection, err := newConnection(raw)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			connection.close()
		}
	}()
	w := &writer{connection: connection, store: s, jobs: newJobs(), ledger: newLedger(), patience: maxPatience}
	w.tx = newTx(w)
	if s.cfg.MaxBytes > 0 {
		pages := max(s.cfg.MaxBytes/pageBytes, 1)
		if _, _, err := w.one(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			return nil, err
		}
	}
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	err = errors.Join(w.begin(), w.loadOwners(s.owners), w.loadJobs(), w.loadAudit(), w.loadLedger())
	if err != nil {
		return nil, err
	}
	if _, err := w.exec("COMMIT"); err != nil {
		return nil, err
	}
	if w.jobs.anyReady() {
		signal(s.ready)
	}
	return w, nil
}

// begin counts the start, which begins a new range of epochs, chooses the token
// key at the first one, and finds the highest number in use.
func (w *writer) begin() error {
	if _, err := w.exec("INSERT OR IGNORE INTO meta (name, value) VALUES ('token_key', ?1), ('starts', 0)", randomKey()); err != nil {
		return err
	}
	if _, err := w.exec("UPDATE meta SET value = value + 1 WHERE name = 'starts'"); err != nil {
		return err
	}
	numbers, _, err := w.one(`SELECT
		(SELECT value FROM meta WHERE name = 'starts'),
		(SELECT coalesce(max(n), 0) FROM tasks),
		(SELECT value FROM meta WHERE name = 'token_key')`)
	if err != nil {
		return err
	}
	w.jobs.epoch = numbers.int(0) << 32
	w.lastTask = numbers.int(1)
	w.store.tokenKey = numbers.bytes(2)
	return nil
}

func randomKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}

// run applies changes until the store closes, and then those that wait.
func (w *writer) run() {
	for {
		select {
		case first := <-w.store.queue:
			w.commit(first)
		case <-w.store.closing:
			for {
				select {
				case first := <-w.store.queue:
					w.commit(first)
				default:
					return
				}
			}
		}
	}
}

// commit applies a change and those that wait behind it and commits them
// together. If one of them breaks the transaction, or the commit fails, each is
// applied again in a transaction of its own, so that none suffers from another.
func (w *writer) commit(first *change) {
	w.group = append(w.group[:0], first)
	for i := 0; i < len(w.group) && w.tx.broken == nil; i++ {
		w.group[i].err = w.tx.apply(w.group[i])
		if i+1 == len(w.group) {
			w.gather()
		}
	}
	w.waited()
	err := w.finish()
	if len(w.group) == 1 && err != nil {
		first.err = err
	}
	if len(w.group) == 1 || err == nil {
		w.answer()
		return
	}
	group := append([]*change(nil), w.group...)
	for _, c := range group {
		w.group = append(w.group[:0], c)
		c.err = w.tx.apply(c)
		if err := w.finish(); err != nil {
			c.err = err
		}
		w.answer()
	}
}

// maxPatience is the most a group waits for runs that began in it.
const maxPatience = 200 * time.Microsecond

// gather takes what waits into the group: a larger group costs the same commit.
// Those that were just answered get a moment to come back. Runs that began in
// the group get a little time to end in it, and less of it if they do not.
func (w *writer) gather() {
	for yields := 0; len(w.group) < maxGroup; yields++ {
		select {
		case next := <-w.store.queue:
			w.group = append(w.group, next)
			return
		default:
		}
		if yields < 3 {
			runtime.Gosched()
			continue
		}
		if len(w.tx.early) > 0 {
			w.await()
		}
		return
	}
}

// await takes one more change into the group if it comes in time.
func (w *writer) await() {
	switch {
	case w.patience == 0:
		return
	case w.waiting == nil:
		w.waiting = time.NewTimer(w.patience)
	}
	select {
	case next := <-w.store.queue:
		w.group = append(w.group, next)
	case <-w.waiting.C:
		w.patience /= 2
		if w.patience < 10*time.Microsecond {
			w.patience = 0 // until one ends in its group all the same
		}
	}
}

// waited ends what await began.
func (w *writer) waited() {
	if w.waiting != nil {
		w.waiting.Stop()
		w.waiting = nil
	}
	if w.tx.quick {
		w.patience = maxPatience
	}
}

// finish commits the transaction, or undoes it and returns why.
func (w *writer) finish() error {
	wrote := w.tx.open || w.tx.written > 0
	err := w.tx.commit()
	if wrote || err != nil {
		w.store.outcome(err)
	}
	if err == nil {
		return nil
	}
	w.tx.rollback()
	w.store.cfg.Logger.Warn("group of changes was undone", "changes", len(w.group), "error", w.store.inWords(err))
	return err
}

func (w *writer) answer() {
	for i, c := range w.group {
		close(c.done)
		w.group[i] = nil
	}
}

// apply runs one change. An error before the change has written anything
// refuses it; a later one breaks the transaction.
func (t *tx) apply(c *change) (err error) {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	written, undos := t.written, len(t.undos)
	defer func() {
		if p := recover(); p != nil {
			t.store.cfg.Logger.Error("a change panicked", "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in the store: panic in a change")
		}
		if err != nil && t.broken == nil && (t.written != written || len(t.undos) != undos) {
			t.broken = err
		}
	}()
	return c.apply(t)
}
