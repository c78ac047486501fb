// Package cli is the command line: flags in, text or JSON out.
//
// It holds no rules of the protocol and keeps no state; what a command does is
// done by the packages it calls. Results go to standard output and nothing else
// does; progress, errors and hints go to standard error.
//
// Start reading at [Main]; every command has a file of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/config"
)

// Exit statuses. They are documented in "legation --help".
const (
	exitOK          = 0
	exitError       = 1   // the command could not do what it was asked
	exitUsage       = 2   // the command line is wrong
	exitNotDone     = 3   // the task ended, but not with success, or a check could not look
	exitNeedsAnswer = 4   // the task waits for input or authorization
	exitInterrupted = 130 // Ctrl-C
)

// exitStatus ends a command with a status and nothing more to say.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// couldNotLook is why a check found neither that something differs nor that
// nothing does.
type couldNotLook struct{ error }

func (e couldNotLook) Unwrap() error { return e.error }

// usageError is a command line that cannot be obeyed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer

	// settings are what the environment and the defaults say. They are read
	// once: what is secret in the environment is taken out of it then.
	settings func() (config.Config, error)
}

// Main runs one command and returns the exit status of the process. A first
// Ctrl-C ends the command's context; a second one ends the process.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal does what it does by default

	root := newRoot(streams{in: stdin, out: stdout, err: stderr, settings: sync.OnceValues(config.Load)})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var status exitStatus
	var usage usageError
	var blind couldNotLook
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(stderr, "legation: error:", err)
	if hint := hintFor(err); hint != "" {
		fmt.Fprintln(stderr, "legation: hint:", hint)
	}
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &blind):
		return exitNotDone
	}
	return exitError
}

func newRoot(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "legation",
		Short: "Publish agents over A2A, and hand steps to remote ones",
		Long: `Legation speaks the Agent2Agent protocol (A2A 1.0, JSON-RPC) in both roles:
it publishes programs and language models as skills, and hands steps to remote
agents and follows them to their end.

Exit statuses: 0 done; 1 the command failed; 2 wrong usage; 3 the task ended
without success; 4 the task waits for input or authorization; 130 interrupted.
Those of "conformance check" are in its own help.`,
		Example: `  legation demo
  legation serve --publish 'wordcount=wc -w'
  legation send http://127.0.0.1:8700 'how many words are these?'`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		Args:          takesCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(wrongFlag)
	root.SetVersionTemplate("{{.Version}}")
	const speak, administer = "speak", "administer"
	root.AddGroup(
		&cobra.Group{ID: speak, Title: "Publish agents and call them:"},
		&cobra.Group{ID: administer, Title: "Administer an installation:"},
	)
	add(root, speak, newServe(io), newDemo(io), newSend(io), newTask(io), newCard(io))
	add(root, administer, newApply(io), newGet(io), newDelete(io), newSchema(io), newSecret(io),
		newClient(io), newAgent(io), newPerson(io), newAudit(io))
	root.AddCommand(newConformance(io), newVersion(io))
	wrapArgs(root)
	return root
}

// add puts commands under a heading of the help, in order.
func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.GroupID = group
	}
	root.AddCommand(commands...)
}
