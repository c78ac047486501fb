package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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
	for _, name := range append(others, "data", "admin", "token-file", "agent", "caller") {
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

func (q *taskQuery) flags(cmd *cobra.Command, words string) {
	cmd.Flags().StringVar(&q.agent, "agent", "", "without a URL: "+words+" of this agent")
	cmd.Flags().StringVar(&q.caller, "caller", "", "without a URL: "+words+" of this caller")
}

func (q *taskQuery) of(r request) request { return r.with("agent", q.agent).with("caller", q.caller) }

func (q *taskQuery) list(ctx context.Context, io streams, in *installation, state a2a.TaskState, limit int, out *output) error {
	l := adminList[admin.Tasks, admin.Task]{
		none: "There are no such tasks.", paged: true,
		items:   func(form admin.Tasks) ([]admin.Task, int64) { return form.Tasks, form.Next },
		heading: []string{"ID", "STATE", "UPDATED", "AGENT", "SKILL", "CALLER"},
		row: func(t admin.Task) []string {
			return []string{t.ID, stateWord(a2a.TaskState(t.State)), timeWord(t.StatusAt), t.Agent, t.Skill, t.Caller}
		},
	}
	r := q.of(get("tasks").with("state", string(state)))
	tasks, more, err := l.fetch(ctx, in, r, limit)
	if err != nil {
		return err
	}
	return l.print(io, tasks, more, limit, out)
}

func (q *taskQuery) get(ctx context.Context, io streams, in *installation, id string, content bool, out *output) error {
	if err := out.check(); err != nil {
		return err
	}
	task, raw, err := fetch[admin.Task](ctx, in, q.of(get("tasks", id).with("content", flagText(content))).seen("legation task list"))
	switch {
	case err != nil:
		return err
	case out.json():
		return printJSON(io, raw)
	}
	w := &words{}
	w.field("Task", line(task.ID, maxName))
	w.field("Agent", line(task.Agent, maxName))
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

// cancel ends a task. One that has ended is shown as it is.
func (q *taskQuery) cancel(ctx context.Context, io streams, in *installation, id string, out *output) error {
	here := q.of(request{path: []string{"tasks", id}, see: "legation task list"})
	end, look := here, here
	end.method, end.path = http.MethodPost, append(slices.Clip(here.path), "cancel")
	look.method = http.MethodGet
	task, raw, err := fetch[admin.Task](ctx, in, end)
	said, refused := errors.AsType[*adminError](err)
	over := refused && said.form.Code == admin.CodeConflict
	if over {
		var gone error
		if task, raw, gone = fetch[admin.Task](ctx, in, look); gone != nil || !a2a.TaskState(task.State).Terminal() {
			return err
		}
	} else if err != nil {
		return err
	}
	done := io.out
	if out.json() {
		done = io.err // standard output is the document alone
		if err := printJSON(io, raw); err != nil {
			return err
		}
	}
	switch state := a2a.TaskState(task.State); {
	case state == a2a.TaskStateCanceled && over:
		fmt.Fprintf(done, "Task %s was canceled already.\n", line(id, maxName))
	case state == a2a.TaskStateCanceled:
		fmt.Fprintf(done, "Task %s is canceled.\n", line(id, maxName))
	default:
		fmt.Fprintf(io.err, "Task %s has ended already: it is %s, and nothing was canceled.\n", line(id, maxName), stateWord(state))
		return exitStatus(exitNotDone)
	}
	return nil
}
