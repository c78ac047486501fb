package cli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

const (
	maxListed   = 100_000
	maxPageSize = 100 // ListTasksRequest.page_size
)

// listing is one run of the command.
type listing struct {
	remote  remote
	output  output
	state   string
	since   string
	context string
	limit   int
}

func newTaskList(io streams) *cobra.Command {
	var l listing
	var here administration
	var q taskQuery
	cmd := &cobra.Command{
		Use:     "list [URL]",
		Aliases: []string{"ls"},
		Short:   "List tasks of an agent, or of this installation, the latest first",
		Long: `List shows tasks that an agent shows to you. Without a URL it lists the tasks of
this installation, of all its agents and callers.

` + connectionText,
		Example: `  legation task list http://127.0.0.1:8700
  legation task list http://127.0.0.1:8700 --state working --since 2h
  legation task list http://127.0.0.1:8700 --limit 1000 -o json
  legation task list --caller acme --state input-required`,
		Args: func(_ *cobra.Command, args []string) error {
			return takes(min(len(args), 1), "the URL of an agent, or nothing")(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				query, err := l.query()
				if err != nil {
					return err
				}
				return here.run(cmd, io, &l.remote, func(ctx context.Context, in *installation) error {
					return q.list(ctx, io, in, query.Status, l.limit, &l.output)
				}, "since", "context")
			}
			l.remote.url = args[0]
			if err := here.unused(cmd); err != nil {
				return err
			}
			return l.run(cmd.Context(), io)
		},
	}
	cmd.Flags().StringVar(&l.state, "state", "", "only tasks in this state, such as working or input-required")
	cmd.Flags().StringVar(&l.since, "since", "", "only tasks whose state changed since then: a time (RFC 3339), or how long ago (2h)")
	cmd.Flags().StringVar(&l.context, "context", "", "only tasks of this conversation")
	cmd.Flags().IntVar(&l.limit, "limit", 50, "list at most this many")
	l.output.flag(cmd, "an array of tasks")
	l.remote.flags(cmd, askTimeout)
	q.flags(cmd, "only tasks")
	here.flags(cmd)
	return cmd
}

// query checks the flags.
func (l *listing) query() (*a2a.ListTasksRequest, error) {
	if l.limit < 1 || l.limit > maxListed {
		return nil, usageError{fmt.Errorf("--limit must be from 1 to %d", maxListed)}
	}
	state, err := parseState(l.state)
	if err != nil {
		return nil, usageError{err}
	}
	since, err := parseSince(l.since, time.Now())
	if err != nil {
		return nil, usageError{err}
	}
	return &a2a.ListTasksRequest{
		ContextID: a2a.ContextID(l.context), Status: state, StatusTimestampAfter: since,
		PageSize: new(int32(min(l.limit, maxPageSize))), HistoryLength: new(int32),
	}, l.output.check()
}

func (l *listing) run(ctx context.Context, io streams) error {
	query, err := l.query()
	if err != nil {
		return err
	}
	ctx, cancel := l.remote.limit(ctx)
	defer cancel()
	c, _, err := l.remote.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	tasks, more, err := l.read(ctx, c, query)
	if err != nil {
		return l.remote.wrap(err)
	}
	if l.output.json() {
		err = printTasks(io, tasks)
	} else {
		err = tabulate(io, tasks)
	}
	if more {
		fmt.Fprintf(io.err, "There are more than %d; give a larger --limit to see them.\n", l.limit)
	}
	return err
}

// read collects pages up to the limit, and tells whether there are more tasks.
func (l *listing) read(ctx context.Context, c *client.Client, query *a2a.ListTasksRequest) (tasks []a2a.Task, more bool, err error) {
	for task, err := range c.AllTasks(ctx, query) {
		if err != nil {
			return nil, false, err
		}
		if len(tasks) == l.limit {
			return tasks, true, nil
		}
		tasks = append(tasks, task)
	}
	return tasks, false, nil
}

func printTasks(io streams, tasks []a2a.Task) error {
	b := []byte{'['}
	for i, task := range tasks {
		if i > 0 {
			b = append(b, ',')
		}
		b = task.AppendJSON(b)
	}
	return printJSON(io, append(b, ']'))
}

func tabulate(io streams, tasks []a2a.Task) error {
	if len(tasks) == 0 {
		fmt.Fprintln(io.err, "There are no such tasks.")
		return nil
	}
	w := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(w, "ID\tSTATE\tUPDATED\tCONTEXT")
	for _, task := range tasks {
		_, bad := fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", line(string(task.ID), 100), stateWord(task.Status.State),
			timeWord(task.Status.Timestamp), line(string(task.ContextID), 100))
		err = errors.Join(err, bad)
	}
	return errors.Join(err, w.Flush())
}

// timeWord is a time in UTC, to the second.
func timeWord(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
