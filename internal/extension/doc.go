// Package extension is the one table of the protocol's extensions that Legation
// knows, and the reading and writing of what travels in them.
//
// It enforces nothing and sends nothing: that is for the roles. Its one
// invariant is that what it reads was checked, to the last digit, as input of a
// stranger. Start reading at [Known].
package extension
