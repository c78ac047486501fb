// Package admin is the administration of an installation over HTTP: registered
// resources, secrets, keys of remote clients, remote agents, tasks, the audit,
// and the people who may do all that.
//
// It decides nothing by itself: every route asks one of the parts that
// [Config] names, and tells what it said. Commands speak to this handler too,
// over the network, or in the same process over an opened data directory, so
// that there is one way to do each thing.
//
// Invariant: what needs a permission is done for whoever has it and under that
// name, and neither the value of a secret nor the content of a task is in an
// answer, an error or a log; only the answer that issues a key or token has it,
// and what an administrator asks for by name as content.
//
// Start reading at the table in routes.go, then forms.go for what is said, and
// handler.go for how a request is judged.
package admin
