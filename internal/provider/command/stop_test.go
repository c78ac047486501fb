//go:build unix

package command_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/provider/command"
)

func newFifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// holders opens a fifo and returns a function that waits until every process
// that held it open for writing has ended.
func holders(t *testing.T, fifo string) (wait func()) {
	t.Helper()
	opened := make(chan *os.File, 1)
	go func() {
		file, err := os.Open(fifo) // waits for the first writer
		if err != nil {
			t.Error(err)
		}
		opened <- file
	}()
	return func() {
		file := <-opened
		defer file.Close()
		if _, err := io.Copy(io.Discard, file); err != nil {
			t.Error(err)
		}
	}
}

// A program and its child both hold a fifo open: its end is theirs.
func TestCancelEndsTheProgramAndItsChildren(t *testing.T) {
	tests := map[string]string{
		"when told":        `exec 3>"$1"; sleep 1000 & echo started; wait`,
		"when it will not": `trap '' TERM; exec 3>"$1"; sh -c 'echo started; while :; do sleep 1; done' & while :; do sleep 1; done`,
		"children only":    `exec 3>"$1"; (trap '' TERM; echo started; while :; do sleep 1; done) & wait`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			fifo := newFifo(t)
			wait := holders(t, fifo)
			ctx, cancel := context.WithCancel(t.Context())
			out := recorder{hook: func(put) error { cancel(); return nil }}
			_, err := shell(t, command.Config{StopGrace: 50 * time.Millisecond}, script, fifo).Run(ctx, say("x"), &out)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run() error = %v, want %v", err, context.Canceled)
			}
			wait()
		})
	}
}

func TestAProgramMayCleanUp(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	ctx, cancel := context.WithCancel(t.Context())
	out := recorder{hook: func(put) error { cancel(); return nil }}
	script := `trap 'echo bye > "$1"; exit 0' TERM; echo started; while :; do sleep 0.01; done`
	if _, err := shell(t, command.Config{StopGrace: time.Minute}, script, done).Run(ctx, say("x"), &out); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() error = %v, want %v", err, context.Canceled)
	}
	if text, err := os.ReadFile(done); err != nil || string(text) != "bye\n" {
		t.Errorf("the program left %q, %v; want bye", text, err)
	}
}

func TestACanceledTurnStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "file")
	if _, err := shell(t, command.Config{}, `: > "$1"`, file).Run(ctx, say("x"), &recorder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() error = %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Error("the program ran")
	}
}

func TestWhatAProgramLeavesBehindIsEnded(t *testing.T) {
	fifo := newFifo(t)
	wait := holders(t, fifo)
	var out recorder
	outcome, err := shell(t, command.Config{}, `exec 3>"$1"; sleep 1000 & echo done`, fifo).Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted || out.bytes(t) != "done\n" {
		t.Errorf("Run() = %v, %v, output %q", outcome, err, out.bytes(t))
	}
	wait()
}

// A process that left the group is out of reach. It holds all three pipes, and
// the turn ends all the same.
func TestAProcessThatLeftTheGroupHoldsNothingUp(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("NOT TESTED: this machine has no setsid command")
	}
	fifo, ready := newFifo(t), newFifo(t)
	script := `exec 3<&0; setsid sh -c 'echo left; : > "$2"; read line < "$1"' sh "$1" "$2" & read line < "$2"; echo done`
	var out recorder
	long := make([]byte, 1<<20) // more than a pipe holds, and nobody reads it
	for i := range long {
		long[i] = 'x'
	}
	outcome, err := shell(t, command.Config{}, script, fifo, ready).Run(t.Context(), say(string(long)), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted || out.bytes(t) != "left\ndone\n" {
		t.Errorf("Run() = %v, %v, output %q", outcome, err, out.bytes(t))
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil { // lets it end
		t.Error(err)
	}
}

// What a program wrote before its end is not lost to a reader that takes longer
// than any grace.
func TestASlowReaderLosesNothing(t *testing.T) {
	fifo := newFifo(t)
	wait := holders(t, fifo)
	var out recorder
	out.hook = func(put) error {
		if len(out.puts) == 1 {
			wait() // the program has ended, most of its output is in the pipe
		}
		return nil
	}
	a := shell(t, command.Config{}, `exec 3>"$1"; head -c 100000 /dev/zero | tr '\000' x`, fifo)
	outcome, err := a.Run(t.Context(), say("x"), &out)
	if err != nil || outcome.State != a2a.TaskStateCompleted {
		t.Fatalf("Run() = %v, %v", outcome, err)
	}
	if got := len(out.bytes(t)); got != 100_000 {
		t.Errorf("output has %d bytes, want 100000", got)
	}
}
