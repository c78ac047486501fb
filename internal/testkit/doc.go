// Package testkit holds what tests of several packages lean on: peers that
// misbehave on purpose, byte by byte, and cards to find them by.
//
// It is for tests alone. Its one invariant is that nothing outlives the test:
// every connection and goroutine of a [Peer] ends with it.
//
// Start reading at [NewPeer], then [Result], [Events] and [Bytes].
package testkit
