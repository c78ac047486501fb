package card

import (
	"strings"
	"unicode/utf8"
)

const maxExcerpt = 80 // bytes

// bounded cuts what somebody else wrote to what fits into an error.
func bounded(s string) string {
	if len(s) <= maxExcerpt {
		return s
	}
	cut := maxExcerpt
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// algorithmList is the algorithms in words.
func algorithmList() string {
	var names []string
	for _, alg := range Algorithms() {
		names = append(names, string(alg))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
