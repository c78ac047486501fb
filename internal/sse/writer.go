package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// KeepAlive is how long a stream may be silent before [Writer.KeepAlive]
// should be called.
const KeepAlive = 15 * time.Second

// Options tune a [Writer]. The zero value is ready to use.
type Options struct {
	// WriteTimeout is how long one write may take before its reader is given
	// up. Zero means 30 seconds.
	WriteTimeout time.Duration
}

// Writer writes a stream of events to one response. It is for one goroutine at
// a time. After an error every later call gives the same error: the stream
// can not be continued behind a gap.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     []byte
	err     error
}

const (
	defaultWriteTimeout = 30 * time.Second

	// keepBuffer is how much memory an idle stream may hold on to.
	keepBuffer = 64 << 10
)

// NewWriter begins the stream: status 200 and the headers of an event stream,
// which leave at once. The deadline for writing that the server may have set
// for the whole response is replaced by one for each write.
func NewWriter(w http.ResponseWriter, opts Options) (*Writer, error) {
	sw := &Writer{w: w, control: http.NewResponseController(w), timeout: opts.WriteTimeout}
	if sw.timeout <= 0 {
		sw.timeout = defaultWriteTimeout
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // proxies that know it pass events on at once
	sw.extend(sw.timeout)
	if sw.err == nil {
		w.WriteHeader(http.StatusOK)
		sw.flush()
	}
	return sw, sw.err
}

// Add appends one event to those that the next [Writer.Flush] writes. Its data
// is the parts in a row, which must not contain line breaks; compact JSON has
// none. The parts are copied.
func (w *Writer) Add(parts ...[]byte) {
	w.buf = append(w.buf, "data: "...)
	for _, part := range parts {
		w.buf = append(w.buf, part...)
	}
	w.buf = append(w.buf, "\n\n"...)
}

// Buffered is the number of bytes the next [Writer.Flush] writes.
func (w *Writer) Buffered() int { return len(w.buf) }

// Flush writes the events added so far in one piece and sees them off.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		w.extend(w.timeout)
	}
	if w.err == nil && len(w.buf) > 0 {
		if _, err := w.w.Write(w.buf); err != nil {
			w.fail(err)
		} else {
			w.flush()
		}
	}
	if w.buf = w.buf[:0]; cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	return w.err
}

// Event writes one event, with those added before, and sees it off.
func (w *Writer) Event(parts ...[]byte) error {
	w.Add(parts...)
	return w.Flush()
}

// KeepAlive writes a comment. Readers skip it; whatever stands between sees
// that the connection is in use, and a reader that is gone is noticed.
func (w *Writer) KeepAlive() error {
	w.buf = append(w.buf, ": keep-alive\n\n"...)
	return w.Flush()
}

// Wait returns when there is something to do: nil when wake delivers or is
// closed, the context's error when it ends. Whenever the stream has been
// silent for [KeepAlive] it writes a comment, and gives that write's error.
func (w *Writer) Wait(ctx context.Context, wake <-chan struct{}) error {
	timer := time.NewTimer(KeepAlive)
	defer timer.Stop()
	for {
		select {
		case <-wake:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			if err := w.KeepAlive(); err != nil {
				return err
			}
			timer.Reset(KeepAlive)
		}
	}
}

// extend gives the next write its time. A response that knows no deadlines, in
// a test, is written without.
func (w *Writer) extend(d time.Duration) {
	err := w.control.SetWriteDeadline(time.Now().Add(d))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		w.fail(err)
	}
}

func (w *Writer) flush() {
	if err := w.control.Flush(); err != nil {
		w.fail(err)
		return
	}
	// HTTP/2 resets a stream at its deadline even if nothing is being written,
	// and the end of the response, which is not ours to write, needs one too.
	w.extend(KeepAlive + w.timeout)
}

func (w *Writer) fail(err error) { w.err = fmt.Errorf("write event stream: %w", err) }
