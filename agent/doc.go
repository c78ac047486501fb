// Package agent is what the author of an agent implements: one turn of
// conversation in, outputs and an outcome out.
//
// It is not the protocol: an agent never sees a request id, a stream or a
// store. The engine that enters an agent writes everything it puts out to the
// store before any reader sees it, and may enter it again after a crash or a
// wait.
//
// Invariant: an agent is entered at most once at a time for one task, and what
// it puts out after its task has ended changes nothing.
//
// Start reading at [Agent]; [Func] turns a plain function into one.
package agent
