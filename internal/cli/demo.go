package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

const (
	demoText    = "How many words does this sentence have?"
	demoTimeout = time.Minute // for what the demo does by itself
)

func newDemo(io streams) *cobra.Command {
	var once, verbose bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show both roles: one instance publishes a skill, another hands it a step",
		Long: `Demo starts two instances on free ports of this machine, with throw-away
stores. The publisher offers a program as a skill. The desk gets a question,
hands the counting to the publisher over the real protocol, and answers. Then
both stay up to be tried, until Ctrl-C.`,
		Example: `  legation demo
  legation demo --once`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demo{io: io, log: slog.New(slog.DiscardHandler)}
			if verbose {
				d.log = slog.New(slog.NewTextHandler(io.err, nil))
			}
			return d.run(cmd.Context(), once)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "end after the conversation")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "show the log of both instances on standard error")
	return cmd
}

// demo is two instances and the story they tell.
type demo struct {
	io  streams
	log *slog.Logger

	mu sync.Mutex // one line at a time
}

// run tells the story and, unless once, waits for the end of ctx.
func (d *demo) run(ctx context.Context, once bool) error {
	dir, err := os.MkdirTemp("", "legation-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the throw-away stores: %w", err)
	}
	defer os.RemoveAll(dir)

	publisher, err := d.open(ctx, filepath.Join(dir, "publisher"), "Publisher", wordcount(), nil)
	if err != nil {
		return err
	}
	step := delegator{demo: d, to: publisher.URL() + "/"}
	desk, err := d.open(ctx, filepath.Join(dir, "desk"), "Desk", nil, []app.Published{{
		Skill: a2a.AgentSkill{
			ID: "ask", Name: "ask", Tags: []string{"demo"},
			Description: "Has the words of a sentence counted by the publisher.",
		},
		Answer: step,
	}})
	if err != nil {
		return errors.Join(err, publisher.Close())
	}
	d.print("Two instances of Legation on this machine, each with a throw-away store:\n"+
		"  publisher  %s/  publishes the skill wordcount\n"+
		"  desk       %s/  answers by handing a step to the publisher\n\n", publisher.URL(), desk.URL())

	serving, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	for _, instance := range []*app.App{publisher, desk} {
		go func() { ended <- instance.Run(serving) }()
	}
	told := d.tell(ctx, desk.URL()+"/")
	var early error
	running := 2
	if told == nil && !once {
		d.invite(publisher.URL()+"/", desk.URL()+"/")
		select {
		case <-ctx.Done():
			d.print("\nStopping.\n")
		case early = <-ended:
			running--
		}
	}
	stop()
	err = errors.Join(told, early)
	for range running {
		err = errors.Join(err, <-ended)
	}
	if errors.Is(told, context.Canceled) && ctx.Err() != nil {
		return nil // Ctrl-C in the middle of the story is an end like any other
	}
	return err
}

// wordcount is the program to publish: wc, or where it is missing, an echo.
func wordcount() []string {
	if _, err := exec.LookPath("wc"); err != nil {
		return []string{"wordcount=echo:"}
	}
	return []string{"wordcount=wc -w"}
}

func (d *demo) open(ctx context.Context, data, name string, publish []string, extra []app.Published) (*app.App, error) {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Name = "127.0.0.1:0", data, name
	cfg.Publish = publish
	cfg.Drain = 0
	return app.New(ctx, cfg, app.Options{Extra: extra, Logger: d.log.With("instance", strings.ToLower(name))})
}

// tell asks the desk the demo's question and shows what happens.
func (d *demo) tell(ctx context.Context, desk string) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	d.say("you", "ask the desk: %q", demoText)
	c, err := dialTyped(ctx, desk)
	if err != nil {
		return err
	}
	defer c.Close()
	stream, err := c.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: *a2a.NewMessage(a2a.RoleUser, a2a.TextPart(demoText))})
	if err != nil {
		return err
	}
	task, err := d.follow(stream, "desk")
	if err != nil {
		return err
	}
	if task.Status.State != a2a.TaskStateCompleted {
		return fmt.Errorf("the desk's task %s ended as %s", task.ID, stateWord(task.Status.State))
	}
	return nil
}

