// Package jsonrpc reads and writes JSON-RPC 2.0 envelopes. It finds the parts
// of an envelope and leaves them as they are: an id is kept as the bytes it was
// sent as and echoed exactly, params and results are slices of the body.
//
// It knows nothing of methods, of A2A errors or of HTTP. Batches do not exist
// here. Its one invariant: what it accepts is one JSON document without
// duplicate names, invalid UTF-8 or excess depth, so that whoever decodes the
// parts need not look for these again.
//
// Start reading at [ParseRequest].
package jsonrpc
