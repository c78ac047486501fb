package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/server"
)

// send is one run of the command.
type send struct {
	io     streams
	remote remote
	draft  draft
	output output
	out    string
	noWait bool
}

func newSend(io streams) *cobra.Command {
	s := &send{io: io}
	cmd := &cobra.Command{
		Use:   "send URL [TEXT…] [flags]",
		Short: "Send a message to an agent and follow it to its end",
		Long: `Send hands a message to the agent at URL and follows what becomes of it.

The result goes to standard output: text as it arrives, data as JSON, one value
a line. Everything else goes to standard error: the states of the task with
their times, questions, files, and what to do next. The text is TEXT, or
standard input where TEXT is '-' or standard input is not a terminal.

Ctrl-C stops watching and nothing else: the task goes on at the agent. A message
is sent once. If the answer is lost, the error says whether and how it can be
repeated safely.

Exit statuses: 0 done; 1 the command failed; 2 wrong usage; 3 the task failed,
was rejected or canceled; 4 the task waits for input or authorization;
130 interrupted.`,
		Example: `  legation send http://127.0.0.1:8700 'how many words are these?'
  legation send http://127.0.0.1:8700 --skill upper < letter.txt
  legation send https://agent.example --file plan.pdf --out results 'summarize this'
  legation send https://agent.example --header "Authorization: Bearer $TOKEN" --data @order.json -o json
  legation send https://agent.example --task 0198c2f4-1111-7000-8000-000000000000 'yes, go on'`,
		Args: takesAtLeast(1, "the URL of an agent, and a text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.remote.url, s.draft.words = args[0], args[1:]
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&s.draft.skill, "skill", "", "the skill that shall answer, for an agent with several")
	cmd.Flags().StringArrayVar(&s.draft.files, "file", nil, "file to send along; repeatable")
	cmd.Flags().StringArrayVar(&s.draft.data, "data", nil, "JSON to send along, or @FILE that holds some; repeatable")
	cmd.Flags().BoolVar(&s.noWait, "no-wait", false, "print the id of the task and leave it to itself")
	cmd.Flags().StringVar(&s.draft.task, "task", "", "id of a task that waits for this message")
	cmd.Flags().StringVar(&s.draft.context, "context", "", "id of the conversation to go on with")
	cmd.Flags().StringVar(&s.draft.id, "message-id", "", "id of the message, to repeat one whose answer was lost")
	cmd.Flags().StringVar(&s.out, "out", "", "directory to write the files of the result to; nothing that exists is replaced")
	s.output.flag(cmd, "the task or message as the protocol has it")
	s.remote.flags(cmd, workTimeout)
	return cmd
}

func (s *send) run(ctx context.Context) error {
	if err := s.output.check(); err != nil {
		return err
	}
	if _, err := s.remote.config(); err != nil {
		return err // before anything is read
	}
	message, err := s.draft.message(ctx, s.io.in)
	if ctx.Err() != nil {
		fmt.Fprintln(s.io.err, "Interrupted. Nothing was sent.")
		return exitStatus(exitInterrupted)
	}
	if err != nil {
		return err
	}
	limited, cancel := s.remote.limit(ctx)
	defer cancel()
	v := newConversation(s.io, &s.remote, s.output.json(), s.out)
	c, cfg, err := s.remote.connect(limited, v.listen)
	if err != nil {
		return err
	}
	defer c.Close()
	if s.draft.skill != "" {
		if announces(c.Card(), server.SkillExtension) {
			message.Extensions = []string{server.SkillExtension}
		} else {
			fmt.Fprintln(s.io.err, "Note: the agent's card does not say that a message can choose its skill; --skill may have no effect.")
		}
	}
	request := &a2a.SendMessageRequest{Message: *message}
	streaming := c.Card().AgentCard.Capabilities.Streaming
	if !s.noWait && streaming != nil && *streaming {
		err = s.stream(limited, c, cfg, request, v)
	} else {
		err = s.poll(limited, c, cfg, request, v)
	}
	switch {
	case err == nil && s.noWait:
		return s.leave(ctx, v)
	case err == nil:
		return v.finish(ctx)
	case v.taskID() != "":
		return v.stopped(ctx, limited, err)
	}
	return s.unanswered(ctx, c.Card(), message.MessageID, err)
}

// streamTimeout is how long an agent may take to begin a stream. Some do only
// once they have something to say.
const streamTimeout = 5 * time.Minute

// stream sends and shows events as they come, until the task ends or asks.
func (s *send) stream(ctx context.Context, c *client.Client, cfg client.Config, request *a2a.SendMessageRequest, v *conversation) error {
	cfg.Timeout = min(s.remote.timeout, streamTimeout)
	patient, err := client.New(c.Card(), cfg)
	if err != nil {
		return err
	}
	stream, err := patient.SendStreamingMessage(ctx, request)
	if err != nil {
		return err
	}
	for event, err := range stream.All() {
		if err != nil {
			return err
		}
		if err := v.event(event); err != nil {
			return err
		}
		if v.state().Interrupted() {
			break
		}
	}
	return nil
}

// poll sends without waiting for the work, and asks for the task until it ends
// or asks something. An agent that makes the sender wait all the same is given
// the time.
func (s *send) poll(ctx context.Context, c *client.Client, cfg client.Config, request *a2a.SendMessageRequest, v *conversation) error {
	cfg.Timeout = s.remote.timeout
	patient, err := client.New(c.Card(), cfg)
	if err != nil {
		return err
	}
	request.Configuration = &a2a.SendMessageConfiguration{ReturnImmediately: true}
	answer, err := patient.SendMessage(ctx, request)
	if err != nil {
		return err
	}
	task, ok := answer.Payload.(*a2a.Task)
	if !ok {
		return v.event(a2a.StreamResponse{Payload: answer.Payload.(*a2a.Message)})
	}
	if s.noWait {
		return v.assembly.Apply(a2a.StreamResponse{Payload: task})
	}
	if err := v.event(a2a.StreamResponse{Payload: task}); err != nil {
		return err
	}
	return follow(ctx, c, task, v)
}

// follow asks for a task until it ends or asks something.
func follow(ctx context.Context, c *client.Client, known *a2a.Task, v *conversation) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	_, err := c.Follow(ctx, known.ID, client.FollowOptions{
		Known: known, Limit: v.remote.timeout,
		OnChange: func(task *a2a.Task) {
			if failed = v.event(a2a.StreamResponse{Payload: task}); failed != nil {
				cancel()
			}
		},
	})
	if failed != nil {
		return failed
	}
	return err
}

