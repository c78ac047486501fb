package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

// conversation shows a person what becomes of a message or a task: states to
// standard error as they come, results to standard output, and at the end what
// can be done next.
type conversation struct {
	io     streams
	remote *remote
	json   bool   // nothing but one JSON document on standard output
	out    string // directory for files, or empty

	assembly client.Assembly
	results  results
	told     string // the last status that was told
	lost     interruption
}

func newConversation(io streams, r *remote, json bool, out string) *conversation {
	terminal := isTerminal(io.out)
	v := &conversation{io: io, remote: r, json: json, out: out, results: results{
		out: io.out, notes: io.err, terminal: terminal, shared: terminal || sameFile(io.out, io.err), inline: out == "",
	}}
	v.lost = interruption{tell: v.progress, leaving: "Ctrl-C leaves the task running"}
	return v
}

func (v *conversation) listen(cfg *client.Config) { v.lost.listen(cfg) }

// taskID is empty as long as no task is known.
func (v *conversation) taskID() a2a.TaskID {
	if task := v.assembly.Task(); task != nil {
		return task.ID
	}
	return ""
}

func (v *conversation) state() a2a.TaskState {
	if task := v.assembly.Task(); task != nil {
		return task.Status.State
	}
	return a2a.TaskStateUnspecified
}

// event takes the next event and shows what is new.
func (v *conversation) event(event a2a.StreamResponse) error {
	if err := v.assembly.Apply(event); err != nil {
		return err
	}
	v.tellStatus()
	if v.json {
		return nil
	}
	switch payload := event.Payload.(type) {
	case *a2a.Task:
		for _, artifact := range payload.Artifacts {
			if err := v.results.whole(artifact); err != nil {
				return err
			}
		}
	case *a2a.TaskArtifactUpdateEvent:
		if payload.Append {
			return v.results.more(payload.Artifact)
		}
		return v.results.whole(payload.Artifact)
	case *a2a.Message:
		return v.results.whole(a2a.Artifact{ArtifactID: "message", Parts: payload.Parts})
	}
	return nil
}

const (
	maxProgress = 400      // characters of a message on a line of progress
	maxSaid     = 64 << 10 // bytes of a message that is shown whole
)

// tellStatus writes a line of progress when there is something new to say.
func (v *conversation) tellStatus() {
	task := v.assembly.Task()
	if task == nil {
		return
	}
	text := stateWord(task.Status.State)
	if said := task.Status.Message; said != nil && !v.saidAtEnd(task) {
		text += ": " + line(v.remote.withhold(said.Text()), maxProgress)
	}
	if text == v.told {
		return
	}
	if v.told == "" {
		v.progress("task " + line(string(task.ID), 200))
	}
	v.told = text
	v.progress(text)
}

func (v *conversation) progress(text string) {
	v.results.endLine()
	fmt.Fprintf(v.io.err, "%s  %s\n", clock(), text)
}

// saidAtEnd reports whether the message of a status is shown whole by finish.
func (v *conversation) saidAtEnd(task *a2a.Task) bool {
	state := task.Status.State
	if state == a2a.TaskStateCompleted {
		return len(task.Artifacts) == 0
	}
	return state.Terminal() || state.Interrupted()
}

func clock() string { return time.Now().Format("15:04:05") }

// spoken is a duration to the second, without the parts that are zero at its
// end: 1m, not 1m0s.
func spoken(d time.Duration) string {
	text := max(d.Round(time.Second), time.Second).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		text = whole + "m"
	}
	if whole, ok := strings.CutSuffix(text, "h0m"); ok {
		text = whole + "h"
	}
	return text
}

// finish shows what is left to show, says what to do next, and returns how the
// command ends.
func (v *conversation) finish(ctx context.Context) error {
	task, message := v.assembly.Task(), v.assembly.Message()
	if err := v.finishResults(ctx, task, message); err != nil {
		return err
	}
	if task == nil {
		if message == nil {
			return v.remote.wrap(errors.New("the agent ended the stream without a task and without a message"))
		}
		return nil
	}
	said := ""
	if task.Status.Message != nil {
		said = clip(v.remote.withhold(task.Status.Message.Text()), maxSaid)
	}
	switch state := task.Status.State; state {
	case a2a.TaskStateCompleted:
		return nil
	case a2a.TaskStateFailed, a2a.TaskStateRejected, a2a.TaskStateCanceled:
		v.say(map[a2a.TaskState]string{
			a2a.TaskStateFailed: "The task failed", a2a.TaskStateRejected: "The agent rejected the task", a2a.TaskStateCanceled: "The task was canceled",
		}[state], said)
		return exitStatus(exitNotDone)
	case a2a.TaskStateInputRequired:
		v.say("The agent asks", said)
		fmt.Fprintf(v.io.err, "Answer with:\n  %s 'answer'\n", v.remote.command("send", []string{"--task", string(task.ID)}))
		return exitStatus(exitNeedsAnswer)
	case a2a.TaskStateAuthRequired:
		v.say("The task waits for an authorization", said)
		fmt.Fprintf(v.io.err, "Once it is given, see how it goes on with:\n  %s\n", v.remote.command("task watch", nil, string(task.ID)))
		return exitStatus(exitNeedsAnswer)
	}
	return v.left(errors.New("the agent said no more, and the task has not ended"))
}

