//go:build unix

package command_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/command"
)

func TestOutput(t *testing.T) {
	long := strings.Repeat("aé€\U0001F600\n", 30_000)
	tests := map[string]struct {
		script string
		input  []string
		want   string
	}{
		"input comes back":             {"cat", []string{"a", "b"}, "a\nb"},
		"a long text":                  {"cat", []string{long}, long},
		"input nobody reads":           {"exit 0", []string{long}, ""},
		"output closed before the end": {"echo a; exec >&-; exit 0", []string{"x"}, "a\n"},
		"input closed early":           {"exec <&-; echo a", []string{long}, "a\n"},
		"arguments are not expanded":   {`printf %s "$1"`, []string{"x"}, "$HOME * | ;"},
		"an empty message":             {"cat", []string{""}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out recorder
			outcome, err := shell(t, command.Config{}, test.script, "$HOME * | ;").Run(t.Context(), say(test.input...), &out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(agent.Completed(), outcome); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if len(out.puts) == 0 {
				t.Fatal("nothing was put out, want at least one part")
			}
			if got := out.bytes(t); got != test.want {
				t.Errorf("output has %d bytes, want %d", len(got), len(test.want))
			}
			for _, p := range out.puts {
				part := p.artifact.Parts[0]
				text, ok := part.Content.(a2a.PartText)
				if !ok || part.MediaType != "text/plain" || !utf8.ValidString(string(text)) {
					t.Errorf("a part is %T of type %q, want UTF-8 text", part.Content, part.MediaType)
				}
			}
		})
	}
}

func TestOutputThatIsNotText(t *testing.T) {
	var out recorder
	outcome, err := shell(t, command.Config{}, `printf 'a\377\000b'`).Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted {
		t.Fatalf("Run() = %v, %v", outcome, err)
	}
	want := []a2a.Part{a2a.RawPart([]byte("a\xff\x00b"), "", "application/octet-stream")}
	if diff := cmp.Diff(want, out.puts[0].artifact.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	out.bytes(t)
}

// The program waits for the reader of its first chunk, so that the test ends
// only if chunks leave while it runs.
func TestOutputIsPutOutAsItComes(t *testing.T) {
	fifo := newFifo(t)
	out := recorder{}
	out.hook = func(put) error {
		if len(out.puts) == 1 {
			return os.WriteFile(fifo, []byte("go on\n"), 0o600)
		}
		return nil
	}
	// The letter é is cut in two; its first byte must not leave alone.
	script := `printf 'one \303'; read line < "$1"; printf '\251 two %s' "$line"; exec >&-`
	outcome, err := shell(t, command.Config{}, script, fifo).Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted {
		t.Fatalf("Run() = %v, %v", outcome, err)
	}
	if got := out.puts[0].artifact.Text(); got != "one " {
		t.Errorf("first chunk is %q, want %q", got, "one ")
	}
	if got := out.bytes(t); got != "one é two go on" {
		t.Errorf("output is %q", got)
	}
}

func TestFailures(t *testing.T) {
	const marker = "MARKER-7c1f"
	tests := map[string]struct {
		cfg    command.Config
		script string
		want   string
		output string
	}{
		"status":          {command.Config{}, "echo " + marker + " >&2; exit 3", "the program ended with status 3; reference ", ""},
		"status, output":  {command.Config{}, "echo half; printf " + marker + " >&2; exit 1", "the program ended with status 1; reference ", "half\n"},
		"signal":          {command.Config{}, "echo " + marker + " >&2; kill -KILL $$", "the program was ended by a signal: killed; reference ", ""},
		"time":            {command.Config{Timeout: 300 * time.Millisecond}, "echo " + marker + " >&2; echo half; sleep 1000", "the program did not end within 300ms and was stopped; reference ", "half\n"},
		"too much output": {command.Config{MaxOutput: 10}, "echo " + marker + " >&2; while echo abc; do :; done", "the program put out more than 10 bytes and was stopped; reference ", "abc\nabc\nab"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var log buffer
			test.cfg.Logger = log.logger()
			var out recorder
			outcome, err := shell(t, test.cfg, test.script).Run(t.Context(), say("SAID-"+marker), &out)
			if err != nil {
				t.Fatal(err)
			}
			reference, ok := strings.CutPrefix(reason(outcome), test.want)
			if outcome.State != a2a.TaskStateFailed || !ok || reference == "" {
				t.Fatalf("outcome is %s %q, want failed with %q and a reference", outcome.State, reason(outcome), test.want)
			}
			if got := out.bytes(t); got != test.output {
				t.Errorf("output is %q, want %q", got, test.output)
			}
			text := log.String()
			if !strings.Contains(text, `"stderr":"`+marker+`"`) {
				t.Errorf("the log has no stderr %s:\n%s", marker, text)
			}
			for line := range strings.Lines(text) {
				if !strings.Contains(line, reference) {
					t.Errorf("a record without the reference %s: %s", reference, line)
				}
			}
			if strings.Contains(text, "SAID") {
				t.Errorf("the log repeats the message:\n%s", text)
			}
		})
	}
}

