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

	gosdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
)

// goCaller is the SDK's client for the test agent.
type goCaller struct{ *a2aclient.Client }

func dialGo(ctx context.Context, agent string) (goCaller, error) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, agent)
	if err != nil {
		return goCaller{}, fmt.Errorf("card: %w", err)
	}
	client, err := a2aclient.NewFromCard(ctx, card, a2aclient.WithJSONRPCTransport(http.DefaultClient))
	return goCaller{client}, err
}

func ask(text string, parts ...*gosdk.Part) *gosdk.SendMessageRequest {
	return &gosdk.SendMessageRequest{Message: gosdk.NewMessage(gosdk.MessageRoleUser, append([]*gosdk.Part{gosdk.NewTextPart(text)}, parts...)...)}
}

// send sends a message and expects a task in one of the states.
func (c goCaller) send(ctx context.Context, req *gosdk.SendMessageRequest, states ...gosdk.TaskState) (*gosdk.Task, error) {
	result, err := c.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := result.(*gosdk.Task)
	if !ok {
		return nil, fmt.Errorf("answer is a %T", result)
	}
	if !slices.Contains(states, task.Status.State) {
		return nil, fmt.Errorf("task is %s, want %v", task.Status.State, states)
	}
	return task, nil
}

// begin sends a message and does not wait for the work.
func (c goCaller) begin(ctx context.Context, text string) (*gosdk.Task, error) {
	req := ask(text)
	req.Config = &gosdk.SendMessageConfig{ReturnImmediately: true}
	return c.send(ctx, req, gosdk.TaskStateSubmitted, gosdk.TaskStateWorking)
}

func artifactText(task *gosdk.Task) string {
	var b strings.Builder
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			b.WriteString(p.Text())
		}
	}
	return b.String()
}

// byValue compares data by what it means: JSON does not keep the order of
// members.
var byValue = cmp.Transformer("value", func(d a2a.PartData) any {
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
})

