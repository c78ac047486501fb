// Package registry is what an administrator registers: six kinds of documents,
// each {kind, name, spec}, that say which skills are published, who may call
// them, and to whom work may be handed.
//
// It reads and writes documents, judges each alone and all together, tells what
// a change would do, and makes a [Plan] of it. A [Registry] carries plans out in
// a [Store], with their evidence, and tells those who watch. Nothing here opens
// a file or reaches the network: whether a party answers is never a reason to
// refuse a document, so one bad remote agent blocks no other. Values of secrets
// never pass through it.
//
// Its invariants: what [Decode] returns, [EncodeYAML] and [EncodeJSON] write
// back so that it decodes to the same; and a change that was made by one is never
// undone by another who did not know of it.
//
// Start reading at [Document], then [Decode], [NewPlan], [Readiness] and
// [Registry].
package registry
