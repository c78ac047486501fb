// Package work is how a node takes, keeps and gives up responsibility for
// something that must be done once: a run today, later a delegation, a
// delivery, a card refresh.
//
// It is not a job library: it knows no payloads and no retries. A row in the
// store says which node holds a key until when, and its epoch fences every
// write made on the strength of that hold.
//
// Invariant: for one key at most one epoch can write, and every epoch is newer
// than the one before it.
//
// Start reading at [Claimer].
package work
