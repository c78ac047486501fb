// Package script reads what the text of a message asks an agent of the
// benchmark to do. Both agents do the same, each through its own library.
//
// Start reading at [Parse].
package script

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Kind is what is to be put out.
type Kind string

// The kinds of scripts.
const (
	Echo   Kind = "echo"   // one artifact with the text
	Ask    Kind = "ask"    // nothing: the task waits for input
	Stream Kind = "stream" // Count WORKING updates
	Chunks Kind = "chunks" // one artifact in Count pieces
)

// Script is what to do in a turn; whatever it is but [Ask], it ends completed.
type Script struct {
	Kind  Kind
	Count int           // of updates or pieces
	Delay time.Duration // before the first of them
}

// mostEvents bounds what one message can ask for.
const mostEvents = 100_000

// Parse reads "ask", "stream:N:D" and "chunks:N:D", where D is in milliseconds.
// Everything else is to be echoed.
func Parse(text string) Script {
	if text == string(Ask) {
		return Script{Kind: Ask}
	}
	kind, rest, _ := strings.Cut(text, ":")
	if Kind(kind) != Stream && Kind(kind) != Chunks {
		return Script{Kind: Echo}
	}
	n, d, _ := strings.Cut(rest, ":")
	count, err := strconv.Atoi(n)
	delay, err2 := strconv.Atoi(d)
	if err != nil || err2 != nil || count < 1 || count > mostEvents || delay < 0 || delay > 60_000 {
		return Script{Kind: Echo}
	}
	return Script{Kind: Kind(kind), Count: count, Delay: time.Duration(delay) * time.Millisecond}
}

// Wait waits for the delay, or until ctx ends.
func (s Script) Wait(ctx context.Context) error {
	if s.Delay == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.Delay):
		return nil
	}
}

// Piece is the text of a piece of an artifact.
func Piece(i int) string { return "piece " + strconv.Itoa(i) + " " }
