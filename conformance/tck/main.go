// The command tck runs the public conformance kit of the protocol, a2a-tck,
// against the scripted test agent, and writes down what came of it.
//
// The kit is somebody else's and no part of this repository: its checkout is
// named on the command line and left as it is. What runs is the commit itself,
// cloned into a temporary directory, in a Python environment of its own below
// .bin, with the packages that the kit's lock file names.
//
// Invariant: nothing is waved through. A test that fails and is not one of
// [faults], a test that is skipped for a reason that [skips] does not know, and
// an entry of either list that is no longer needed fail the run, so that both
// lists only shrink. Start reading at [run], then [judge].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(untilSignal()) }

func untilSignal() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process
	return command(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// command does what the arguments say and returns the exit code: 1 for a
// failure, 2 for arguments that make no sense.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "tck: error: %v\ntck: hint: --help lists the flags\n", err)
		return 2
	}
	if err := run(ctx, s, stdout); err != nil {
		fmt.Fprintf(stderr, "tck: error: %v\n", err)
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(stderr, "tck: hint: %s\n", hint)
		}
		return 1
	}
	return 0
}
