package quota

import (
	"cmp"
	"errors"
	"time"
)

// Hold sets an amount aside for a turn until it is settled. It is admitted in
// the change that it travels with, or that change is refused with an
// [ExceededError].
type Hold struct {
	// ID names what is held for: the id of a task, of which one turn at a time
	// is under way. A hold of an id that is held already adds to it, and
	// counts for the day of the first.
	ID string

	Caller string
	At     time.Time // its UTC day is the one that the hold counts for
	Amount Amount
	Limits Limits // of the caller, as they are now
}

// Check refuses a hold that nobody could settle or that counts backwards.
func (h Hold) Check() error {
	if h.ID == "" || h.Caller == "" {
		return errors.New("a hold needs an id and a caller")
	}
	return h.Amount.check()
}

// Use settles a hold: what was held is no more, and what was used, be it less
// or more, counts for the day of the hold. A use of what is not held is
// ignored, so that settling twice counts once.
type Use struct {
	ID     string
	Amount Amount

	// AsHeld counts what was held wherever Amount is zero: what was not
	// measured is not taken for nothing.
	AsHeld bool
}

// Of is the amount that counts, of a hold of so much.
func (u Use) Of(held Amount) Amount {
	used := u.Amount
	if u.AsHeld {
		used.Tasks = cmp.Or(used.Tasks, held.Tasks)
		used.Tokens = cmp.Or(used.Tokens, held.Tokens)
		used.Cost = cmp.Or(used.Cost, held.Cost)
	}
	return used
}

// Return is the use of a hold of which nothing was used.
func Return(id string) Use { return Use{ID: id} }

// Check refuses a use that counts backwards.
func (u Use) Check() error { return u.Amount.check() }

// Day is a day in UTC, as the number of days since 1970-01-01.
type Day int64

const dayLength = 24 * time.Hour

// DayOf is the day of a time.
func DayOf(t time.Time) Day {
	seconds, length := t.Unix(), int64(dayLength/time.Second)
	day := seconds / length
	if seconds%length < 0 {
		day--
	}
	return Day(day)
}

// Start is when the day begins, which is when the one before ends.
func (d Day) Start() time.Time {
	return time.Unix(int64(d)*int64(dayLength/time.Second), 0).UTC()
}

// String is the date, like 2026-03-14.
func (d Day) String() string { return d.Start().Format(time.DateOnly) }
