package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
)

// lookup is one run of the command.
type lookup struct {
	remote  remote
	output  output
	history int
	out     string
}

func newTaskGet(io streams) *cobra.Command {
	l := lookup{history: -1}
	var here administration
	var q taskQuery
	var content bool
	cmd := &cobra.Command{
		Use:   "get [URL] ID",
		Short: "Show a task as it is now",
		Long: `Get shows a task of an agent. Without a URL it shows one of this installation,
whoever it belongs to: when it began and what became of it, and what was said
only to an administrator who asks for it with --content.

` + connectionText,
		Example: `  legation task get http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000
  legation task get http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000 --history 0 -o json
  legation task get http://127.0.0.1:8700 0198c2f4-1111-7000-8000-000000000000 --out results
  legation task get 0198c2f4-1111-7000-8000-000000000000`,
		Args: takesTask,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return here.run(cmd, io, &l.remote, func(ctx context.Context, in *installation) error {
					return q.get(ctx, io, in, args[0], content, &l.output)
				}, "history", "out")
			}
			l.remote.url = args[0]
			if err := here.unused(cmd, "content"); err != nil {
				return err
			}
			if cmd.Flags().Changed("history") && l.history < 0 {
				return usageError{errors.New("--history must not be below zero")}
			}
			return l.run(cmd.Context(), io, a2a.TaskID(args[1]))
		},
	}
	cmd.Flags().IntVar(&l.history, "history", -1, "show at most this many of the latest messages (default all)")
	cmd.Flags().StringVar(&l.out, "out", "", "directory to write the files of the task to; nothing that exists is replaced")
	l.output.flag(cmd, "the task as the protocol has it")
	l.remote.flags(cmd, askTimeout)
	cmd.Flags().BoolVar(&content, "content", false, "without a URL: show what was said, too")
	q.flags(cmd, "the task")
	here.flags(cmd)
	return cmd
}

func (l *lookup) run(ctx context.Context, io streams, id a2a.TaskID) error {
	if err := l.output.check(); err != nil {
		return err
	}
	ctx, cancel := l.remote.limit(ctx)
	defer cancel()
	c, _, err := l.remote.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	request := &a2a.GetTaskRequest{ID: id}
	if l.history >= 0 {
		request.HistoryLength = new(int32(min(l.history, 1<<30)))
	}
	task, err := c.GetTask(ctx, request)
	if err != nil {
		return l.remote.wrap(err)
	}
	if l.output.json() {
		err = printJSON(io, task.AppendJSON(nil))
	} else {
		_, err = fmt.Fprint(io.out, taskInWords(task))
	}
	if err != nil || l.out == "" {
		return err
	}
	var files []file
	for _, artifact := range task.Artifacts {
		files = append(files, filesOf(artifact.Parts)...)
	}
	if task.Status.Message != nil {
		files = append(files, filesOf(task.Status.Message.Parts)...)
	}
	return writeFiles(ctx, l.out, files, func(path string, f file) {
		fmt.Fprintf(io.err, "Wrote %s (%s)\n", plain(path), size(int64(len(f.content))))
	})
}

func taskInWords(task *a2a.Task) string {
	w := &words{}
	w.field("Task", line(string(task.ID), maxName))
	w.field("Context", line(string(task.ContextID), maxName))
	state := stateWord(task.Status.State)
	if at := task.Status.Timestamp; !at.IsZero() {
		state += " since " + timeWord(at)
	}
	w.field("State", state)
	if said := task.Status.Message; said != nil {
		fmt.Fprintf(w, "Message:\n%s", partsInWords(said.Parts))
	}
	list(w, "Artifacts", task.Artifacts, func(artifact a2a.Artifact) {
		w.item("%s", describeArtifact(artifact))
		if artifact.Description != "" {
			w.item("  %s", line(artifact.Description, maxName))
		}
		w.WriteString(partsInWords(artifact.Parts))
	})
	list(w, "History", task.History, func(m a2a.Message) {
		w.item("%s", roleWord(m.Role))
		w.WriteString(partsInWords(m.Parts))
	})
	return w.String()
}

func roleWord(role a2a.Role) string {
	switch role {
	case a2a.RoleUser:
		return "client"
	case a2a.RoleAgent:
		return "agent"
	}
	return line(role.String(), 40)
}

// partsInWords shows the content of parts, below a heading.
func partsInWords(parts []a2a.Part) string {
	const margin = "      "
	var b strings.Builder
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			fmt.Fprintln(&b, indent(clip(text.String(), maxSaid), margin))
			text.Reset()
		}
	}
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.PartText:
			text.WriteString(string(content))
			continue
		case a2a.PartData:
			flush()
			fmt.Fprintln(&b, indent(clip(content.String(), maxSaid), margin))
		default:
			flush()
		}
	}
	flush()
	for _, f := range filesOf(parts) {
		fmt.Fprintf(&b, "%sfile %s\n", margin, f.describe())
	}
	return b.String()
}
