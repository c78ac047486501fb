// Package quota says how much a caller may have: limits, what is held for work
// under way, what was used, and when one more is too much.
//
// It is rules without storage. What it decides on are counters that a store
// keeps, and what it asks of a store travels as data with the change that it
// belongs to: a [Hold] with the message that is admitted, a [Use] with the end
// of its turn. That no two admissions see the same counters is the store's to
// make sure.
//
// Invariant: what is held and used of a day together never exceeds the limit of
// that day by an admission; only a turn that used more than was held for it can
// exceed it, and then nothing is admitted until the day is over.
//
// Start reading at [Admit].
package quota
