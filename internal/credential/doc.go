// Package credential proves us to remote agents: with a key in a header, a
// bearer token, a token fetched by OAuth 2.0 client credentials, or a client
// certificate, as a registration says.
//
// It opens secrets at the moment they are sent, one recorded use each, and
// keeps none: all it remembers are access tokens, in memory. It sends nothing to
// the agent itself; it does ask token endpoints, through a guarded client that
// belongs to the party. It judges no caller of ours, which is package access.
//
// Its one invariant is that neither a secret nor a token is in an error or a
// log: what a token endpoint says is repeated only as far as it is one of the
// error codes of its specification.
//
// Start reading at Keeper.For, then Source.Headers and Satisfies.
package credential
