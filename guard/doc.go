// Package guard is an HTTP transport that refuses to be led astray. Every
// request Legation sends to another party goes through one.
//
// A URL is judged before anything happens, a name is resolved once, every
// address it resolves to is judged, and only a judged address is dialled: a
// second DNS answer can not move a connection. Redirects are not followed,
// proxy variables of the environment are ignored, answers are capped, and one
// deadline, the caller's, covers the whole exchange. Any port may be dialled,
// on purpose: agents live on odd ports, and what an open port of a forbidden
// address could reveal is already out of reach.
//
// Where [Policy.Proxy] names an egress proxy, every connection goes to that
// proxy, which then judges what a name leads to.
//
// It is not a credential store and not a retry policy. It says exactly one
// thing about a failure that a retry policy needs, and says it only when it is
// certain: [NothingSent].
//
// Start reading at [Policy], then [New].
package guard
