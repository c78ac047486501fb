package credential

import "bytes"

const (
	authorization = "Authorization"
	defaultHeader = "X-API-Key"
	maxValue      = 16 << 10 // bytes of the value of a header
)

// trimmed is a secret without the end of line that files have.
func trimmed(value []byte) []byte { return bytes.TrimRight(value, "\r\n") }

// checkKey says what is wrong with the value of a header, or nothing. A value
// that could be read as two headers, or is changed on its way, is not sent
// (RFC 9110, section 5.5).
func checkKey(value []byte) string {
	switch {
	case len(value) == 0:
		return "is empty"
	case len(value) > maxValue:
		return "is longer than a header can be"
	case bytes.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return "has a line break, a control character or one that is not ASCII, which a header can not carry"
	case value[0] == ' ' || value[len(value)-1] == ' ':
		return "begins or ends with a space, which a header does not keep"
	}
	return ""
}

// checkToken is checkKey for what follows the word Bearer (RFC 6750, section
// 2.1).
func checkToken(value []byte) string {
	if why := checkKey(value); why != "" {
		return why
	}
	if bytes.IndexByte(value, ' ') >= 0 {
		return "has a space in it: a bearer token has none, and is written without the word Bearer"
	}
	return ""
}
