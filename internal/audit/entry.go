package audit

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
)

// Outcome says how an operation went.
type Outcome string

// The outcomes.
const (
	// Done is an operation that was carried out.
	Done Outcome = "done"
	// Refused is one that was not allowed, or not as it was asked for.
	Refused Outcome = "refused"
	// Failed is one that was allowed and did not work.
	Failed Outcome = "failed"
)

// Entry is one thing that happened. All its texts are names, codes, ids and
// hashes. The zero value of a member says that it does not apply.
type Entry struct {
	// At is when it happened, to the millisecond.
	At time.Time `json:"at"`

	// Who did it: a caller, a person, or "legation" itself.
	Who string `json:"who,omitzero"`

	// Party is the remote client or remote agent it concerns.
	Party string `json:"party,omitzero"`

	// Agent is the agent of ours that was called.
	Agent string `json:"agent,omitzero"`

	// Operation is what was done: a method of the protocol, or a word of the
	// administration such as "apply" or "card refresh".
	Operation string `json:"operation"`

	// Outcome is how it went, and Reason the code that says why.
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitzero"`

	// Count is how many times it happened, of which At is the last. Zero means
	// once.
	Count int64 `json:"count,omitzero"`

	// From is where a refused request came from: an address, or a network if it
	// came from several of it, behind the name of the proxy that passed it on if
	// one did.
	From string `json:"from,omitzero"`

	// TaskID and DelegationID name what it was about.
	TaskID       string `json:"taskId,omitzero"`
	DelegationID string `json:"delegationId,omitzero"`

	// KeyID is the key that a card was verified with, or a caller was known by.
	KeyID string `json:"keyId,omitzero"`

	// Hash is the SHA-256 of content that is kept elsewhere, in hexadecimal.
	Hash string `json:"hash,omitzero"`
}

// times is how often it happened.
func (e Entry) times() int64 { return max(e.Count, 1) }

// MaxBytes is how large an encoded entry may be.
const MaxBytes = 4 << 10

// Encode is the form in which an entry is kept and sealed: one line of JSON.
func (e Entry) Encode() ([]byte, error) {
	if e.Operation == "" || e.Outcome == "" {
		return nil, fmt.Errorf("an audit entry needs an operation and an outcome")
	}
	e.At = e.At.UTC().Truncate(time.Millisecond)
	if e.Count == 1 {
		e.Count = 0
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode an audit entry: %w", err)
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("an audit entry of %d bytes is larger than %d", len(text), MaxBytes)
	}
	return text, nil
}

// Decode reads what Encode wrote.
func Decode(text []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(text, &e); err != nil {
		return Entry{}, fmt.Errorf("decode an audit entry: %w", err)
	}
	return e, nil
}
