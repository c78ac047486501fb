package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

func newTask(io streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Look at tasks of an agent, or of this installation, watch and cancel them",
		Long: `With the URL of an agent these commands ask that agent, and see what it shows to
you. Without one they ask the administration of an installation, which knows
the tasks of all its agents and callers.`,
		Example: `  legation task list http://127.0.0.1:8700
  legation task get http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000
  legation task list --state working`,
		Args: takesCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTaskGet(io), newTaskList(io), newTaskCancel(io), newTaskWatch(io))
	return cmd
}

func newTaskCancel(io streams) *cobra.Command {
	var r remote
	var here administration
	var q taskQuery
	var out output
	cmd := &cobra.Command{
		Use:   "cancel [URL] ID",
		Short: "Cancel a task, of an agent or of this installation",
		Long: `Cancel asks the agent to end a task and waits until that is certain. Without a URL
it cancels a task of this installation, whoever began it.

The exit status is 0 if the task is canceled, also if it was before, and 3 if it
ended in another way.

` + connectionText,
		Example: `  legation task cancel http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000
  legation task cancel 0198c2f4-1111-7000-8000-000000000000 -o json`,
		Args: takesTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if len(args) == 1 {
				return here.run(cmd, io, &r, func(ctx context.Context, in *installation) error {
					return q.cancel(ctx, io, in, args[0], &out)
				})
			}
			r.url = args[0]
			if err := here.unused(cmd); err != nil {
				return err
			}
			ctx, cancel := r.limit(cmd.Context())
			defer cancel()
			lost := interruption{leaving: "Ctrl-C stops waiting", tell: func(text string) { fmt.Fprintf(io.err, "%s  %s\n", clock(), text) }}
			c, _, err := r.connect(ctx, lost.listen)
			if err != nil {
				return err
			}
			defer c.Close()
			return cancelTask(ctx, io, c, &r, &lost, a2a.TaskID(args[1]), out.json())
		},
	}
	out.flag(cmd, "the task as it is then")
	r.flags(cmd, askTimeout)
	q.flags(cmd, "the task")
	here.flags(cmd)
	return cmd
}

// cancelTask believes a cancellation when it sees it.
func cancelTask(ctx context.Context, io streams, c *client.Client, r *remote, lost *interruption, id a2a.TaskID, asJSON bool) error {
	shown := line(string(id), 200)
	task, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
	over := errors.Is(err, a2a.ErrTaskNotCancelable)
	switch {
	case over:
		if task, err = c.GetTask(ctx, &a2a.GetTaskRequest{ID: id, HistoryLength: new(int32)}); err != nil {
			return r.wrap(err)
		}
	case err != nil:
		return r.wrap(err)
	case !task.Status.State.Terminal():
		fmt.Fprintf(io.err, "The agent took the request; waiting until task %s has ended (it is %s).\n", shown, stateWord(task.Status.State))
		task, err = c.Follow(ctx, id, client.FollowOptions{Known: task, UntilTerminal: true, Limit: r.timeout})
		if err != nil {
			lost.end(err)
			return &advisedError{
				err:    fmt.Errorf("task %s was asked to end, and it is not known whether it did: %w", shown, r.wrap(err)),
				advice: "see with: " + r.command("task get", nil, string(id)),
			}
		}
	}
	done := io.out
	if asJSON {
		done = io.err // standard output is the document alone
		if err := printJSON(io, task.AppendJSON(nil)); err != nil {
			return err
		}
	}
	switch state := task.Status.State; {
	case state == a2a.TaskStateCanceled && over:
		fmt.Fprintf(done, "Task %s was canceled already.\n", shown)
	case state == a2a.TaskStateCanceled:
		fmt.Fprintf(done, "Task %s is canceled.\n", shown)
	case state.Terminal():
		fmt.Fprintf(io.err, "Task %s has ended already: it is %s, and nothing was canceled.\n", shown, stateWord(state))
		return exitStatus(exitNotDone)
	default:
		fmt.Fprintf(io.err, "The agent does not let task %s be canceled; it is %s.\n", shown, stateWord(state))
		return exitStatus(exitNotDone)
	}
	return nil
}

func newTaskWatch(io streams) *cobra.Command {
	var r remote
	var out output
	var dir string
	cmd := &cobra.Command{
		Use:   "watch URL ID",
		Short: "Follow a task to its end",
		Long: `Watch shows a task as send does: states to standard error as they come, the
result to standard output. Of a task that has ended it shows how.

Ctrl-C stops watching and nothing else. Exit statuses are those of send.`,
		Example: `  legation task watch http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000`,
		Args:    takes(2, "the URL of an agent and a task id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.url = args[0]
			if err := out.check(); err != nil {
				return err
			}
			ctx, cancel := r.limit(cmd.Context())
			defer cancel()
			v := newConversation(io, &r, out.json(), dir)
			c, _, err := r.connect(ctx, v.listen)
			if err != nil {
				return err
			}
			defer c.Close()
			if err := watch(ctx, c, a2a.TaskID(args[1]), v); err != nil {
				if v.taskID() == "" {
					return r.wrap(err)
				}
				return v.stopped(cmd.Context(), ctx, err)
			}
			return v.finish(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to write the files of the result to; nothing that exists is replaced")
	out.flag(cmd, "the task at its end")
	r.flags(cmd, workTimeout)
	return cmd
}

// watch shows a task until it ends or waits for a message. An authorization is
// given elsewhere, so that is waited for where the agent streams.
func watch(ctx context.Context, c *client.Client, id a2a.TaskID, v *conversation) error {
	stream, err := c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id})
	if errors.Is(err, client.ErrUnsupported) || errors.Is(err, a2a.ErrUnsupportedOperation) {
		task, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
		if err != nil {
			return err
		}
		if err := v.event(a2a.StreamResponse{Payload: task}); err != nil || task.Status.State.Interrupted() {
			return err
		}
		return follow(ctx, c, task, v)
	}
	if err != nil {
		return err
	}
	for event, err := range stream.All() {
		if err != nil {
			return err
		}
		if err := v.event(event); err != nil || v.state() == a2a.TaskStateInputRequired {
			return err
		}
	}
	return nil
}

// parseState reads a state as people type it: working, input-required, or as
// the protocol writes it.
func parseState(text string) (a2a.TaskState, error) {
	if text == "" {
		return a2a.TaskStateUnspecified, nil
	}
	name := strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(text))
	state := a2a.TaskState("TASK_STATE_" + strings.TrimPrefix(name, "TASK_STATE_"))
	if !state.Known() {
		return "", fmt.Errorf("--state: %q is not submitted, working, completed, failed, canceled, input-required, rejected or auth-required", cut(text, 60))
	}
	return state, nil
}

// parseSince reads a time, or how long ago it was.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--since: %q is neither a time like 2026-01-31T12:00:00Z nor a duration like 2h", cut(text, 60))
	}
	return at, nil
}
