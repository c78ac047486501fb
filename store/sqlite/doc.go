// Package sqlite is the embedded store: one directory, one file, one process.
//
// It is not a general database layer. It knows the records of the engines it
// serves and nothing of the protocol; what a change means is decided by the
// rules of package task, inside the change.
//
// Invariant: what a method returned, or a reader has seen, survives a crash.
// Readers see committed changes only, and a change is committed when it is on
// the disk. One goroutine writes; it takes the changes that wait, applies them
// one after the other, commits them together, and then answers.
//
// The directory is locked for the life of the process. That is why leases and
// fences are kept in memory beside the rows: a start voids all of them.
//
// Start reading at [Store]; writer.go is how changes are grouped, tx.go what
// one group may do, accept.go and append.go the changes themselves.
package sqlite
