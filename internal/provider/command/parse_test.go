package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/provider/command"
)

func TestParse(t *testing.T) {
	tests := map[string][]string{
		"wc -w":                    {"wc", "-w"},
		" \twc\r\n  -w ":           {"wc", "-w"},
		`a 'b  c' "d  e"`:          {"a", "b  c", "d  e"},
		`a '' ""`:                  {"a", "", ""},
		`a'b'"c"d\e`:               {"abcde"},
		`a b\ c \\ \' \"`:          {"a", "b c", `\`, `'`, `"`},
		`a 'b\'`:                   {"a", `b\`},
		`a "b\"c\\d\n"`:            {"a", `b"c\d\n`},
		`a '"' "'"`:                {"a", `"`, `'`},
		"a $HOME *.go | b > c; d&": {"a", "$HOME", "*.go", "|", "b", ">", "c;", "d&"},
		"a é\u3000\U0001F600":      {"a", "é\u3000\U0001F600"},
	}
	for line, want := range tests {
		got, err := command.Parse(line)
		if err != nil {
			t.Errorf("Parse(%q) error = %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", line, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]string{
		"":            "command line: it names no program",
		"  ":          "command line: it names no program",
		"'' a":        "command line: it names no program",
		"é 'b":        "command line: the quote at position 3 is not closed",
		`a "b\"`:      "command line: the quote at position 3 is not closed",
		`a b\`:        "command line: nothing follows the backslash at position 4",
		"a \x00":      "command line: it is not text",
		"a \\\x00":    "command line: it is not text",
		"a \xff":      "command line: it is not text",
		`a 'b' "c" "`: "command line: the quote at position 11 is not closed",
	}
	for line, want := range tests {
		if words, err := command.Parse(line); err == nil || err.Error() != want {
			t.Errorf("Parse(%q) = %q, %v; want %s", line, words, err, want)
		}
	}
}

// Words in single quotes come back as they were.
func FuzzParse(f *testing.F) {
	f.Add("wc", "-w")
	f.Add("a b", `"\`)
	f.Fuzz(func(t *testing.T, program, argument string) {
		command.Parse(program + argument) // whatever it is, it does not panic
		quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
		words, err := command.Parse(quote(program) + " " + quote(argument))
		if err != nil {
			return
		}
		if diff := cmp.Diff([]string{program, argument}, words); diff != "" {
			t.Errorf("words (-want +got):\n%s", diff)
		}
	})
}
