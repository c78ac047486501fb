package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// Seal covers the entries of one commit of one node, and the seal before it.
type Seal struct {
	Node     string
	Number   int64 // from 1, without gaps
	First    int64 // number of the first entry it covers
	Count    int64
	At       time.Time // to the millisecond
	Previous Hash      // of the seal before; zero for the first
	Hash     Hash
}

// NewSeal seals entries, as they are kept, after the seal before; a zero one is
// the start of a chain. A clock that was set back does not show: no seal is
// older than the one before.
func NewSeal(node string, before Seal, first int64, entries [][]byte, at time.Time) Seal {
	if at.Before(before.At) {
		at = before.At
	}
	s := Seal{
		Node: node, Number: before.Number + 1, First: first, Count: int64(len(entries)),
		At: at.UTC().Truncate(time.Millisecond), Previous: before.Hash,
	}
	s.Hash = s.over(entries)
	return s
}

// over is the hash that a seal over entries has. Lengths keep neighbours apart.
func (s Seal) over(entries [][]byte) Hash {
	h := sha256.New()
	part := func(b []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(b)))
		h.Write(size[:])
		h.Write(b)
	}
	number := func(n int64) {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(n))
		part(b[:])
	}
	part([]byte("legation audit seal 1"))
	part([]byte(s.Node))
	number(s.Number)
	number(s.First)
	number(s.Count)
	number(s.At.UnixMilli())
	part(s.Previous[:])
	for _, e := range entries {
		part(e)
	}
	return Hash(h.Sum(nil))
}

// ErrBroken says that the evidence is not what was written.
var ErrBroken = errors.New("the audit is not what was written")

// Chain verifies the seals of one node, one after the other. The zero value
// starts at the first one.
type Chain struct {
	last   Seal
	next   int64 // number of the entry that the next seal begins with, 0 if any
	begun  bool
	Seals  int64 // verified so far
	Sealed int64 // entries that they cover
}

// Anchored starts behind entries that retention has removed: anchor is the last
// seal over them, which is kept.
func Anchored(anchor Seal) *Chain {
	return &Chain{last: anchor, next: anchor.First + anchor.Count, begun: true}
}

// Verify takes the next seal with the entries it covers, as they are kept. The
// error wraps [ErrBroken] and says what does not fit.
func (c *Chain) Verify(s Seal, entries [][]byte) error {
	switch {
	case s.Number != c.last.Number+1:
		return fmt.Errorf("%w: seal %d follows seal %d", ErrBroken, s.Number, c.last.Number)
	case c.begun && s.Node != c.last.Node:
		return fmt.Errorf("%w: seal %d is of node %s and not of %s", ErrBroken, s.Number, s.Node, c.last.Node)
	case s.Previous != c.last.Hash:
		return fmt.Errorf("%w: seal %d does not follow the seal before it", ErrBroken, s.Number)
	case c.next > 0 && s.First != c.next:
		return fmt.Errorf("%w: seal %d begins with entry %d, and entry %d is next", ErrBroken, s.Number, s.First, c.next)
	case s.Count != int64(len(entries)):
		return fmt.Errorf("%w: seal %d covers %d entries, and there are %d", ErrBroken, s.Number, s.Count, len(entries))
	case s.Hash != s.over(entries):
		return fmt.Errorf("%w: an entry from %d to %d, or seal %d over them, was changed", ErrBroken, s.First, s.First+s.Count-1, s.Number)
	}
	c.last, c.next, c.begun = s, s.First+s.Count, true
	c.Seals++
	c.Sealed += s.Count
	return nil
}

// Last is the seal that was verified last.
func (c *Chain) Last() Seal { return c.last }
