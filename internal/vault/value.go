package vault

import (
	"fmt"
	"io"
	"log/slog"
)

// hidden is what a value shows instead of its content.
const hidden = "[secret]"

// Value is the content of a secret. However it is printed, logged or encoded,
// it does not show it; Reveal does. The zero value has no content. Copies share
// the content.
type Value struct {
	// In a function, because printers look into unexported fields of whatever
	// holds a value, and some follow pointers there; none looks in here.
	content func() *[]byte
}

// NewValue returns a value with the content given, which it takes over.
func NewValue(content []byte) Value {
	return Value{content: func() *[]byte { return &content }}
}

// Reveal returns the content itself, not a copy, until Wipe. What it becomes
// part of is the caller's care.
func (v Value) Reveal() []byte {
	if v.content == nil {
		return nil
	}
	return *v.content()
}

// Wipe overwrites the content. Nobody may be using it. Copies that were made of
// it, as a string for one, are out of reach.
func (v Value) Wipe() {
	if v.content != nil {
		content := v.content()
		clear(*content)
		*content = nil
	}
}

// String does not show the content.
func (Value) String() string { return hidden }

// Format does not show the content, whatever the verb.
func (Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue does not show the content.
func (Value) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalJSON does not show the content.
func (Value) MarshalJSON() ([]byte, error) { return []byte(`"` + hidden + `"`), nil }

// MarshalText does not show the content.
func (Value) MarshalText() ([]byte, error) { return []byte(hidden), nil }
