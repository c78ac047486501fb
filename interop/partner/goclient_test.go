package partner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/google/go-cmp/cmp"
)

// goCaller is the SDK's client for the test agent.
type goCaller struct{ *a2aclient.Client }

func dialGo(ctx context.Context, transport http.RoundTripper) (goCaller, error) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, agentURL)
	if err != nil {
		return goCaller{}, fmt.Errorf("card: %w", err)
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithJSONRPCTransport(&http.Client{Transport: transport}))
	return goCaller{client}, err
}

func ask(text string, parts ...*sdk.Part) *sdk.SendMessageRequest {
	return &sdk.SendMessageRequest{Message: sdk.NewMessage(sdk.MessageRoleUser, append([]*sdk.Part{sdk.NewTextPart(text)}, parts...)...)}
}

// send sends a message and expects a task in one of the states.
func (c goCaller) send(ctx context.Context, req *sdk.SendMessageRequest, states ...sdk.TaskState) (*sdk.Task, error) {
	result, err := c.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := result.(*sdk.Task)
	if !ok {
		return nil, fmt.Errorf("answer is a %T", result)
	}
	if !slices.Contains(states, task.Status.State) {
		return nil, fmt.Errorf("task is %s, want %v", task.Status.State, states)
	}
	return task, nil
}

// begin sends a message and does not wait for the work.
func (c goCaller) begin(ctx context.Context, text string) (*sdk.Task, error) {
	req := ask(text)
	req.Config = &sdk.SendMessageConfig{ReturnImmediately: true}
	return c.send(ctx, req, sdk.TaskStateSubmitted, sdk.TaskStateWorking)
}

func artifactText(task *sdk.Task) string {
	var b strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text())
		}
	}
	return b.String()
}

func expect(what string, want, got any) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", what, diff)
	}
	return nil
}

func expectError(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("error %v, want %w", err, want)
	}
	return nil
}

func TestGoClient(t *testing.T) {
	var reader strict
	defer reader.report(t)
	c, err := dialGo(t.Context(), &reader)
	if err != nil {
		t.Fatal(err)
	}
	runCells(t, goClient, []cell{
		{"send blocking", c.sendBlocking},
		{"returnImmediately then poll", c.pollTask},
		{"stream", c.stream},
		{"subscribe", c.subscribe},
		{"subscribe to an ended task", c.subscribeEnded},
		{"list pages", c.listPages},
		{"cancel", c.cancel},
		{"input-required round trip", c.inputRequired},
		{"message instead of task", c.message},
		{"files and data received", c.filesReceived},
		{"files and data sent", c.filesSent},
		{"unknown task", func(ctx context.Context) error {
			_, err := c.GetTask(ctx, &sdk.GetTaskRequest{ID: "no-such-task"})
			return expectError(err, sdk.ErrTaskNotFound)
		}},
		{"version refusal", func(ctx context.Context) error {
			later, err := dialGo(ctx, roundTrip(func(req *http.Request) (*http.Response, error) {
				req = req.Clone(req.Context())
				req.Header.Set("A2A-Version", "1.1")
				return http.DefaultTransport.RoundTrip(req)
			}))
			if err != nil {
				return err
			}
			_, err = later.SendMessage(ctx, ask("hello"))
			return expectError(err, sdk.ErrVersionNotSupported)
		}},
		{"unknown fields", func(ctx context.Context) error {
			later, err := dialGo(ctx, roundTrip(addLaterMembers))
			if err != nil {
				return err
			}
			task, err := later.send(ctx, ask("hello"), sdk.TaskStateCompleted)
			if err != nil {
				return err
			}
			_, err = later.GetTask(ctx, &sdk.GetTaskRequest{ID: task.ID})
			return err
		}},
	})
}

func (c goCaller) sendBlocking(ctx context.Context) error {
	task, err := c.send(ctx, ask("hello, world"), sdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	return expect("artifact", "hello, world", artifactText(task))
}

func (c goCaller) pollTask(ctx context.Context) error {
	task, err := c.begin(ctx, "stream:3:500")
	if err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		now, err := c.GetTask(ctx, &sdk.GetTaskRequest{ID: task.ID})
		if err != nil {
			return false, err
		}
		if now.Status.State.Terminal() && now.Status.State != sdk.TaskStateCompleted {
			return false, fmt.Errorf("task ended %s", now.Status.State)
		}
		return now.Status.State.Terminal(), nil
	})
}

func (c goCaller) stream(ctx context.Context) error {
	var text strings.Builder
	var last sdk.Event
	first, chunks := true, 0
	for event, err := range c.SendStreamingMessage(ctx, ask("tck-stream-chunked")) {
		if err != nil {
			return err
		}
		if _, ok := event.(*sdk.Task); first && !ok {
			return fmt.Errorf("first event is a %T", event)
		}
		if update, ok := event.(*sdk.TaskArtifactUpdateEvent); ok {
			chunks++
			for _, p := range update.Artifact.Parts {
				text.WriteString(p.Text())
			}
		}
		first, last = false, event
	}
	end, ok := last.(*sdk.TaskStatusUpdateEvent)
	if !ok || end.Status.State != sdk.TaskStateCompleted {
		return fmt.Errorf("last event is %T", last)
	}
	if chunks < 3 {
		return fmt.Errorf("%d artifact events, want 3", chunks)
	}
	return expect("text", "piece-1 piece-2 piece-3", text.String())
}

