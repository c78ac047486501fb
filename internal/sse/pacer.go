package sse

import (
	"fmt"
	"io"
)

// pacer stands between a peer and the parser, and keeps the parser's work in
// proportion. The parser looks at an unfinished event again from its first
// byte whenever more of it arrives, so a peer that sends one byte at a time
// would cost time in the square of an event's size; and it counts comments and
// blank lines without an event as part of the next one. The pacer therefore
// passes on an event's bytes only when the event is complete or the parser's
// buffer, which doubles, is full. It drops comments and surplus blank lines,
// turns every line end into LF, and counts.
type pacer struct {
	r      io.Reader
	limits Limits
	total  int64
	line   int  // bytes of this line
	event  int  // bytes passed on of this event
	mute   bool // this line is a comment
	cr     bool // the last byte was CR: an LF now belongs to it
	err    error
}

// slack is what the parser's buffer needs beyond the largest event: it refuses
// an event that fills it.
const slack = 16

func newPacer(r io.Reader, limits Limits) *pacer { return &pacer{r: r, limits: limits} }

// Read fills b until it holds the end of an event, is full, or the stream ends.
func (p *pacer) Read(b []byte) (int, error) {
	kept := 0
	for idle := 0; p.err == nil && kept < len(b); {
		n, err := p.r.Read(b[kept:])
		fresh := b[kept : kept+n]
		passed, complete, bad := p.sift(fresh)
		kept += passed
		if p.err = err; bad != nil {
			p.err = bad
		}
		if complete {
			return kept, nil
		}
		if idle++; n > 0 {
			idle = 0
		} else if idle > maxIdleReads {
			p.err = io.ErrNoProgress
		}
	}
	if kept > 0 || len(b) == 0 {
		return kept, nil
	}
	return 0, p.err
}

// maxIdleReads bounds a reader that gives neither bytes nor an error.
const maxIdleReads = 100

// sift moves the bytes that matter to the front of b and tells how many there
// are, and whether an event ended among them.
func (p *pacer) sift(b []byte) (kept int, complete bool, err error) {
	for _, c := range b {
		if p.total++; p.total > p.limits.MaxTotalBytes {
			return kept, complete, fmt.Errorf("%w: over %d bytes", ErrStreamTooLarge, p.limits.MaxTotalBytes)
		}
		if c == '\n' && p.cr {
			p.cr = false
			continue
		}
		p.cr = c == '\r'
		if c == '\r' || c == '\n' {
			blank, mute := p.line == 0, p.mute
			p.line, p.mute = 0, false
			if mute || blank && p.event == 0 {
				continue
			}
			b[kept] = '\n'
			kept++
			if p.event++; blank {
				p.event, complete = 0, true
			}
			continue
		}
		if p.line++; p.line == 1 && c == ':' {
			p.mute = true
		}
		if p.line > p.limits.MaxEventBytes || p.event >= p.limits.MaxEventBytes {
			return kept, complete, fmt.Errorf("%w: over %d bytes", ErrEventTooLarge, p.limits.MaxEventBytes)
		}
		if !p.mute {
			b[kept] = c
			kept++
			p.event++
		}
	}
	return kept, complete, nil
}
