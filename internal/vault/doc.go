// Package vault keeps secrets: named credentials that are written once, sealed
// at rest, and opened at the moment they are used, for a recorded use.
//
// It knows no storage; what it asks of one is [Store]. It decides neither who
// may write a secret nor who may use it, and it does not send credentials.
//
// Each sealed value is an envelope: a data key of its own, wrapped by a master
// key, and the content under the data key, bound to the place it belongs to.
// Rotation wraps data keys anew and never opens contents.
//
// Invariant: content is in the clear only in a [Value], which shows it to
// nobody but the caller of Reveal; and a secret is opened only once its use is
// durable.
//
// Start reading at [Vault]; sealer.go is the envelope, keyring.go the master
// keys, rotate.go their rotation.
package vault
