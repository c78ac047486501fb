package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
)

// administration is the other way of a command that asks an agent by its URL:
// without a URL it asks the installation.
type administration struct{ to connection }

func (a *administration) flags(cmd *cobra.Command) { a.to.where(cmd) }

// run administers. Flags that are for an agent are refused.
func (a *administration) run(cmd *cobra.Command, io streams, r *remote, do func(context.Context, *installation) error, forAgent ...string) error {
	for _, name := range append(forAgent, "header") {
		if cmd.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s is for an agent; give its URL; see '%s --help'", name, cmd.CommandPath())}
		}
	}
	a.to.ca, a.to.timeout = r.ca, r.timeout
	return a.to.administer(cmd.Context(), io, do)
}

// unused refuses flags that are for an installation.
func (a *administration) unused(cmd *cobra.Command, others ...string) error {
	for _, name := range append(others, "data", "admin", "token-file") {
		if cmd.Flags().Changed(name) {
			return usageError{fmt.Errorf("--%s is for tasks of an installation; leave the URL out; see '%s --help'", name, cmd.CommandPath())}
		}
	}
	return nil
}

// takesTask wants a task id, behind the URL of an agent or alone.
func takesTask(_ *cobra.Command, args []string) error {
	const what = "the URL of an agent and a task id"
	if len(args) == 1 && !strings.Contains(args[0], "://") {
		return nil
	}
	if len(args) == 0 {
		return errors.New("give " + what + ", or the id of a task of this installation")
	}
	return takes(2, what)(nil, args)
}

// taskQuery selects tasks of an installation.
type taskQuery struct{ agent, caller string }

func (q *taskQuery) list(ctx context.Context, io streams, in *installation, state a2a.TaskState, limit int, out *output) error {
	l := adminList[admin.Tasks, admin.Task]{
		none: "There are no such tasks.", paged: true,
		items:   func(form admin.Tasks) ([]admin.Task, int64) { return form.Tasks, form.Next },
		heading: []string{"ID", "STATE", "UPDATED", "AGENT", "SKILL", "CALLER"},
		row: func(t admin.Task) []string {
			return []string{t.ID, stateWord(a2a.TaskState(t.State)), timeWord(t.StatusAt), agentWord(t.Agent), t.Skill, t.Caller}
		},
	}
	r := get("v1", "tasks").with("agent", q.agent).with("caller", q.caller).with("state", string(state))
	tasks, more, err := l.fetch(ctx, in, r, limit)
	if err != nil {
		return err
	}
	return l.print(io, tasks, more, limit, out)
}

// agentWord names an agent; the default one has no name.
func agentWord(name string) string {
	if name == "" {
		return "(default)"
	}
	return name
}

func getHere(ctx context.Context, io streams, in *installation, id string, content bool, out *output) error {
	if err := out.check(); err != nil {
		return err
	}
	task, raw, err := fetch[admin.Task](ctx, in, get("v1", "tasks", id).with("content", flagText(content)))
	switch {
	case err != nil:
		return err
	case out.json():
		return printJSON(io, raw)
	}
	w := &words{}
	w.field("Task", line(task.ID, maxName))
	w.field("Agent", line(agentWord(task.Agent), maxName))
	w.field("Skill", line(task.Skill, maxName))
	w.field("Caller", line(task.Caller, maxName))
	w.field("Context", line(task.ContextID, maxName))
	w.field("State", stateWord(a2a.TaskState(task.State))+" since "+timeWord(task.StatusAt))
	w.field("Created", timeWord(task.CreatedAt))
	w.field("Turns", number(int64(task.Turns)))
	w.field("Events", number(task.Events))
	if len(task.Content) > 0 {
		var whole a2a.Task
		if err := whole.UnmarshalJSON(task.Content); err != nil {
			return fmt.Errorf("the content of the task can not be read: %w", err)
		}
		fmt.Fprintf(w, "\n%s", taskInWords(&whole))
	}
	_, err = fmt.Fprint(io.out, w)
	return err
}

// cancelHere cancels a task of the installation.
func cancelHere(ctx context.Context, io streams, in *installation, id string, out *output) error {
	task, raw, err := fetch[admin.Task](ctx, in, request{method: http.MethodPost, path: []string{"v1", "tasks", id, "cancel"}})
	if err != nil {
		return err
	}
	done := io.out
	if out.json() {
		done = io.err // standard output is the document alone
		if err := printJSON(io, raw); err != nil {
			return err
		}
	}
	state := a2a.TaskState(task.State)
	if state == a2a.TaskStateCanceled {
		fmt.Fprintf(done, "Task %s is canceled.\n", line(id, maxName))
		return nil
	}
	fmt.Fprintf(io.err, "Task %s was not canceled; it is %s.\n", line(id, maxName), stateWord(state))
	return exitStatus(exitNotDone)
}
