// Package a2a holds the nouns of the Agent2Agent protocol 1.0 and their JSON:
// tasks, messages, parts, events, requests and answers, agent cards, errors.
//
// It is not a client, not a server and not a validator of what a message is
// allowed to mean: it knows how values look on the wire and which of them the
// wire calls complete. It does no I/O, starts no goroutine and keeps no state.
//
// Its one invariant: what it writes, it reads back equal. Writing never fails
// and always yields valid JSON on one line with every REQUIRED member;
// reading yields the value together with everything that is wrong with it,
// and leaves the verdict to the caller.
//
// The types, the encoder and the decoder are generated from the wire table in
// the specification directory. Start reading at [Task], [Message] and [Part],
// then [Decode], [Violation] and [Error].
//
// Values are plain data: copying one copies the outermost struct only, and a
// value may be read by many goroutines as long as none writes.
package a2a

//go:generate go run ../specification/generate
