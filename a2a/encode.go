package a2a

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// timeLayout writes UTC with exactly three fractional digits.
const timeLayout = "2006-01-02T15:04:05.000Z"

// The first and last times a timestamp can carry (google.protobuf.Timestamp).
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// appendMember appends a member's name where it may be the first.
func appendMember(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(b, name...)
}

// clean tells the bytes that stand for themselves in a JSON string. Bytes from
// 0x80 on do too, once they are known to be UTF-8.
var clean = func() (table [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		table[c] = c != '"' && c != '\\'
	}
	return table
}()

// appendString appends s as a JSON string, escaping no more than RFC 8785
// asks for. Bytes that are not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if clean[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			b = append(append(b, s[start:i]...), "\uFFFD"...)
		} else {
			b = appendEscape(append(b, s[start:i]...), c)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

func appendBytes(b, v []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, '"')
}

func appendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

func appendInt32(b []byte, v int32) []byte { return strconv.AppendInt(b, int64(v), 10) }

// appendTime appends t in UTC, cut to milliseconds. A time no timestamp can
// carry becomes the nearest one that can.
func appendTime(b []byte, t time.Time) []byte {
	if t.Before(minTime) {
		t = minTime
	} else if t.After(maxTime) {
		t = maxTime
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, timeLayout)
	return append(b, '"')
}

func appendStruct(b []byte, v Struct) []byte { return append(b, v...) }

// appendValue appends v; the empty value is JSON's null.
func appendValue[T ~[]byte](b []byte, v T) []byte {
	if len(v) == 0 {
		return append(b, "null"...)
	}
	return append(b, v...)
}

// sortedKeys returns the keys of m in order. Of keys that are written alike,
// which only keys that are not UTF-8 can be, it returns one.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.Sorted(maps.Keys(m))
	written := map[string]bool{}
	return slices.DeleteFunc(keys, func(key string) bool {
		if utf8.ValidString(key) {
			return false
		}
		name := string([]rune(key))
		_, taken := m[name]
		taken = taken || written[name]
		written[name] = true
		return taken
	})
}

// truncate cuts s to at most limit bytes, at the end of a character.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + mark
}
