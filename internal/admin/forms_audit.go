package admin

import (
	"encoding/hex"
	"errors"
	"time"

	"github.com/legation/legation/internal/audit"
)

// Audit is the answer to GET /admin/audit, the newest entry first. A page may have
// fewer entries than were asked for, or none, and still be followed by another.
type Audit struct {
	Entries []AuditEntry `json:"entries"`

	// Next is what to ask for as before to get the next page. It is left out on
	// the last one.
	Next int64 `json:"next,omitzero"`
}

// AuditEntry is one thing that happened.
type AuditEntry struct {
	Number int64     `json:"number"`
	At     time.Time `json:"at"`

	// Who did it: a remote client, a person, or legation itself.
	Who string `json:"who,omitzero"`

	// Party is whom or what it concerns.
	Party string `json:"party,omitzero"`

	// Agent is the agent of this installation that was called, and From where a
	// refused request came from.
	Agent string `json:"agent,omitzero"`
	From  string `json:"from,omitzero"`

	Operation string `json:"operation"`

	// Outcome is done, refused or failed, and Reason the code that says why.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitzero"`

	// Count is how many times it happened, of which at is the last: what is
	// refused again and again is summed up every minute. Left out, it is once.
	Count int64 `json:"count,omitzero"`

	TaskID       string `json:"taskId,omitzero"`
	DelegationID string `json:"delegationId,omitzero"`

	// KeyID is the key that a card was verified with, or a caller was known by.
	KeyID string `json:"keyId,omitzero"`

	// Hash is the SHA-256 of content that is kept elsewhere, in hexadecimal.
	Hash string `json:"hash,omitzero"`
}

// Evidence is one line of the answer to GET /admin/audit/evidence: a seal with the
// entries that it covers. The lines are in order, and the seals of a node have
// no gaps. A page is bounded: what follows is asked for with the number of its
// last seal as after, and an answer without seals is the end. If the first seal
// there is has no entries it is the anchor that retention has left.
type Evidence struct {
	Seal Seal `json:"seal,omitzero"`

	// Entries are as they are kept, each in base64.
	Entries [][]byte `json:"entries,omitzero"`

	// Unsealed are the numbers of entries that no seal covers, a hundred at most:
	// somebody else has written them. They are in a line of their own, without a
	// seal, at the end.
	Unsealed []int64 `json:"unsealed,omitzero"`
}

// Seal covers the entries of one commit, and the seal before it.
type Seal struct {
	Node   string `json:"node"`
	Number int64  `json:"number"`

	// First is the number of the first entry that it covers, of Count.
	First int64     `json:"first"`
	Count int64     `json:"count"`
	At    time.Time `json:"at"`

	// Previous and Hash are SHA-256 in hexadecimal.
	Previous string `json:"previous"`
	Hash     string `json:"hash"`
}

func sealForm(s audit.Seal) Seal {
	return Seal{
		Node: s.Node, Number: s.Number, First: s.First, Count: s.Count, At: s.At,
		Previous: hex.EncodeToString(s.Previous[:]), Hash: hex.EncodeToString(s.Hash[:]),
	}
}

// Audit is the seal as [audit.Chain] verifies it. It says so if the hashes are
// not written as they should be.
func (s Seal) Audit() (audit.Seal, error) {
	previous, wrong := hashOf(s.Previous)
	hash, wrongToo := hashOf(s.Hash)
	return audit.Seal{
		Node: s.Node, Number: s.Number, First: s.First, Count: s.Count, At: s.At, Previous: previous, Hash: hash,
	}, errors.Join(wrong, wrongToo)
}

func hashOf(text string) (h audit.Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(h) {
		return h, errors.New("a hash of a seal is not 64 hexadecimal digits")
	}
	copy(h[:], b)
	return h, nil
}
