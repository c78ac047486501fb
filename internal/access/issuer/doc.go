// Package issuer verifies tokens with the keys of the issuers that signed them:
// OpenID Connect discovery, key sets, signatures.
//
// It does not judge claims: whom a token stands for, and whether it is in force,
// is for package access to say. Every request goes out through the HTTP client
// that it was given.
//
// Invariant: no token makes an issuer be asked more than once a minute, and no
// token is accepted with a key that its issuer has not published within the
// last day.
//
// Start reading at [Set.Verify].
package issuer
