package a2a

import (
	"errors"
	"fmt"
)

// MaxDepth is how deep arrays and objects may be nested in what Decode reads. A
// server takes less in a request, so that what it was sent fits into a task.
const MaxDepth = 100

// Wire is met by a pointer to every message of this package. It is for
// functions that are generic over messages, as [Decode] is.
type Wire[T any] interface {
	*T
	AppendJSON([]byte) []byte
	decoded
}

// decoded reads the members of an object whose brace has been read. It reports
// whether all REQUIRED members were there and its oneof was told.
type decoded interface{ decode(*decoder) bool }

// SyntaxError is why something cannot be read as a message at all.
type SyntaxError struct {
	// Offset is where in the input the fault is, in bytes, as far as known.
	Offset int64

	// Problem says what is wrong without quoting the input.
	Problem string
}

// Error returns the problem and where it is.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Problem, e.Offset)
}

// Decode reads one message: Decode[a2a.Task](data).
//
// The error is a *SyntaxError and means that data is not one JSON object of
// valid UTF-8 with unique member names (the two spellings of one field count
// as one name) and at most MaxDepth levels. Everything else that is wrong is a
// violation, and the value holds what could be read: a member of the wrong
// type stays at its zero value, an unknown enum keeps its text, a list leaves
// out null and mistyped elements. Unknown members are ignored at every level;
// a [Part] that has no other is left with a nil Content.
//
// Names are accepted in both spellings, enums by name and number, int32 also
// as a numeric string, bytes in both base64 alphabets with and without
// padding, timestamps with any offset. Times are cut to milliseconds, the
// precision they are written with. The value does not keep data.
func Decode[T any, P Wire[T]](data []byte) (T, Violations, error) {
	var value T
	violations, err := decode(data, P(&value))
	if err != nil {
		var zero T
		return zero, nil, err
	}
	return value, violations, nil
}

// CheckDepth reports whether arrays and objects in data are nested at most
// limit deep. It looks at brackets outside of strings only; that data is JSON
// is for others to check.
func CheckDepth(data []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '{', c == '[':
			if depth++; depth > limit {
				return false
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return true
}

func decode(data []byte, value decoded) (Violations, error) {
	d := newDecoder(data)
	defer d.release()
	if d.json.PeekKind() == '{' {
		d.object()
		value.decode(d)
	} else if d.read(); d.err == nil {
		d.fail(0, "the value is not an object")
	}
	d.finish()
	if d.err != nil {
		return nil, d.err
	}
	return d.violations, nil
}

// unmarshal is the strict reading behind every UnmarshalJSON.
func unmarshal[T any, P Wire[T]](data []byte, to P) error {
	value, violations, err := Decode[T, P](data)
	if err != nil {
		return fmt.Errorf("a2a: %w", err)
	}
	if len(violations) > 0 {
		return errors.New("a2a: " + violations.String())
	}
	*to = value
	return nil
}
