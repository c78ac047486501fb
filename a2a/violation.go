package a2a

import (
	"fmt"
	"slices"
	"strings"
)

// Reason says what kind of fault a [Violation] is.
type Reason int

// The reasons, by what was found.
const (
	// Missing is a REQUIRED member that is absent.
	Missing Reason = iota + 1
	// Empty is a REQUIRED member that is present and says nothing.
	Empty
	// UnknownEnum is an enum value this revision does not have.
	UnknownEnum
	// WrongType is a JSON value of another type than the member has.
	WrongType
	// OutOfRange is a number or a time beyond what the member can hold.
	OutOfRange
	// OneofConflict is an object with two members of which one may occur.
	OneofConflict
	// OneofMissing is an object with none of the members of which one must
	// occur, or with unknown ones only.
	OneofMissing
	// BadEncoding is a string that is not the base64 or timestamp it should be.
	BadEncoding
	// NullElement is a null in a list or as the value of a map.
	NullElement
	// Shape is a security requirement whose form would lose its meaning.
	Shape
	// TooMany ends a list that holds as many violations as are reported.
	TooMany
)

var reasonNames = [...]string{
	Missing: "missing", Empty: "empty", UnknownEnum: "unknown enum", WrongType: "wrong type",
	OutOfRange: "out of range", OneofConflict: "oneof conflict", OneofMissing: "oneof missing",
	BadEncoding: "bad encoding", NullElement: "null element", Shape: "shape", TooMany: "too many",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r <= 0 || int(r) >= len(reasonNames) {
		return "unknown"
	}
	return reasonNames[r]
}

// Violation is one thing wrong with a value that is valid JSON.
type Violation struct {
	// Field is the path of the member in the wire's names, such as
	// message.parts[2].raw. Empty means the whole value.
	Field string

	// Reason is the kind of fault.
	Reason Reason

	// Description tells a person what is wrong and what would be valid. It
	// quotes at most 40 bytes of the input, and none of a member that may
	// hold content or a secret.
	Description string
}

// Violations are the faults of one value, in the order they were met. There
// are at most 32; when there were more the last one says so.
type Violations []Violation

const maxViolations = 32

// String returns the faults in one line, or an empty string for none.
func (vs Violations) String() string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString("; ")
		}
		if v.Field != "" {
			fmt.Fprintf(&b, "%s: ", v.Field)
		}
		b.WriteString(v.Description)
	}
	return b.String()
}

// Find returns the first violation with the given reason.
func (vs Violations) Find(reason Reason) (Violation, bool) {
	for _, v := range vs {
		if v.Reason == reason {
			return v, true
		}
	}
	return Violation{}, false
}

// Only reports whether every violation has one of the given reasons, which is
// also so when there are none.
func (vs Violations) Only(reasons ...Reason) bool {
	for _, v := range vs {
		if !slices.Contains(reasons, v.Reason) {
			return false
		}
	}
	return true
}
