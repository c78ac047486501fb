package registry

import (
	"regexp"
	"strings"
	"unicode"
)

// appendYAML writes a node in block style. A scalar and an empty list end the
// line that they are in; the rest begins at the current position, which has the
// given indentation.
func appendYAML(out []byte, n node, indent int) []byte {
	switch {
	case n.kind == listNode && len(n.items) == 0:
		return append(out, "[]\n"...)
	case n.kind == listNode:
		for i, item := range n.items {
			if i > 0 {
				out = appendIndent(out, indent)
			}
			out = appendYAML(append(out, "- "...), item, indent+2)
		}
		return out
	case n.kind == objectNode && len(n.members) == 0:
		return append(out, "{}\n"...)
	case n.kind == objectNode:
		for i, m := range n.members {
			if i > 0 {
				out = appendIndent(out, indent)
			}
			out = append(out, m.name+":"...)
			if nested := len(m.value.members) + len(m.value.items); nested > 0 {
				out = appendIndent(append(out, '\n'), indent+2)
			} else {
				out = append(out, ' ')
			}
			out = appendYAML(out, m.value, indent+2)
		}
		return out
	case n.kind != textNode:
		return append(out, n.text+"\n"...)
	case plain(n.text):
		return append(out, n.text+"\n"...)
	case literal(n.text):
		return appendLiteral(out, n.text, indent)
	default:
		return append(appendQuoted(out, n.text), '\n')
	}
}

func appendIndent(out []byte, indent int) []byte { return append(out, strings.Repeat(" ", indent)...) }

// plainRE are texts that mean themselves without quotes: words that begin with a
// letter or a slash and have no punctuation that YAML could take for its own.
var plainRE = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./+-]*(:[A-Za-z0-9_./+-]+)*( [A-Za-z0-9(][A-Za-z0-9_./+();,-]*)*\.?$`)

// ambiguous words mean something else in some version of YAML.
var ambiguous = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null|nan|inf)$`)

func plain(s string) bool {
	if durationRE.MatchString(s) || sizeRE.MatchString(s) {
		return s != ""
	}
	return len(s) < 200 && plainRE.MatchString(s) && !ambiguous.MatchString(s)
}

// literal reports whether a text of several lines can be written as it is: no
// spaces where they would be lost or taken for indentation, nothing that cannot
// be seen.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") ||
		strings.Contains(s, strings.Repeat("\n", maxEmpty)) {
		return false
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if line != strings.TrimRight(line, " \t") || strings.HasPrefix(line, "\t") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '\n' && c != '\t' && !unicode.IsPrint(c) || c == 0xFEFF || c == 0x2028 || c == 0x2029 || c == 0x85
	})
}

func appendLiteral(out []byte, s string, indent int) []byte {
	mark := "|-\n"
	if strings.HasSuffix(s, "\n") {
		mark = "|\n"
	}
	out = append(out, mark...)
	for line := range strings.Lines(s) {
		if line != "\n" {
			out = appendIndent(out, indent)
		}
		out = append(out, line...)
	}
	if !strings.HasSuffix(s, "\n") {
		out = append(out, '\n')
	}
	return out
}
