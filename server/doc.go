// Package server is the server role over HTTP: it serves the cards of agents
// and the operations of A2A 1.0 in the JSON-RPC binding, as one [http.Handler].
//
// It is not the task engine and decides nothing about tasks: it checks who
// asks and whether the question is sound, hands it to the engine, and writes
// what is stored. It listens on nothing; timeouts of connections, TLS and
// health belong to whoever mounts it. Deadlines of single reads and writes are
// set here, so the http.Server should have a WriteTimeout: with one, the
// deadline of an answer does not reach into the next request of a connection.
//
// Invariant: a request is acted on only after everything about it was checked,
// always in the same order: HTTP limits, caller, JSON, envelope, version,
// method, required extensions, tenant, parameters, capability, ownership, and
// only then the rules of tasks. What fails leaves nothing behind.
//
// Start reading at [Server.ServeHTTP], then call.go for the order of checks,
// operations.go for what can be asked, and errors.go for the answers that are
// no results.
package server
