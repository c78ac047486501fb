// Package piece turns output that comes in small bits, whenever they come, into
// pieces worth storing: a few per second while it trickles, full ones while it
// pours, and a single one if it is all there soon.
//
// It is not a parser and knows nothing of artifacts. Its one invariant: the
// pieces joined are what was written, and no letter of UTF-8 text is split over
// two of them. Start reading at [Stream].
package piece

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// size is how many bytes a piece has at most.
	size = 16 << 10
	// linger is how long a bit waits for others to join it.
	linger = 50 * time.Millisecond
	// backlog is how many bytes may wait before the writer does.
	backlog = 4 * size
)

// Stream runs produce on a goroutine of its own and hands what it writes to
// emit, in pieces of up to 16 KiB, each at most 50 ms after its first byte and
// after emit was done with the one before. The final piece is marked as last;
// it is empty if all that was written had been handed over before the end. If
// nothing was written emit is not called at all.
//
// emit runs on the caller's goroutine and keeps no piece after it returns.
// While it blocks up to 64 KiB are gathered, then the writer waits. An error of
// emit, or the end of ctx, ends the context of produce and what is left is
// dropped. Stream returns once produce has, with the error of emit, else that
// of ctx, else that of produce; a panic of produce is an error.
func Stream(ctx context.Context, produce func(ctx context.Context, w *Writer) error, emit func(piece []byte, last bool) error) error {
	producing, stop := context.WithCancel(ctx)
	w := &Writer{stopped: producing.Done(), more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	var produced error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if r := recover(); r != nil {
				produced = fmt.Errorf("produce output: panic with a %T", r)
			}
		}()
		produced = produce(producing, w)
	}()

	err := w.handOver(ctx, ended, emit)
	stop()
	<-ended
	if err != nil {
		return err
	}
	return produced
}

// Writer takes what is produced. It is safe for concurrent use.
type Writer struct {
	stopped <-chan struct{}
	more    chan struct{} // there is more to hand over
	room    chan struct{} // there is room again

	mu      sync.Mutex
	pending []byte
	written bool
}

// Write adds a copy of p, and waits while too much is pending. It fails only
// once nobody takes the output any more, with context.Canceled.
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		select {
		case <-w.stopped:
			return len(p) - len(rest), context.Canceled
		default:
		}
		n := w.add(rest)
		if rest = rest[n:]; n > 0 {
			signal(w.more)
			continue
		}
		select {
		case <-w.room:
		case <-w.stopped:
		}
	}
	return len(p), nil
}

func (w *Writer) add(p []byte) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(p), backlog-len(w.pending))
	w.pending = append(w.pending, p[:n]...)
	w.written = w.written || n > 0
	return n
}

// handOver emits until the end.
func (w *Writer) handOver(ctx context.Context, ended <-chan struct{}, emit func([]byte, bool) error) error {
	for {
		least, err := w.await(ctx, ended)
		if err != nil {
			return err
		}
		for {
			piece, last := w.take(least)
			if len(piece) == 0 && !last {
				break
			}
			if err := emit(piece, last); err != nil || last {
				return err
			}
		}
		if least == over {
			return nil
		}
	}
}

// over is the least size of a piece once nothing follows.
const over = 0

// await returns once there is a piece to hand over, and how many bytes it has
// at least: the full size, one because it is time, or over.
func (w *Writer) await(ctx context.Context, ended <-chan struct{}) (least int, _ error) {
	var due <-chan time.Time // no bit is waiting yet
	for {
		select {
		case <-w.more:
			if w.full() {
				return size, nil
			}
			if due == nil {
				timer := time.NewTimer(linger)
				defer timer.Stop()
				due = timer.C
			}
		case <-due:
			return 1, nil
		case <-ended:
			return over, ctx.Err()
		case <-ctx.Done():
			return over, ctx.Err()
		}
	}
}

func (w *Writer) full() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending) >= size
}

// take removes the next piece of at least that many bytes, if there is one.
// Before the end the bytes of a letter that is not whole stay back; after it
// what is left is the last piece.
func (w *Writer) take(least int) (piece []byte, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if least == over && len(w.pending) <= size {
		return w.pending, w.written
	}
	if len(w.pending) < least {
		if len(w.pending) > 0 {
			signal(w.more) // the rest of full pieces waits for its own time
		}
		return nil, false
	}
	n := letters(w.pending[:min(len(w.pending), size)])
	piece = append(piece, w.pending[:n]...)
	w.pending = w.pending[:copy(w.pending, w.pending[n:])]
	signal(w.room)
	return piece, false
}

// letters is how many bytes of b are before a letter that is cut off at its
// end. Bytes that are not UTF-8 count as they are.
func letters(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				break
			}
			return i
		}
	}
	return len(b)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
