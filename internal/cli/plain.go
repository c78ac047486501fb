package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// isTerminal reports whether a stream is one a person sits at.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

// sameFile reports whether two streams end in one file, terminal or pipe.
func sameFile(a, b any) bool {
	one, ok := a.(*os.File)
	other, too := b.(*os.File)
	if !ok || !too {
		return false
	}
	info, err := one.Stat()
	if err != nil {
		return false
	}
	otherInfo, err := other.Stat()
	return err == nil && os.SameFile(info, otherInfo)
}

// plain makes text that somebody else wrote safe to show on a terminal: what
// would move the cursor, change colors, reorder letters or hide them is spelled
// out. Line breaks and tabs stay. The spelling is that of JSON, so that JSON
// text stays the same document.
func plain(s string) string {
	if !strings.ContainsFunc(s, harmful) && utf8.ValidString(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range s {
		switch {
		case !harmful(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// harmful tells the characters that do something instead of being seen. The
// joiners that scripts and emoji need are not among them.
func harmful(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// line is plain text on one line of at most limit characters.
func line(s string, limit int) string {
	s = strings.Join(strings.Fields(cut(s, 4*limit+4)), " ")
	s = plain(s)
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// cut shortens text to a number of bytes, between two letters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// clip is plain text of at most limit bytes, and says so where it is shortened.
func clip(s string, limit int) string {
	short := cut(s, limit)
	if len(short) < len(s) {
		return plain(short) + fmt.Sprintf("… (%d more bytes)", len(s)-len(short))
	}
	return plain(s)
}

// indent puts text below a heading.
func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// shellWord writes an argument so that a shell reads it as it is.
func shellWord(s string) string {
	s = plain(s)
	const safe = "_@%+=:,./-"
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(safe, r))
	}
	if s != "" && !strings.ContainsFunc(s, odd) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
