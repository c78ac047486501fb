// Package command is the provider that runs a local program for every turn: the
// text of the message on its standard input, the result from its standard
// output.
//
// It is not a shell and not a sandbox: the program is started from a list of
// arguments, in its own process group, with the rights of this process. A
// caller chooses nothing but what is on its standard input.
//
// Invariant: when a turn ends, for whatever reason, the program has ended and
// so have the processes it left in its group. Start reading at [Config], then
// [Agent.Run].
package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/agent"
)

const (
	defaultTimeout   = time.Hour
	defaultStopGrace = 2 * time.Second
	defaultMaxOutput = 8 << 20
	maxStderr        = 64 << 10
)

// Config is a program and its limits. Only Program is required.
type Config struct {
	// Program is the program and its arguments, as [Parse] makes them from a
	// line. A name without a slash is looked up once, by [New], in the PATH of
	// this process.
	Program []string

	// Timeout ends a program that is still running, within the deadline of the
	// turn's context. Zero means one hour.
	Timeout time.Duration

	// StopGrace is how long a program that is told to stop (SIGTERM) may take
	// before it is killed (SIGKILL). Zero means two seconds.
	StopGrace time.Duration

	// Dir is the directory the program starts in. Empty means that of this
	// process.
	Dir string

	// Env is the program's whole environment, as "NAME=value". Nil means PATH,
	// HOME, LANG and TMPDIR of this process and nothing else; empty but not nil
	// means none.
	Env []string

	// MaxOutput is how many bytes the program may put out; one that puts out
	// more is stopped and its turn fails. Zero means 8 MiB.
	MaxOutput int64

	// Logger receives how programs ended and what they wrote to their standard
	// error, up to 64 KiB of each. A program that repeats its input there
	// brings message content into the log. Nil discards it all.
	Logger *slog.Logger
}

// Agent runs a program for every turn, for many turns at once. It is not
// repeatable: what half a program did is unknown.
type Agent struct {
	cfg  Config
	path string
	log  *slog.Logger
}

var _ agent.Agent = (*Agent)(nil)

// New checks the configuration and finds the program.
func New(cfg Config) (*Agent, error) {
	if len(cfg.Program) == 0 || cfg.Program[0] == "" {
		return nil, errors.New("command: no program is given")
	}
	if cfg.Timeout < 0 || cfg.StopGrace < 0 || cfg.MaxOutput < 0 {
		return nil, errors.New("command: a limit is negative")
	}
	path, err := find(cfg.Program[0])
	if err != nil {
		return nil, err
	}
	if cfg.Dir != "" {
		if info, err := os.Stat(cfg.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("command: the working directory %q is not there", cfg.Dir)
		}
	}
	for _, variable := range cfg.Env {
		if name, _, ok := strings.Cut(variable, "="); !ok || name == "" {
			return nil, errors.New("command: every variable of the environment is written NAME=value")
		}
	}
	cfg.Program = slices.Clone(cfg.Program)
	if cfg.Env = slices.Clone(cfg.Env); cfg.Env == nil {
		cfg.Env = minimalEnv()
	}
	cfg.Timeout = orDefault(cfg.Timeout, defaultTimeout)
	cfg.StopGrace = orDefault(cfg.StopGrace, defaultStopGrace)
	cfg.MaxOutput = orDefault(cfg.MaxOutput, defaultMaxOutput)
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Agent{cfg: cfg, path: path, log: log}, nil
}

// find gives the absolute path of a program, so that no later change of
// directory or PATH makes it another one.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrDot):
		return "", fmt.Errorf("command: the program %q is in the current directory; if that one is meant write ./%s", name, name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("command: the file %q may not be executed", name)
	case err != nil && strings.ContainsRune(name, filepath.Separator):
		return "", fmt.Errorf("command: the program %q is not there or is not executable", name)
	case err != nil:
		return "", fmt.Errorf("command: the program %q is not in the PATH; give its full path", name)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("command: find the program %q: %w", name, err)
	}
	return path, nil
}

// minimalEnv has no secret of this process in it. It is never nil, which would
// hand on everything.
func minimalEnv() []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func orDefault[T int64 | time.Duration](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
