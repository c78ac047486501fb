// Package trust is what we believe of the remote agents that are registered, and
// for how long.
//
// A [Book] keeps the card of each as it was last read and the one that was last
// accepted, judges them by the registration as it is at the moment, and hands
// out a [Ticket] for an agent that is trusted. It refreshes cards behind the
// scenes. It does not reach agents itself: a [Source] reads their cards, and who
// wants to call one takes the card from a ticket.
//
// Losing trust takes effect at once, gaining it once it is written down. That a
// card cannot be read ends no trust until the card is too old; a card that is
// read and does not verify ends it on the spot.
//
// Invariant: no ticket is given for a card that does not verify under the pin of
// the registration as it is then, and is not what was accepted.
//
// Start reading at [Book], then judge.go, which is the rules without state.
package trust
