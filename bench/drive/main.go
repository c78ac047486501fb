// Command drive measures Legation beside a server on a2a-go and beside plain
// net/http, and prints the ratios as a Markdown table.
//
// It starts the three servers, which lie beside it, as child processes on the
// loopback. A load runs against one server at a time, in turns, so that what
// else the machine does meets all of them; the figures are medians over the
// rounds. Everything is bounded in count and in time. Nothing is asserted: what
// a figure means on a machine is for its reader to say.
//
// Start reading at [run]; the loads are in loads.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// settings are what can be set.
type settings struct {
	dir           string
	rounds        int
	time          time.Duration
	tasks         int
	subscriptions int
	limit         time.Duration
	profiles      string
	only          string
}

func main() {
	var s settings
	flag.StringVar(&s.dir, "dir", ".", "existing directory on the disk to measure; a temporary one is made in it")
	flag.IntVar(&s.rounds, "rounds", 3, "rounds of each load, 1 to 25")
	flag.DurationVar(&s.time, "time", time.Second, "how long a load runs in a round, at most 30s")
	flag.IntVar(&s.tasks, "tasks", 10_000, "tasks there are when they are listed, 100 to 1000000")
	flag.IntVar(&s.subscriptions, "subscriptions", 2_000, "idle subscriptions whose memory is measured, 100 to 15000")
	flag.DurationVar(&s.limit, "limit", 6*time.Minute, "end the whole run after this, whatever is missing")
	flag.StringVar(&s.profiles, "profiles", "", "directory for CPU profiles of ours, one for each start; none if empty")
	flag.StringVar(&s.only, "only", "", "measure one of memory, tasks, messages, streams and callers; everything if empty")
	flag.Parse()
	if err := s.check(); err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	err := measureAll(ctx, s)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(1)
	}
}

func (s settings) check() error {
	switch {
	case s.rounds < 1 || s.rounds > 25:
		return fmt.Errorf("--rounds %d is not in 1 to 25", s.rounds)
	case s.time <= 0 || s.time > 30*time.Second:
		return fmt.Errorf("--time %v is not above 0 and at most 30s", s.time)
	case s.tasks < 100 || s.tasks > 1_000_000:
		return fmt.Errorf("--tasks %d is not in 100 to 1000000", s.tasks)
	case s.subscriptions < 100 || s.subscriptions > 15_000:
		return fmt.Errorf("--subscriptions %d is not in 100 to 15000", s.subscriptions)
	case !slices.Contains([]string{"", "memory", "tasks", "messages", "streams", "callers"}, s.only):
		return fmt.Errorf("--only %q is not memory, tasks, messages, streams or callers", s.only)
	case s.limit <= 0:
		return fmt.Errorf("--limit %v is not above 0", s.limit)
	}
	return nil
}

func measureAll(ctx context.Context, s settings) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return run(ctx, filepath.Dir(self), s, os.Stdout)
}

// run measures everything with the servers in bin and prints the report. Where
// it fails, it reports what was measured until then.
func run(ctx context.Context, bin string, s settings, out io.Writer) error {
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{settings: s, bin: bin, dir: dir, began: time.Now()}

	busy := loadAverage()
	b.progress("disk")
	syncs, err := syncsPerSecond(dir, s.time)
	if err != nil {
		return err
	}
	var idle memory
	if s.wants("memory") {
		b.progress("memory")
		if idle, err = b.memory(ctx); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	var rows []row
	for _, stage := range stages(s) {
		if !s.wants(stage.name) {
			continue
		}
		more, failure := b.stage(ctx, stage)
		rows = append(rows, more...)
		if failure != nil {
			err = fmt.Errorf("%s: %w", stage.name, failure)
			break
		}
	}
	report(out, facts(b.bin, dir, busy, syncs, s), rows, idle)
	return err
}

func (s settings) wants(stage string) bool { return s.only == "" || s.only == stage }

// bench is one run.
type bench struct {
	settings
	bin, dir string
	servers  int // started so far
	began    time.Time
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.1fs  %s\n", time.Since(b.began).Seconds(), fmt.Sprintf(format, args...))
}
