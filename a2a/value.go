package a2a

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Value is any JSON value, as compact text on one line (google.protobuf.Value).
// Nil is written as null. It comes from [NewValue] or from decoding; bytes put
// into one by other means are written as they are.
type Value []byte

// Struct is a JSON object, as compact text on one line
// (google.protobuf.Struct). Nil is absent. It comes from [NewStruct], [Struct.With]
// or from decoding; bytes put into one by other means are written as they are.
type Struct []byte

var errNotFinite = errors.New("a2a: a number is beyond what a double can hold")

// NewValue returns v as JSON text. It fails on what JSON cannot say, such as
// channels, NaN and strings that are not UTF-8.
func NewValue(v any) (Value, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("a2a: value: %w", err)
	}
	var value Value
	return value, value.UnmarshalJSON(text)
}

// NewStruct returns members as a JSON object with sorted names. It fails where
// NewValue does. Nil members make an empty object, not an absent one.
func NewStruct(members map[string]any) (Struct, error) {
	if members == nil {
		members = map[string]any{}
	}
	value, err := NewValue(members)
	return Struct(value), err
}

// Decode stores the value in what into points to, as unmarshaling JSON does.
func (v Value) Decode(into any) error {
	if err := json.Unmarshal(appendValue(nil, v), into); err != nil {
		return fmt.Errorf("a2a: value: %w", err)
	}
	return nil
}

// String returns the JSON text.
func (v Value) String() string { return string(appendValue(nil, v)) }

// MarshalJSON returns the JSON text.
func (v Value) MarshalJSON() ([]byte, error) { return appendValue(nil, v), nil }

// UnmarshalJSON keeps a compact copy of data.
func (v *Value) UnmarshalJSON(data []byte) error {
	text, err := compact(data)
	if err == nil {
		*v = text
	}
	return err
}

// Get returns a member, and whether the object has it. The value shares the
// memory of the object. Names are compared exactly.
func (s Struct) Get(key string) (Value, bool) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(s))
	if token, err := decoder.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, false
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, false
		}
		found := name.String() == key
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, false
		}
		if found {
			return Value(value), true
		}
	}
	return nil, false
}

// With returns a copy of the object in which key has the given value, at the
// end where it is new. A nil value is null. It fails on a value that is not
// JSON and on a key that is not UTF-8.
func (s Struct) With(key string, value Value) (Struct, error) {
	text, err := compact(appendValue(nil, value))
	if err != nil {
		return nil, err
	}
	members := map[string]jsontext.Value{}
	order, err := s.members(members)
	if err != nil {
		return nil, err
	}
	if _, ok := members[key]; !ok {
		order = append(order, key)
	}
	members[key] = text
	b := []byte{'{'}
	for _, name := range order {
		if b, err = jsontext.AppendQuote(appendMember(b, ""), name); err != nil {
			return nil, fmt.Errorf("a2a: struct: %w", err)
		}
		b = append(append(b, ':'), members[name]...)
	}
	return append(b, '}'), nil
}

// members fills a map and returns the names in their order.
func (s Struct) members(into map[string]jsontext.Value) ([]string, error) {
	if len(s) == 0 {
		return nil, nil
	}
	var order []string
	decoder := jsontext.NewDecoder(bytes.NewBuffer(s))
	token, err := decoder.ReadToken()
	if err == nil && token.Kind() != '{' {
		err = errors.New("not an object")
	}
	for err == nil && decoder.PeekKind() == '"' {
		token, err = decoder.ReadToken()
		if err != nil {
			break
		}
		name := token.String()
		order = append(order, name)
		into[name], err = decoder.ReadValue()
	}
	if err == nil {
		_, err = decoder.ReadToken()
	}
	if err != nil {
		return nil, fmt.Errorf("a2a: struct: %w", err)
	}
	return order, nil
}

// Decode stores the object in what into points to, as unmarshaling JSON does.
// A nil object is null.
func (s Struct) Decode(into any) error { return Value(s).Decode(into) }

// String returns the JSON text; it is empty for nil.
func (s Struct) String() string { return string(s) }

// MarshalJSON returns the JSON text; it is null for nil.
func (s Struct) MarshalJSON() ([]byte, error) { return appendValue(nil, s), nil }

// UnmarshalJSON keeps a compact copy of data, which must be an object or null.
func (s *Struct) UnmarshalJSON(data []byte) error {
	text, err := compact(data)
	switch {
	case err != nil:
		return err
	case string(text) == "null":
		*s = nil
	case text[0] != '{':
		return errors.New("a2a: struct: not an object")
	default:
		*s = text
	}
	return nil
}

// Decode stores the data in what into points to, as unmarshaling JSON does.
func (d PartData) Decode(into any) error { return Value(d).Decode(into) }

// String returns the JSON text.
func (d PartData) String() string { return Value(d).String() }

// compact checks that data is one JSON value within our bounds and returns a
// compact copy.
func compact(data []byte) ([]byte, error) {
	if !CheckDepth(data, MaxDepth) {
		return nil, errors.New("a2a: JSON is nested too deep")
	}
	if !jsontext.Value(data).IsValid() {
		return nil, errors.New("a2a: not a JSON value")
	}
	text, ok := appendCompact(make([]byte, 0, len(data)), data)
	if !ok {
		return nil, errNotFinite
	}
	return text, nil
}

// appendCompact appends valid JSON without its white space, and reports
// whether all its numbers fit a double. Strings are kept as they are.
func appendCompact(b, text []byte) ([]byte, bool) {
	for i := 0; i < len(text); {
		start := i
		switch c := text[i]; {
		case c == ' ', c == '\n', c == '\r', c == '\t':
			i++
			continue
		case c == '"':
			i = endOfString(text, i)
		case c == '-', '0' <= c && c <= '9':
			i = endOfNumber(text, i)
			if !finite(text[start:i]) {
				return nil, false
			}
		default:
			i++
		}
		b = append(b, text[start:i]...)
	}
	return b, true
}

// endOfString returns where the string that starts at i ends.
func endOfString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func endOfNumber(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte("+-.eE0123456789"), text[i]) >= 0 {
		i++
	}
	return i
}
