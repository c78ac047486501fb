// Package audit is the evidence of who did what: entries, and the seals that
// chain them, so that none can be changed or taken out unseen.
//
// An entry holds names, codes, ids and hashes, never content and never a secret.
// It is written in the same change as what it tells of. The entries of one
// commit are sealed together; a seal covers them and the seal before it.
//
// Invariant: seals of one node are numbered without gaps, and each entry is
// covered by exactly one.
//
// Start reading at [Entry] and [Verify].
package audit
