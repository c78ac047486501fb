// Package people is who may administer an installation: persons, each with a
// role and a token, and the directory that knows a person by the token.
//
// It knows no HTTP and no storage; what it asks of a store is [Store]. What a
// permission lets somebody do is for those to say who ask for it.
//
// Invariant: a token is in the clear only where it was just issued; what is kept
// is its hash. And an administrator whose token is in force is not taken away if
// there is no other.
//
// Start reading at [Person], then [Directory].
package people
