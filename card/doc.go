// Package card says what an agent card is worth: it signs cards, verifies them
// against keys that were pinned, compares two of them, and finds faults.
//
// It does no I/O and fetches neither cards nor keys. It does not choose the
// interface to call and does not judge whether a card is usable; that is for
// the client role.
//
// Its one invariant: of a card that was verified, only what a signature covers
// is believed. [Verify] reads the card anew from the bytes that verified.
//
// Start reading at [Canonical], then [Sign] and [Verify]. Nothing here keeps
// state, and every function and value may be used by many goroutines.
package card
