// Package task is the task engine: it creates tasks, enters agents once per
// turn, appends what they put out as numbered events, and lets any number of
// readers follow.
//
// It is not the protocol's server and it is not a store: requests are decoded
// before they get here, and every change goes through [Store], whose methods
// are one atomic change each.
//
// Invariant: stored first, streamed second. A reader sees only events that a
// crash cannot take back, in one order that is the same for all readers.
//
// Start reading at [Engine]; transition.go holds the rules of states, change.go
// the form of a change, run.go the life of a turn.
package task
