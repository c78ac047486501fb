package a2a

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// step is one part of the path to the value at hand.
type step struct {
	kind  stepKind
	name  string // of a field, or a key
	index int
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepIndex
	stepKey
)

const maxQuoted = 40 // bytes of the input in a description

// report records a violation of the value at hand.
func (d *decoder) report(reason Reason, description string) {
	d.reportAt("", reason, description)
}

// reportAt records a violation of a member of the object at hand.
func (d *decoder) reportAt(member string, reason Reason, description string) {
	switch {
	case d.err != nil || d.overflow:
		return
	case len(d.violations) == maxViolations:
		d.overflow = true
		d.violations[maxViolations-1] = Violation{Reason: TooMany, Description: "there are more violations"}
		return
	}
	d.violations = append(d.violations, Violation{
		Field:       d.field(member),
		Reason:      reason,
		Description: description,
	})
}

// wrongType reports that raw, nil after an error, is not what was wanted.
func (d *decoder) wrongType(want string, raw []byte) {
	if raw == nil {
		return
	}
	got := "a number"
	switch raw[0] {
	case '{':
		got = "an object"
	case '[':
		got = "an array"
	case '"':
		got = "a string"
	case 't', 'f':
		got = "a boolean"
	case 'n':
		got = "null"
	}
	d.report(WrongType, "must be "+want+", not "+got)
}

// field writes the path to the value at hand, and to one of its members.
func (d *decoder) field(member string) string {
	var b []byte
	for _, s := range d.path {
		switch {
		case s.kind == stepIndex:
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
		case s.kind == stepKey && !plainKey(s.name):
			b = append(append(append(b, '['), quote([]byte(s.name))...), ']')
		default:
			b = appendField(b, s.name)
		}
	}
	if member != "" {
		b = appendField(b, member)
	}
	return string(b)
}

func appendField(b []byte, name string) []byte {
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, name...)
}

// plainKey reports whether a key of a map reads well between dots.
func plainKey(key string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return key != "" && len(key) <= maxQuoted && strings.Trim(key, plain) == ""
}

// quote quotes the start of some input for a description.
func quote(input []byte) string {
	if len(input) <= maxQuoted {
		return strconv.Quote(string(input))
	}
	cut := maxQuoted
	for cut > 0 && !utf8.RuneStart(input[cut]) {
		cut--
	}
	return strconv.Quote(string(input[:cut])) + "…"
}