// leave prints a task that nobody waits for, or its id. What there is to say of
// one that has ended or asks something already is said.
func (s *send) leave(ctx context.Context, v *conversation) error {
	task := v.assembly.Task()
	if task == nil {
		return v.finish(ctx)
	}
	state := task.Status.State
	over := state.Interrupted() || state.Terminal() && state != a2a.TaskStateCompleted
	switch {
	case v.json && over:
		return v.finish(ctx)
	case v.json:
		return v.finishResults(ctx, task, nil)
	}
	fmt.Fprintln(s.io.out, plain(string(task.ID)))
	if over {
		return v.finish(ctx)
	}
	return nil
}

// unanswered is how the command ends without a task. Whether the agent took
// the message is the first thing to say.
func (s *send) unanswered(ctx context.Context, card *client.Card, id a2a.MessageID, err error) error {
	repeats := announces(card, server.RetryExtension)
	wrapped := s.remote.wrap(err)
	if ctx.Err() != nil {
		if guard.NothingSent(err) {
			fmt.Fprintln(s.io.err, "Interrupted. Nothing was sent.")
		} else {
			fmt.Fprintf(s.io.err, "Interrupted before the agent answered. It is unknown whether it took the message.\n%s\n", s.repeat(repeats, id))
		}
		return exitStatus(exitInterrupted)
	}
	switch client.Classify(err, repeats) {
	case client.Ambiguous:
		return &advisedError{
			err:    fmt.Errorf("%w; it is unknown whether the agent took the message", wrapped),
			advice: s.repeat(repeats, id),
		}
	case client.RetryLater:
		when := "in a while"
		if wait := client.RetryAfter(err); wait > 0 {
			when = fmt.Sprintf("in %v", wait)
		}
		return &advisedError{err: wrapped, advice: "the agent is busy and did not take the message; send it again " + when}
	}
	return wrapped
}

// repeat says how to find out about a message whose answer is lost.
func (s *send) repeat(repeats bool, id a2a.MessageID) string {
	if !repeats {
		return "before sending it again, look whether there is a task: " + s.remote.command("task list", nil)
	}
	flags := []string{"--message-id", string(id)}
	for _, flag := range []struct{ name, value string }{
		{"--skill", s.draft.skill}, {"--task", s.draft.task}, {"--context", s.draft.context}, {"--out", s.out},
	} {
		if flag.value != "" {
			flags = append(flags, flag.name, flag.value)
		}
	}
	for _, path := range s.draft.files {
		flags = append(flags, "--file", path)
	}
	for _, data := range s.draft.data {
		flags = append(flags, "--data", data)
	}
	text := "this agent recognises a repeated message, so this is safe: "
	if !s.draft.repeatable {
		return text + s.remote.command("send", flags, "-") + " (with the same input)"
	}
	if len(s.draft.words) > 0 {
		return text + s.remote.command("send", flags, strings.Join(s.draft.words, " "))
	}
	return text + s.remote.command("send", flags)
}
