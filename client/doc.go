// Package client is the client role of the Agent2Agent protocol 1.0 over HTTP:
// it finds one remote agent by its card and calls it, with types in and out.
//
// It decides nothing about work: it stores nothing, delegates nothing and
// retries nothing that has an effect. Reading is repeated where that is
// promised ([Stream], [Client.Follow]), sending never is. Its one invariant is
// that every error tells who spoke: an error that matches *[a2a.Error] was
// said by the peer, everything else was found out here, and [Classify] tells
// what either means for a message that was being sent.
//
// Every request leaves through [guard], goes to the URL of the interface that
// was chosen and nowhere else, and ends within a limit of [Config]. Reading is
// tolerant of what a later minor version may add and of what peers are known
// to leave out, and of nothing that would change a result.
//
// Start reading at [Dial], then [Client.SendMessage], [Stream] and [Classify].
package client
