// Package access says who calls, and what that caller may do: remote clients
// with their credentials and rights, and the check of a request's credential
// against them.
//
// It knows no HTTP and no network. A request comes as an [Attempt], an answer
// goes as a [Caller] or a [*Refusal], and what has to be asked of others, the
// keys of an issuer of tokens, is behind [Tokens]. Quotas are counted elsewhere;
// only the rate of requests is limited here.
//
// Invariant: nobody is let in but by a credential of an enabled client that
// stands in the directory at that moment, and no credential, whole or in part,
// is in an error, a refusal or a fact.
//
// Start reading at [Client], then [Directory.Authenticate].
package access
