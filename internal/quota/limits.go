package quota

import (
	"fmt"
	"math"
)

// Limits is how much one caller may have. A field that is zero means the
// default, a negative one [None].
type Limits struct {
	// Requests is how many requests are answered in a minute, of whatever
	// operation, by one node. As many may come at once. Zero means 600.
	Requests int64

	// Concurrent is how many turns of the caller's tasks may be under way at
	// once, queued ones included. Zero means 72: as many as a caller may by
	// default have running and queued.
	Concurrent int64

	// Day is how much may be held and used in one UTC day. Zero members mean
	// 10,000 tasks, 10 million tokens and a cost of 100.
	Day Amount

	// Bytes is the size of one request's body. Zero means 4 MiB.
	Bytes int64

	// Parts is how many parts one message may have. Zero means 64.
	Parts int64
}

// None is the limit that does not limit.
const None = -1

// Amount is so much of what is counted by the day.
type Amount struct {
	Tasks  int64
	Tokens int64
	Cost   int64 // in millionths of the currency that prices are given in
}

// OrDefault is the limits with defaults in place of zeros and None in place of
// whatever is negative.
func (l Limits) OrDefault() Limits {
	or := func(limit *int64, otherwise int64) {
		switch {
		case *limit == 0:
			*limit = otherwise
		case *limit < 0:
			*limit = None
		}
	}
	or(&l.Requests, 600)
	or(&l.Concurrent, 72)
	or(&l.Day.Tasks, 10_000)
	or(&l.Day.Tokens, 10_000_000)
	or(&l.Day.Cost, 100_000_000)
	or(&l.Bytes, 4<<20)
	or(&l.Parts, 64)
	return l
}

// Allows reports whether these limits allow everything that others do.
func (l Limits) Allows(others Limits) bool {
	mine, theirs := l.OrDefault().all(), others.OrDefault().all()
	for i := range mine {
		if above(theirs[i], mine[i]) {
			return false
		}
	}
	return true
}

func (l Limits) all() [7]int64 {
	return [...]int64{l.Requests, l.Concurrent, l.Day.Tasks, l.Day.Tokens, l.Day.Cost, l.Bytes, l.Parts}
}

// above reports whether a limit is wider than another.
func above(limit, other int64) bool { return other != None && (limit == None || limit > other) }

// Plus is both amounts together. It does not overflow.
func (a Amount) Plus(b Amount) Amount {
	return Amount{Tasks: sum(a.Tasks, b.Tasks), Tokens: sum(a.Tokens, b.Tokens), Cost: sum(a.Cost, b.Cost)}
}

// Minus is what is left of an amount, never less than nothing.
func (a Amount) Minus(b Amount) Amount {
	return Amount{Tasks: max(0, a.Tasks-b.Tasks), Tokens: max(0, a.Tokens-b.Tokens), Cost: max(0, a.Cost-b.Cost)}
}

// check refuses an amount that would give back what was never taken.
func (a Amount) check() error {
	if a.Tasks < 0 || a.Tokens < 0 || a.Cost < 0 {
		return fmt.Errorf("an amount of %+v is negative", a)
	}
	return nil
}

// sum adds what is not negative.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
