package remotes

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine is text that others may have put something into, fit for a line: no
// control characters, none that hide or reorder others, and bounded.
func oneLine(text string) string {
	const most = 400
	words := strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
	return cut(strings.Join(words, " "), most)
}

// quote is somebody else's word in quotation marks.
func quote(text string) string { return strconv.Quote(cut(text, 120)) }

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