// say writes what the agent said, below a heading if it takes more than a line.
func (v *conversation) say(heading, said string) {
	switch {
	case strings.TrimSpace(said) == "":
		fmt.Fprintf(v.io.err, "%s.\n", heading)
	case strings.Contains(strings.TrimSpace(said), "\n"):
		fmt.Fprintf(v.io.err, "%s:\n%s\n", heading, indent(said, "  "))
	default:
		fmt.Fprintf(v.io.err, "%s: %s\n", heading, strings.TrimSpace(said))
	}
}

// finishResults completes standard output and deals with files.
func (v *conversation) finishResults(ctx context.Context, task *a2a.Task, message *a2a.Message) error {
	var files []file
	var document interface{ AppendJSON([]byte) []byte }
	switch {
	case task != nil:
		for _, artifact := range task.Artifacts {
			files = append(files, filesOf(artifact.Parts)...)
		}
		document = task
		// Some agents answer in the message of the last status alone.
		if said := task.Status.Message; said != nil && task.Status.State == a2a.TaskStateCompleted && len(task.Artifacts) == 0 {
			files = filesOf(said.Parts)
			if !v.json {
				if err := v.results.whole(a2a.Artifact{ArtifactID: "status", Parts: said.Parts}); err != nil {
					return err
				}
			}
		}
	case message != nil:
		files, document = filesOf(message.Parts), message
	default:
		return nil
	}
	v.results.endLine()
	if v.json {
		if err := printJSON(v.io, document.AppendJSON(nil)); err != nil {
			return err
		}
	}
	return v.deliver(ctx, files, task)
}

// deliver writes the files of a result, or says that there are some.
func (v *conversation) deliver(ctx context.Context, files []file, task *a2a.Task) error {
	named := func(f file) error {
		_, err := fmt.Fprintln(v.io.err, "File", v.remote.withhold(f.describe()))
		return errors.Join(err, ctx.Err())
	}
	if v.out != "" {
		for _, f := range files {
			if f.url == "" {
				continue
			}
			if err := named(f); err != nil {
				return err
			}
		}
		return writeFiles(ctx, v.out, files, func(path string, f file) {
			fmt.Fprintf(v.io.err, "Wrote %s (%s)\n", plain(path), size(int64(len(f.content))))
		})
	}
	hidden := 0
	for _, f := range files {
		if !readable(a2a.Part{MediaType: f.kind}, f.content) || f.url != "" {
			if err := named(f); err != nil {
				return err
			}
			if f.url == "" {
				hidden++
			}
		}
	}
	switch {
	case hidden == 0:
	case task != nil:
		fmt.Fprintf(v.io.err, "To keep files, give --out DIR; for those of this task:\n  %s\n", v.remote.command("task get", []string{"--out", "."}, string(task.ID)))
	default:
		fmt.Fprintln(v.io.err, "To keep files, give --out DIR.")
	}
	return nil
}

// left is how a command ends that stops watching before the task has ended.
func (v *conversation) left(err error) error {
	v.results.endLine()
	v.lost.end(err)
	id := v.taskID()
	if _, gone := errors.AsType[*client.LostTaskError](err); gone || id == "" {
		return v.remote.wrap(err)
	}
	return &advisedError{err: v.remote.wrap(err), advice: fmt.Sprintf("task %s may go on at the agent; see with: %s",
		line(string(id), 200), v.remote.command("task watch", nil, string(id)))}
}

// stopped tells an end by Ctrl-C or by --timeout from one by an error. The
// contexts are the person's and the one with the timeout.
func (v *conversation) stopped(ctx, limited context.Context, err error) error {
	if limited.Err() == nil {
		return v.left(err)
	}
	v.results.endLine()
	why, status := "Interrupted", exitInterrupted
	if ctx.Err() == nil {
		why, status = fmt.Sprintf("Gave up waiting after %s", spoken(v.remote.timeout)), exitError
	}
	id := string(v.taskID())
	fmt.Fprintf(v.io.err, "%s. Task %s goes on at the agent.\n  watch it:   %s\n  cancel it:  %s\n",
		why, line(id, 200), v.remote.command("task watch", nil, id), v.remote.command("task cancel", nil, id))
	return exitStatus(status)
}