func expect(what string, want, got any) error {
	if diff := cmp.Diff(want, got, byValue); diff != "" {
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
	t.Parallel()
	var reader strict
	defer reader.report(t)
	meet := func(b *between) goCaller {
		c, err := dialGo(t.Context(), b.start(t))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := meet(&between{server: agentURL, answers: &reader})
	cells := map[string]func(context.Context) error{
		"send blocking":               c.sendBlocking,
		"returnImmediately then poll": c.pollTask,
		"stream":                      c.stream,
		"subscribe":                   c.subscribe,
		"subscribe to an ended task":  c.subscribeEnded,
		"list pages":                  c.listPages,
		"cancel":                      c.cancel,
		"input-required round trip":   c.inputRequired,
		"message instead of task":     c.message,
		"files and data received":     c.filesReceived,
		"files and data sent":         c.filesSent,
		"unknown task":                c.unknownTask,
		"version refusal":             meet(refused(agentURL)).version,
		"unknown fields":              meet(withLaterRequests(agentURL)).unknownFields,
	}
	var column []cell
	for _, name := range clientCells {
		column = append(column, cell{name, cells[name]})
	}
	runCells(t, goSDK+clientDirection, column)
}

func (c goCaller) unknownTask(ctx context.Context) error {
	_, err := c.GetTask(ctx, &gosdk.GetTaskRequest{ID: "no-such-task"})
	return expectError(err, gosdk.ErrTaskNotFound)
}

func (c goCaller) version(ctx context.Context) error {
	_, err := c.SendMessage(ctx, ask("hello"))
	return expectError(err, gosdk.ErrVersionNotSupported)
}

func (c goCaller) unknownFields(ctx context.Context) error {
	task, err := c.send(ctx, ask("hello"), gosdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	_, err = c.GetTask(ctx, &gosdk.GetTaskRequest{ID: task.ID})
	return err
}

func (c goCaller) sendBlocking(ctx context.Context) error {
	task, err := c.send(ctx, ask("hello, world"), gosdk.TaskStateCompleted)
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
		now, err := c.GetTask(ctx, &gosdk.GetTaskRequest{ID: task.ID})
		if err != nil {
			return false, err
		}
		if now.Status.State.Terminal() && now.Status.State != gosdk.TaskStateCompleted {
			return false, fmt.Errorf("task ended %s", now.Status.State)
		}
		return now.Status.State.Terminal(), nil
	})
}

func (c goCaller) stream(ctx context.Context) error {
	var text strings.Builder
	var last gosdk.Event
	first, chunks := true, 0
	for event, err := range c.SendStreamingMessage(ctx, ask("tck-stream-chunked")) {
		if err != nil {
			return err
		}
		if _, ok := event.(*gosdk.Task); first && !ok {
			return fmt.Errorf("first event is a %T", event)
		}
		if update, ok := event.(*gosdk.TaskArtifactUpdateEvent); ok {
			chunks++
			for _, p := range update.Artifact.Parts {
				text.WriteString(p.Text())
			}
		}
		first, last = false, event
	}
	end, ok := last.(*gosdk.TaskStatusUpdateEvent)
	if !ok || end.Status.State != gosdk.TaskStateCompleted {
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
	var states []gosdk.TaskState
	for event, err := range c.SubscribeToTask(ctx, &gosdk.SubscribeToTaskRequest{ID: task.ID}) {
		if err != nil {
			return err
		}
		switch e := event.(type) {
		case *gosdk.Task:
			if len(states) > 0 {
				return errors.New("a second snapshot")
			}
			states = append(states, "snapshot")
			if _, err := c.CancelTask(ctx, &gosdk.CancelTaskRequest{ID: task.ID}); err != nil {
				return err
			}
		case *gosdk.TaskStatusUpdateEvent:
			states = append(states, e.Status.State)
		}
	}
	if len(states) < 2 || states[0] != "snapshot" || states[len(states)-1] != gosdk.TaskStateCanceled {
		return fmt.Errorf("events %v, want a snapshot first and canceled last", states)
	}
	return nil
}

func (c goCaller) subscribeEnded(ctx context.Context) error {
	task, err := c.send(ctx, ask("hello"), gosdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	err = nil
	for _, e := range c.SubscribeToTask(ctx, &gosdk.SubscribeToTaskRequest{ID: task.ID}) {
		err = e
	}
	return expectError(err, gosdk.ErrUnsupportedOperation)
}

func (c goCaller) listPages(ctx context.Context) error {
	want := map[gosdk.TaskID]bool{}
	contextID := gosdk.NewContextID()
	for range 3 {
		req := ask("hello")
		req.Message.ContextID = contextID
		task, err := c.send(ctx, req, gosdk.TaskStateCompleted)
		if err != nil {
			return err
		}
		want[task.ID] = true
	}
	got := map[gosdk.TaskID]bool{}
	req := &gosdk.ListTasksRequest{ContextID: contextID, PageSize: 2}
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
	task, err = c.CancelTask(ctx, &gosdk.CancelTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	if task.Status.State != gosdk.TaskStateCanceled {
		return fmt.Errorf("task is %s", task.Status.State)
	}
	_, err = c.CancelTask(ctx, &gosdk.CancelTaskRequest{ID: task.ID})
	return expectError(err, gosdk.ErrTaskNotCancelable)
}

func (c goCaller) inputRequired(ctx context.Context) error {
	asked, err := c.send(ctx, ask("tck-multi-turn"), gosdk.TaskStateInputRequired)
	if err != nil {
		return err
	}
	answer := ask("done")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	done, err := c.send(ctx, answer, gosdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	return expect("task", asked.ID, done.ID)
}

func (c goCaller) message(ctx context.Context) error {
	req := ask("hello")
	req.Message.ID = "tck-message-response-" + gosdk.NewMessageID()
	result, err := c.SendMessage(ctx, req)
	if err != nil {
		return err
	}
	message, ok := result.(*gosdk.Message)
	if !ok {
		return fmt.Errorf("answer is a %T", result)
	}
	return expect("reply", "Direct message response", message.Parts[0].Text())
}

func (c goCaller) filesReceived(ctx context.Context) error {
	for prefix, want := range map[string]*gosdk.Part{
		"tck-artifact-file-url-": {Content: gosdk.URL("https://example.com/output.txt"), Filename: "output.txt", MediaType: "text/plain"},
		"tck-artifact-data-":     {Content: gosdk.Data{Value: map[string]any{"key": "value", "count": 42.0}}},
		"tck-artifact-file-":     {Content: gosdk.Raw("Generated text content"), Filename: "output.txt", MediaType: "text/plain"},
	} {
		req := ask("hello")
		req.Message.ID = prefix + gosdk.NewMessageID()
		task, err := c.send(ctx, req, gosdk.TaskStateCompleted)
		if err != nil {
			return err
		}
		if len(task.Artifacts) != 1 {
			return fmt.Errorf("%s: %d artifacts", prefix, len(task.Artifacts))
		}
		if err := expect(prefix, gosdk.ContentParts{want}, task.Artifacts[0].Parts); err != nil {
			return err
		}
	}
	return nil
}

func (c goCaller) filesSent(ctx context.Context) error {
	content := bytes.Repeat([]byte{0, 1, 0xfe, 0xff}, 1000)
	req := ask("hello",
		&gosdk.Part{Content: gosdk.Raw(content), Filename: "a.txt", MediaType: "text/plain"},
		gosdk.NewDataPart(map[string]any{"n": 1.5, "list": []any{nil, "x"}}))
	task, err := c.send(ctx, req, gosdk.TaskStateCompleted)
	if err != nil {
		return err
	}
	stored, err := c.GetTask(ctx, &gosdk.GetTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	if len(stored.History) == 0 {
		return errors.New("no history")
	}
	return expect("message in the history", req.Message.Parts, stored.History[0].Parts)
}
