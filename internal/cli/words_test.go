package cli_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/cli"
)

func TestPlain(t *testing.T) {
	tests := map[string]string{
		"":                                  "",
		"Ω\tand\n\U0001F600":                "Ω\tand\n\U0001F600",
		"family \U0001F468\u200d\U0001F469": "family \U0001F468\u200d\U0001F469",
		"a\r\nb\rc":                         `a` + "\n" + `b\u000dc`,
		"\x1b]0;title\x07":                  `\u001b]0;title\u0007`,
		"\u009b31m":                         `\u009b31m`,
		"\u202eevil\u2066":                  `\u202eevil\u2066`,
		"\ufeffx\u00ad\u2028":               `\ufeffx\u00ad\u2028`,
		"hidden\U000E0041":                  `hidden\udb40\udc41`,
		"private\ue000":                     `private\ue000`,
		"broken\xff":                        "broken\uFFFD",
		"backspace\b\x7f":                   `backspace\u0008\u007f`,
	}
	for text, want := range tests {
		if got := cli.Plain(text); got != want {
			t.Errorf("Plain(%q) = %q, want %q", text, got, want)
		}
	}
}

// JSON stays the same document.
func TestPlainKeepsJSON(t *testing.T) {
	quoted, err := jsontext.AppendQuote(nil, "a\u009b\u202e\U000E0041\n\x1b")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := jsontext.AppendUnquote(nil, cli.Plain(string(quoted)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a\u009b\u202e\U000E0041\n\x1b", string(shown)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTextIsBounded(t *testing.T) {
	if got, want := cli.Line("  one\n two\tthree ", 100), "one two three"; got != want {
		t.Errorf("Line() = %q, want %q", got, want)
	}
	if got, want := cli.Line(strings.Repeat("ü", 1000), 5), "üüüü…"; got != want {
		t.Errorf("Line() = %q, want %q", got, want)
	}
	if got, want := cli.Clip(strings.Repeat("ü", 10), 5), "üü… (16 more bytes)"; got != want {
		t.Errorf("Clip() = %q, want %q", got, want)
	}
	if got, want := cli.Clip("short", 5), "short"; got != want {
		t.Errorf("Clip() = %q, want %q", got, want)
	}
}

// What is shown to be pasted reaches a command as it was meant.
func TestShellWord(t *testing.T) {
	for _, word := range []string{"", "t-1", "two words", "it's", `"$HOME" && rm -rf * # \`, "http://127.0.0.1:1/?a=b&c", "~", "ü\nx"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+cli.ShellWord(word)).Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("no shell here")
		}
		if err != nil || string(out) != word {
			t.Errorf("a shell reads %s as %q, %v; want %q", cli.ShellWord(word), out, err, word)
		}
	}
	if got := cli.ShellWord("a\x1b[2J"); strings.ContainsRune(got, 0x1b) {
		t.Errorf("ShellWord() = %q has a control character", got)
	}
}

// Errors that no command of today leads to have hints all the same.
func TestHints(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{errors.New("anything"), ""},
		{&guard.AddressError{Host: "h", Addr: netip.MustParseAddr("10.0.0.1"), Why: "a private address"}, "only the host that is typed"},
		{&client.LostTaskError{TaskID: "t-1", Err: errors.New("gone")}, "removed task t-1"},
		{&guard.DialError{Host: "h", Phase: guard.PhaseConnect, Err: context.DeadlineExceeded}, "no answer at all"},
		{&guard.DialError{Host: "h", Phase: guard.PhaseConnect, Err: errors.New("odd")}, ""},
		{&guard.DialError{Host: "h", Phase: guard.PhaseTLS, Err: errors.New("odd")}, "a port for https"},
		{fmt.Errorf("x: %w", context.DeadlineExceeded), "longer --timeout"},
		{client.ErrStillRunning, "longer --timeout"},
		{&client.HTTPError{Method: "agent card", Status: 503}, "busy or about to restart"},
		{&client.InterfaceError{}, "does not say how the agent is called"},
		{&client.InterfaceError{Rejected: []client.Rejected{{Why: "is at another origin"}}}, "can not lead to another host"},
		{&client.HTTPError{Method: "SendMessage", Status: 401, Said: "who are you?"}, "wants credentials"},
		{&client.HTTPError{Method: "SendMessage", Status: 403, Said: "not from there"}, ""},
		{&client.InvalidResponseError{Method: "SendMessage", Why: "odd"}, ""},
		{&guard.TooLargeError{Limit: 1}, "to ask for less of a task: legation task get URL --history 0 ID"},
		{&client.NoCredentialsError{Alternatives: []client.Alternative{{{Name: "c", Kind: &a2a.MutualTlsSecurityScheme{}}}}}, "wants a client certificate"},
	}
	for _, tt := range tests {
		got := cli.HintFor(tt.err)
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("hint for %v = %q, want %q in it", tt.err, got, tt.want)
		}
	}
}