// follow shows the events of a stream as who's, and returns the task they make.
func (d *demo) follow(stream *client.Stream, who string) (*a2a.Task, error) {
	var whole client.Assembly
	for event, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		if err := whole.Apply(event); err != nil {
			return nil, err
		}
		switch p := event.Payload.(type) {
		case *a2a.Task:
			d.say(who, "task %s is %s", p.ID, stateWord(p.Status.State))
		case *a2a.TaskStatusUpdateEvent:
			note := ""
			if p.Status.Message != nil {
				note = ": " + plain(p.Status.Message.Text())
			}
			d.say(who, "%s%s", stateWord(p.Status.State), note)
		case *a2a.TaskArtifactUpdateEvent:
			if text := strings.TrimSpace(p.Artifact.Text()); text != "" {
				d.say(who, "artifact %s: %s", plain(string(p.Artifact.ArtifactID)), plain(text))
			}
		}
	}
	if whole.Task() == nil {
		return nil, errors.New("the stream ended without a task")
	}
	return whole.Task(), nil
}

// delegator is the desk's agent: it has a remote agent do the counting.
type delegator struct {
	demo *demo
	to   string
}

// Run hands the message to the remote agent and follows its task to the end.
func (s delegator) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	c, err := dialTyped(ctx, s.to)
	if err != nil {
		return agent.Outcome{}, err
	}
	defer c.Close()
	card, chosen := c.Card(), c.Interface()
	s.demo.say("desk", "card found: %q, at %s", card.AgentCard.Name, card.URL)
	s.demo.say("desk", "interface chosen: %s %s at %s", chosen.ProtocolBinding, chosen.ProtocolVersion, chosen.URL)

	step := a2a.NewMessage(a2a.RoleUser, turn.Message.Parts...)
	// The same turn always sends the same message, so a repeat would join the
	// task of the first.
	step.MessageID = a2a.MessageID(fmt.Sprintf("step-%s-%d", turn.TaskID, turn.Number))
	stream, err := c.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: *step})
	if err != nil {
		return agent.Outcome{}, err
	}
	task, err := s.demo.follow(stream, "publisher")
	if err != nil {
		return agent.Outcome{}, err
	}
	if task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) == 0 {
		return agent.Failed("the publisher's task ended as " + stateWord(task.Status.State)), nil
	}
	answer := "The publisher counted: " + strings.TrimSpace(task.Artifacts[0].Text())
	return agent.Completed(), out.Artifact(ctx, a2a.Artifact{
		ArtifactID: "answer", Parts: []a2a.Part{a2a.TextPart(answer)},
	}, agent.Chunk{Last: true})
}

// invite says how to go on with what is running.
func (d *demo) invite(publisher, desk string) {
	d.print("\nTry it from another terminal:\n"+
		"  %[1]s card show %[2]s\n"+
		"  %[1]s send %[2]s 'one two three'\n"+
		"  %[1]s send %[3]s 'and through the desk?'\n"+
		"  %[1]s task list %[2]s\n"+
		"  # the same messageId again joins the task of the first time\n"+
		"  curl -s %[2]s -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' -d \\\n"+
		`    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"one two three"}]}}}'`+
		"\n\nCtrl-C stops both.\n", self(), publisher, desk)
}

// self is how the person started this program.
func self() string {
	if path, err := os.Executable(); err == nil && strings.Contains(path, "go-build") {
		return "go run ./cmd/legation"
	}
	if strings.ContainsRune(os.Args[0], filepath.Separator) {
		return shellWord(os.Args[0])
	}
	return "legation"
}

// say tells what somebody did, with the time of the telling.
func (d *demo) say(who, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.io.out, "%s  %-9s  %s\n", time.Now().Format("15:04:05.000"), who, fmt.Sprintf(format, args...))
}

func (d *demo) print(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.io.out, format, args...)
}

// dialTyped reaches an agent whose host is on this machine because it was
// named, as if a person had typed it.
func dialTyped(ctx context.Context, raw string) (*client.Client, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	return client.Dial(ctx, raw, client.Config{Policy: guard.Policy{AllowHosts: []string{u.Host}}})
}
