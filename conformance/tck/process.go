package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	largestOutput = 1 << 20
	// stopping is how long an interrupted process may take to end.
	stopping = 10 * time.Second
)

// process prepares a process that is interrupted when ctx ends, and killed if
// that does not help. It knows nothing of what the environment says about git
// directories, Python paths and plugins of pytest, nor of a proxy for this
// machine.
func process(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // Runs git, go and Python: that is its purpose.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopping
	cmd.Env = append(slices.DeleteFunc(os.Environ(), misleads),
		"PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost")
	return cmd
}

func misleads(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "PYTEST_PLUGINS",
	}, name)
}

// output runs a program and returns what it says, without space around it. What
// it says against it is part of the error.
func output(ctx context.Context, args ...string) (string, error) {
	var out, complaint bounded
	cmd := process(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", args[0], context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("%s: %w: %s", args[0], err, tail(complaint.String(), 1000))
	case out.more:
		return "", fmt.Errorf("%s says more than %d bytes", args[0], largestOutput)
	}
	return strings.TrimSpace(out.String()), nil
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept bytes.Buffer
	more bool
}

func (b *bounded) Write(p []byte) (int, error) {
	take := min(len(p), largestOutput-b.kept.Len())
	b.more = b.more || take < len(p)
	b.kept.Write(p[:take])
	return len(p), nil
}

func (b *bounded) String() string { return b.kept.String() }

// tail is the end of a text.
func tail(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}

// logged runs a program whose output goes to a log. An exit status that is one
// of those allowed is no error.
func logged(ctx context.Context, log io.Writer, dir string, allowed []int, args ...string) error {
	cmd := process(ctx, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", args[0], context.Cause(ctx))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && slices.Contains(allowed, exit.ExitCode()) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
