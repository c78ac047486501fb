// Package repotest holds the tests that the repository itself must pass: which
// package imports which, what documents refer to, and which words and habits do
// not belong in the tree.
//
// It has no code of its own and no package imports it. Its one invariant is that
// it reads the tree as it stands and nothing else: no network, no build, no git.
//
// Start reading at rooms_test.go, the table of packages.
package repotest
