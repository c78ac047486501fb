package jsonrpc

import "github.com/go-json-experiment/json/jsontext"

// MaxIDBytes is the longest id a request may have, quotes included.
const MaxIDBytes = 1 << 10

// ID is the JSON text of an id, byte for byte as it was sent, so that
// 9007199254740993 and 1.0 survive the way back. A nil ID is written as null:
// the id of a request that could not be read (JSON-RPC 2.0 section 5).
type ID []byte

// Valid reports whether this is an id a request may carry: a string or a
// number, not over [MaxIDBytes]. Null is refused, although JSON-RPC 2.0 only
// advises against it, because its answer could not be told from that to an
// unreadable request.
func (id ID) Valid() bool {
	return len(id) <= MaxIDBytes && jsontext.Value(id).IsValid() &&
		(id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9')
}

// IsNull reports whether there is no id.
func (id ID) IsNull() bool { return len(id) == 0 || string(id) == "null" }

// Equal reports whether this is the string s, however it is escaped. A client
// that sends strings matches answers with it.
func (id ID) Equal(s string) bool {
	if len(id) == 0 || id[0] != '"' {
		return false
	}
	text, err := jsontext.AppendUnquote(nil, []byte(id))
	return err == nil && string(text) == s
}

// String gives the JSON text.
func (id ID) String() string {
	if len(id) == 0 {
		return "null"
	}
	return string(id)
}
