package sse

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	sse "github.com/tmaxmax/go-sse"
)

// Limits bound the reading of a stream. The zero value is ready to use.
type Limits struct {
	// MaxEventBytes is the longest event, and the longest line of any kind.
	// Zero means 8 MiB.
	MaxEventBytes int

	// MaxTotalBytes is the longest stream, comments included. Zero means
	// 256 MiB.
	MaxTotalBytes int64
}

const (
	defaultMaxEvent = 8 << 20
	defaultMaxTotal = 256 << 20
)

var (
	// ErrEventTooLarge ends a stream with an event or a line over its cap.
	ErrEventTooLarge = errors.New("sse: event too large")

	// ErrStreamTooLarge ends a stream over its cap.
	ErrStreamTooLarge = errors.New("sse: stream too large")
)

// Events reads a stream and yields the data of each event as soon as its blank
// line is there. The data is the caller's to keep. All forms of the standard
// are read: CR, LF and CRLF, data over several lines, a missing space, a byte
// order mark. Comments, ids, names, retry times and events without data are
// skipped, and so is a last event that was never finished.
//
// The end of the stream ends the loop. Anything else that ends it is yielded
// as the last error: [ErrEventTooLarge], [ErrStreamTooLarge], or the reader's.
func Events(r io.Reader, limits Limits) iter.Seq2[[]byte, error] {
	if limits.MaxEventBytes <= 0 {
		limits.MaxEventBytes = defaultMaxEvent
	}
	if limits.MaxTotalBytes <= 0 {
		limits.MaxTotalBytes = defaultMaxTotal
	}
	return func(yield func([]byte, error) bool) {
		p := newPacer(r, limits)
		for event, err := range sse.Read(p, &sse.ReadConfig{MaxEventSize: limits.MaxEventBytes + slack}) {
			switch {
			case errors.Is(err, bufio.ErrTooLong):
				yield(nil, fmt.Errorf("%w: over %d bytes", ErrEventTooLarge, limits.MaxEventBytes))
				return
			case err != nil:
				yield(nil, err)
				return
			case event.Data == "":
				continue
			}
			if !yield([]byte(event.Data), nil) {
				return
			}
		}
	}
}