func TestALargeOutputIsCappedExactly(t *testing.T) {
	const limit = 300_000
	var out recorder
	outcome, err := shell(t, command.Config{MaxOutput: limit}, "while echo abcdefghijklmnopqrstuvwxyz; do :; done").Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateFailed {
		t.Fatalf("Run() = %v, %v", outcome, err)
	}
	if got := len(out.bytes(t)); got != limit {
		t.Errorf("output has %d bytes, want %d", got, limit)
	}
}

func TestStandardErrorIsBounded(t *testing.T) {
	var log buffer
	script := `i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789 >&2; echo >&2; i=$((i+1)); done; echo done`
	var out recorder
	outcome, err := shell(t, command.Config{Logger: log.logger()}, script).Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted {
		t.Fatalf("Run() = %v, %v", outcome, err)
	}
	// Each line has 41 bytes with its newline, and an empty one follows.
	if got, want := strings.Count(log.String(), `"stderr":"0123456789`), 65536/42+1; got != want {
		t.Errorf("%d lines are logged, want %d", got, want)
	}
	if !strings.Contains(log.String(), "more to its standard error than is logged") {
		t.Error("the log does not say that something is missing")
	}
}

func TestMessagesWithoutText(t *testing.T) {
	var out recorder
	turn := agent.Turn{Message: a2a.NewMessage(a2a.RoleUser, a2a.RawPart([]byte("x"), "x.txt", "text/plain"))}
	outcome, err := shell(t, command.Config{}, "cat").Run(t.Context(), turn, &out)
	if err != nil {
		t.Fatal(err)
	}
	if outcome.State != a2a.TaskStateRejected || reason(outcome) != "this agent takes text, and the message has no text part" {
		t.Errorf("outcome is %s %q", outcome.State, reason(outcome))
	}
	if len(out.puts) != 0 {
		t.Errorf("%d chunks were put out, want none", len(out.puts))
	}
}

func TestAProgramThatIsGone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := command.New(command.Config{Program: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	outcome, err := a.Run(t.Context(), say("x"), &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	if outcome.State != a2a.TaskStateFailed || !strings.HasPrefix(reason(outcome), "the program could not be started; reference ") ||
		strings.Contains(reason(outcome), path) {
		t.Errorf("outcome is %s %q", outcome.State, reason(outcome))
	}
}

func TestAnOutputThatFailsStopsTheProgram(t *testing.T) {
	full := errors.New("the store is full")
	tests := map[string]string{
		"while it runs":  "while echo abc; do :; done",
		"at its end":     "echo abc",
		"without output": "exit 0",
		"after it fails": "echo abc; exit 1",
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			out := recorder{hook: func(put) error { return full }}
			if _, err := shell(t, command.Config{}, script).Run(t.Context(), say("x"), &out); !errors.Is(err, full) {
				t.Errorf("Run() error = %v, want %v", err, full)
			}
		})
	}
}

func TestAPanicOfTheLogIsAFailure(t *testing.T) {
	cfg := command.Config{Logger: slog.New(panicking{slog.DiscardHandler})}
	outcome, err := shell(t, cfg, "echo x >&2; sleep 1000").Run(t.Context(), say("x"), &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	if outcome.State != a2a.TaskStateFailed || !strings.HasPrefix(reason(outcome), "the program could not be run; reference ") {
		t.Errorf("outcome is %s %q", outcome.State, reason(outcome))
	}
}

// panicking is a log handler that does so at information.
type panicking struct{ slog.Handler }

func (p panicking) Enabled(context.Context, slog.Level) bool { return true }
func (p panicking) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p panicking) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelInfo {
		panic("no disk")
	}
	return nil
}
