// Package conformance compares what Legation claims to speak, conformance/claim.yaml,
// with everything that could contradict it: the constants and the generated code,
// a running server and its card, documents, pinned partners, recorded evidence,
// and the trace from requirements to tests.
//
// It judges nothing by taste and runs no conformance kit. Its one invariant: it
// reads the tree and changes nothing in it, and whatever differs is named with
// its place, what is claimed there, what was found, and what to do about it.
//
// Start reading at [Check]; each thing that is compared has a file of its own.
package conformance
