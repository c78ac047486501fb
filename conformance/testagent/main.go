// The command testagent is a scripted A2A agent for other people's conformance
// kits, SDK clients and load drivers: the prefix of a message's id, or of its
// text, says what becomes of it.
//
// It runs on the real server, engine and store and is no part of the product:
// a repeated message makes a task of its own, there are no limits per caller,
// and one extension is required of some messages only.
//
// Invariant: what kits need and the product would not do is done here, never by
// a switch of the server's. Start reading at [scripts], then [newService].
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
	s, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "testagent: error: %v\ntestagent: hint: --help lists the flags\n", err)
		return 2
	}
	if err := run(ctx, s, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "testagent: error: %v\n", err)
		return 1
	}
	return 0
}
