package quota

import (
	"errors"
	"fmt"
	"time"
)

// Counters is what a store has counted of one caller.
type Counters struct {
	// Open is how many holds there are, of whatever day.
	Open int64

	// Held and Used are those of one day.
	Held, Used Amount
}

// ErrExceeded is what every [ExceededError] is. Compare with errors.Is.
var ErrExceeded = errors.New("a limit of the caller is exceeded")

// ExceededError says which limit was in the way. It is an [ErrExceeded].
type ExceededError struct {
	What  string // what is limited, such as "tokens per day"
	Limit int64

	// Again is when it may be tried again: the end of the day, or zero for
	// whenever something else of the caller has ended.
	Again time.Time
}

// Error says so, for the caller.
func (e *ExceededError) Error() string {
	if e.Again.IsZero() {
		return fmt.Sprintf("the limit of %d %s is reached; wait until one has ended", e.Limit, e.What)
	}
	return fmt.Sprintf("the limit of %d %s is reached; it is counted anew from %s", e.Limit, e.What, e.Again.Format(time.RFC3339))
}

// Is reports whether target is [ErrExceeded].
func (e *ExceededError) Is(target error) bool { return target == ErrExceeded }

// pause is after how long something else of a caller may have ended.
const pause = 2 * time.Second

// RetryAfter is how long to wait from now on.
func (e *ExceededError) RetryAfter(now time.Time) time.Duration {
	if e.Again.IsZero() {
		return pause
	}
	return max(pause, e.Again.Sub(now))
}

// Admit returns nil if a hold fits beside what was counted, else an
// [ExceededError]. Counters are the caller's, of the day that the hold counts
// for. Adds says that its id is held already.
func Admit(c Counters, hold Hold, adds bool) error {
	limits := hold.Limits.OrDefault()
	if !adds && limits.Concurrent != None && c.Open >= limits.Concurrent {
		return &ExceededError{What: "tasks at once", Limit: limits.Concurrent}
	}
	taken := c.Held.Plus(c.Used)
	for _, counted := range [...]struct {
		what               string
		limit, taken, more int64
	}{
		{"tasks per day", limits.Day.Tasks, taken.Tasks, hold.Amount.Tasks},
		{"tokens per day", limits.Day.Tokens, taken.Tokens, hold.Amount.Tokens},
		{"millionths of cost per day", limits.Day.Cost, taken.Cost, hold.Amount.Cost},
	} {
		if counted.limit != None && sum(counted.taken, counted.more) > counted.limit {
			return &ExceededError{What: counted.what, Limit: counted.limit, Again: (DayOf(hold.At) + 1).Start()}
		}
	}
	return nil
}
