// Package sse writes and reads server-sent events as the A2A JSON-RPC binding
// uses them: unnamed events whose data is one JSON document, and comments that
// keep a connection alive (A2A 1.0.1 section 9.4.2).
//
// It knows nothing of JSON, of tasks or of resuming: 1.0 defines no replay, so
// event ids are neither written nor heeded. Its one invariant is that neither
// direction waits or grows without bound: a write has a deadline, a read has
// caps.
//
// Start reading at [NewWriter] and [Events].
package sse
