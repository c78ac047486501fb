// Package remotes puts together how the remote agents that are registered are
// reached: for each a guarded client of its own, its credential, and what
// [trust.Book] believes of it.
//
// It decides nothing about trust and nothing about work. Its one invariant is
// that a client for an agent is made only with a ticket for it, and calls no
// other place than the registration's.
//
// Start reading at [Remotes.Dial], then [Remotes.Check].
package remotes