func (c goCaller) subscribe(ctx context.Context) error {
	task, err := c.begin(ctx, "tck-cancel")
	if err != nil {
		return err
	}
	var states []sdk.TaskState
	for event, err := range c.SubscribeToTask(ctx, &sdk.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case *sdk.Task:
			if len(states) > 0 {
				return errors.New("a second snapshot")
			}
			states = append(states, "snapshot")
			if _, err := c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: task.ID}); err != nil {
				return err
			}
		case *sdk.TaskStatusUpdateEvent:
			states = append(states, e.Status.State)
		}
	}
	if len(states) < 2 || states[0] != "snapshot" || states[len(states)-1] != sdk.TaskStateCanceled {
		return fmt.Errorf("events %v, want a snapshot first and canceled last", states)
	}
	return nil
}

func (c goCaller) subscribeEnded(ctx context.Context) error {
	task, err := c.send(ctx, ask("hello"), sdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	err = nil
	for _, e := range c.SubscribeToTask(ctx, &sdk.SubscribeToTaskRequest{ID: task.ID}) {
		err = e
	}
	return expectError(err, sdk.ErrUnsupportedOperation)
}

func (c goCaller) listPages(ctx context.Context) error {
	want := map[sdk.TaskID]bool{}
	contextID := sdk.NewContextID()
	for range 3 {
		req := ask("hello")
		req.Message.ContextID = contextID
		task, err := c.send(ctx, req, sdk.TaskStateCompleted)
		if err != nil {
			return err
		}
		want[task.ID] = true
	}
	got := map[sdk.TaskID]bool{}
	req := &sdk.ListTasksRequest{ContextID: contextID, PageSize: 2}
	var sizes []int
	for {
		page, err := c.ListTasks(ctx, req)
		if err != nil {
			return err
		}
		if page.TotalSize != 3 {
			return fmt.Errorf("total %d, want 3", page.TotalSize)
		}
		sizes = append(sizes, len(page.Tasks))
		for _, task := range page.Tasks {
			got[task.ID] = true
		}
		if req.PageToken = page.NextPageToken; req.PageToken == "" || len(sizes) > 3 {
			break
		}
	}
	return errors.Join(expect("pages", []int{2, 1}, sizes), expect("tasks", want, got))
}

func (c goCaller) cancel(ctx context.Context) error {
	task, err := c.begin(ctx, "tck-cancel")
	if err != nil {
		return err
	}
	task, err = c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	if task.Status.State != sdk.TaskStateCanceled {
		return fmt.Errorf("task is %s", task.Status.State)
	}
	_, err = c.CancelTask(ctx, &sdk.CancelTaskRequest{ID: task.ID})
	return expectError(err, sdk.ErrTaskNotCancelable)
}

func (c goCaller) inputRequired(ctx context.Context) error {
	asked, err := c.send(ctx, ask("tck-multi-turn"), sdk.TaskStateInputRequired)
	if err != nil {
		return err
	}
	answer := ask("done")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	done, err := c.send(ctx, answer, sdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	return expect("task", asked.ID, done.ID)
}

func (c goCaller) message(ctx context.Context) error {
	req := ask("hello")
	req.Message.ID = "tck-message-response-" + sdk.NewMessageID()
	result, err := c.SendMessage(ctx, req)
	if err != nil {
		return err
	}
	message, ok := result.(*sdk.Message)
	if !ok {
		return fmt.Errorf("answer is a %T", result)
	}
	return expect("reply", "Direct message response", message.Parts[0].Text())
}

func (c goCaller) filesReceived(ctx context.Context) error {
	for prefix, want := range map[string]*sdk.Part{
		"tck-artifact-file-url-": {Content: sdk.URL("https://example.com/output.txt"), Filename: "output.txt", MediaType: "text/plain"},
		"tck-artifact-data-":     {Content: sdk.Data{Value: map[string]any{"key": "value", "count": 42.0}}},
		"tck-artifact-file-":     {Content: sdk.Raw("Generated text content"), Filename: "output.txt", MediaType: "text/plain"},
	} {
		req := ask("hello")
		req.Message.ID = prefix + sdk.NewMessageID()
		task, err := c.send(ctx, req, sdk.TaskStateCompleted)
		if err != nil {
			return err
		}
		if len(task.Artifacts) != 1 {
			return fmt.Errorf("%s: %d artifacts", prefix, len(task.Artifacts))
		}
		if err := expect(prefix, sdk.ContentParts{want}, task.Artifacts[0].Parts); err != nil {
			return err
		}
	}
	return nil
}

func (c goCaller) filesSent(ctx context.Context) error {
	content := bytes.Repeat([]byte{0, 1, 0xfe, 0xff}, 1000)
	req := ask("hello",
		&sdk.Part{Content: sdk.Raw(content), Filename: "a.txt", MediaType: "text/plain"},
		sdk.NewDataPart(map[string]any{"n": 1.5, "list": []any{nil, "x"}}))
	task, err := c.send(ctx, req, sdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	stored, err := c.GetTask(ctx, &sdk.GetTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	if len(stored.History) == 0 {
		return errors.New("no history")
	}
	return expect("message in the history", req.Message.Parts, stored.History[0].Parts)
}
