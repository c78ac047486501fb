package partner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
)

// caller is our client for an agent of the SDK.
type caller struct {
	*client.Client
	url string
}

// dial makes a client. Each time the way to a task breaks is told to broken.
func dial(ctx context.Context, peer string, broken ...func(error)) (caller, error) {
	at, err := url.Parse(peer)
	if err != nil {
		return caller{}, err
	}
	c, err := client.Dial(ctx, peer, client.Config{
		Policy: guard.Policy{AllowHosts: []string{at.Host}},
		Interrupted: func(_ a2a.TaskID, err error) {
			for _, tell := range broken {
				tell(err)
			}
		},
	})
	return caller{c, peer}, err
}

func say(text string, parts ...a2a.Part) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: *a2a.NewMessage(a2a.RoleUser, append([]a2a.Part{a2a.TextPart(text)}, parts...)...)}
}

func (c caller) send(ctx context.Context, req *a2a.SendMessageRequest, states ...a2a.TaskState) (*a2a.Task, error) {
	answer, err := c.SendMessage(ctx, req)
	if err != nil {
		return nil, err
	}
	task, ok := answer.Payload.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("answer is a %T", answer.Payload)
	}
	if !slices.Contains(states, task.Status.State) {
		return nil, fmt.Errorf("task is %s, want %v", task.Status.State, states)
	}
	return task, nil
}

func (c caller) begin(ctx context.Context, text string) (*a2a.Task, error) {
	req := say(text)
	req.Configuration = &a2a.SendMessageConfiguration{ReturnImmediately: true}
	return c.send(ctx, req, a2a.TaskStateSubmitted, a2a.TaskStateWorking)
}

func TestGoServer(t *testing.T) {
	t.Parallel()
	runServer(t, goSDK, startPeer(t))
}

// runServer lets our client meet an agent of an SDK.
func runServer(t *testing.T, name, server string) {
	var reader strict
	defer reader.report(t)
	peer := func(change func([]byte) []byte) caller {
		b := &between{server: server, requests: &reader, answer: change}
		if change != nil {
			b.card = laterCard
		}
		c, err := dial(t.Context(), b.start(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	c := peer(nil)
	runCells(t, name+serverDirection, []cell{
		{"send blocking", c.sendBlocking},
		{"returnImmediately then poll", c.pollTask},
		{"stream", c.stream},
		{"subscribe", c.subscribe},
		{"subscribe to an ended task", c.subscribeEnded},
		{"list pages", c.listPages},
		{"cancel", c.cancel},
		{"input-required round trip", c.inputRequired},
		{"message instead of task", c.message},
		{"files and data", c.files},
		{"unknown task", c.unknownTask},
		{"version refusal", c.version},
		{"unknown fields", func(ctx context.Context) error {
			later := peer(laterAnswer)
			return errors.Join(later.sendBlocking(ctx), later.stream(ctx), later.subscribe(ctx), later.listPages(ctx), later.inputRequired(ctx))
		}},
		{"unknown state", peer(replaced("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_PAUSED")).unknownState},
		{"unknown error code", peer(replaced("-32001", "-32010")).unknownError},
	})
}

func (c caller) unknownTask(ctx context.Context) error {
	_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "no-such-task"})
	return expectError(err, a2a.ErrTaskNotFound)
}

func (c caller) unknownState(ctx context.Context) error {
	task, err := c.send(ctx, say("ask"), "TASK_STATE_PAUSED")
	if err == nil && (task.Status.State.Known() || task.Status.State.Terminal()) {
		return errors.New("a state nobody knows is taken for one that is")
	}
	return err
}

func (c caller) unknownError(ctx context.Context) error {
	_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "no-such-task"})
	said, ok := errors.AsType[*a2a.Error](err)
	if !ok {
		return fmt.Errorf("error %w is not the peer's", err)
	}
	return expect("code", a2a.Code(-32010), said.Code)
}

// replaced changes one word of an answer.
func replaced(word, by string) func([]byte) []byte {
	return func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(word), []byte(by)) }
}

func (c caller) sendBlocking(ctx context.Context) error {
	task, err := c.send(ctx, say("hello, world"), a2a.TaskStateCompleted)
	if err != nil {
		return err
	}
	if len(task.Artifacts) != 1 {
		return fmt.Errorf("%d artifacts", len(task.Artifacts))
	}
	return expect("artifact", "hello, world", task.Artifacts[0].Text())
}

func (c caller) pollTask(ctx context.Context) error {
	task, err := c.begin(ctx, "gated")
	if err != nil {
		return err
	}
	if _, err := c.send(ctx, say("open"), a2a.TaskStateCompleted); err != nil {
		return err
	}
	task, err = c.Follow(ctx, task.ID, client.FollowOptions{AtOnce: true, Pauses: []time.Duration{20 * time.Millisecond}})
	if err != nil {
		return err
	}
	return expect("state", a2a.TaskStateCompleted, task.Status.State)
}

func (c caller) stream(ctx context.Context) error {
	stream, err := c.SendStreamingMessage(ctx, say("chunks"))
	if err != nil {
		return err
	}
	var whole client.Assembly
	chunks := 0
	for event, err := range stream.All() {
		if err != nil {
			return err
		}
		if _, ok := event.Payload.(*a2a.TaskArtifactUpdateEvent); ok {
			chunks++
		}
		if err := whole.Apply(event); err != nil {
			return err
		}
	}
	task := whole.Task()
	if task == nil || len(task.Artifacts) != 1 {
		return errors.New("no task with one artifact")
	}
	return errors.Join(
		expect("artifact events", 3, chunks),
		expect("state", a2a.TaskStateCompleted, task.Status.State),
		expect("text", "piece-1 piece-2 piece-3", task.Artifacts[0].Text()))
}

func (c caller) subscribe(ctx context.Context) error {
	task, err := c.begin(ctx, "wait")
	if err != nil {
		return err
	}
	stream, err := c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	defer stream.Close()
	first, err := stream.Next()
	if err != nil {
		return err
	}
	if _, ok := first.Payload.(*a2a.Task); !ok {
		return fmt.Errorf("first event is a %T", first.Payload)
	}
	if _, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID}); err != nil {
		return err
	}
	for _, err := range stream.All() {
		if err != nil {
			return err
		}
	}
	_, state := stream.Task()
	return expect("state", a2a.TaskStateCanceled, state)
}

func (c caller) subscribeEnded(ctx context.Context) error {
	task, err := c.send(ctx, say("hello"), a2a.TaskStateCompleted)
	if err != nil {
		return err
	}
	stream, err := c.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: task.ID})
	if err == nil {
		stream.Close()
	}
	return expectError(err, a2a.ErrUnsupportedOperation)
}

func (c caller) listPages(ctx context.Context) error {
	want, got := map[a2a.TaskID]bool{}, map[a2a.TaskID]bool{}
	contextID := a2a.ContextID(a2a.NewID())
	for range 3 {
		req := say("hello")
		req.Message.ContextID = contextID
		task, err := c.send(ctx, req, a2a.TaskStateCompleted)
		if err != nil {
			return err
		}
		want[task.ID] = true
	}
	req := &a2a.ListTasksRequest{ContextID: contextID, PageSize: new(int32(2))}
	page, err := c.ListTasks(ctx, req)
	if err != nil {
		return err
	}
	if len(page.Tasks) != 2 || page.NextPageToken == "" || page.TotalSize != 3 {
		return fmt.Errorf("first page has %d tasks of %d", len(page.Tasks), page.TotalSize)
	}
	for task, err := range c.AllTasks(ctx, req) {
		if err != nil {
			return err
		}
		got[task.ID] = true
	}
	return expect("tasks", want, got)
}

func (c caller) cancel(ctx context.Context) error {
	task, err := c.begin(ctx, "wait")
	if err != nil {
		return err
	}
	canceled, err := c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: task.ID})
	if err != nil {
		return err
	}
	if canceled.Status.State != a2a.TaskStateCanceled {
		return fmt.Errorf("task is %s", canceled.Status.State)
	}
	done, err := c.send(ctx, say("hello"), a2a.TaskStateCompleted)
	if err != nil {
		return err
	}
	_, err = c.CancelTask(ctx, &a2a.CancelTaskRequest{ID: done.ID})
	if !client.IsOver(err) {
		return fmt.Errorf("canceling an ended task: %w", err)
	}
	return nil
}

func (c caller) inputRequired(ctx context.Context) error {
	asked, err := c.send(ctx, say("ask"), a2a.TaskStateInputRequired)
	if err != nil {
		return err
	}
	answer := say("the answer")
	answer.Message.TaskID, answer.Message.ContextID = asked.ID, asked.ContextID
	done, err := c.send(ctx, answer, a2a.TaskStateCompleted)
	if err != nil {
		return err
	}
	return expect("task", asked.ID, done.ID)
}

func (c caller) message(ctx context.Context) error {
	answer, err := c.SendMessage(ctx, say("message"))
	if err != nil {
		return err
	}
	message, ok := answer.Payload.(*a2a.Message)
	if !ok {
		return fmt.Errorf("answer is a %T", answer.Payload)
	}
	return expect("reply", "no task", message.Text())
}

// files come back as they were sent: through our encoder, the SDK both ways,
// and our decoder.
func (c caller) files(ctx context.Context) error {
	data, err := a2a.DataPart(map[string]any{"list": []any{nil, "x"}, "n": 1.5})
	if err != nil {
		return err
	}
	parts := []a2a.Part{
		a2a.RawPart([]byte(strings.Repeat("\x00\xfe\xff", 1000)), "a.bin", "application/octet-stream"),
		a2a.URLPart("https://example.com/a.txt", "a.txt", "text/plain"),
		data, a2a.TextPart("\u2028 é 💥"),
	}
	task, err := c.send(ctx, say("parts", parts...), a2a.TaskStateCompleted)
	if err != nil {
		return err
	}
	return errors.Join(expect("artifact", parts, task.Artifacts[0].Parts), expect("history", parts, task.History[0].Parts[1:]))
}

// version asks what no client of ours asks: for a version of the future.
func (c caller) version(ctx context.Context) error {
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + string(say("hello").AppendJSON(nil)) + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Interface().URL, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(a2a.HeaderVersion, "7.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Error jsontext.Value `json:"error"`
	}
	if err := json.UnmarshalRead(resp.Body, &answer); err != nil {
		return err
	}
	if answer.Error == nil {
		return errors.New("version 7.0 is served")
	}
	said, err := a2a.DecodeError(answer.Error)
	if err != nil {
		return err
	}
	return expectError(said, a2a.ErrVersionNotSupported)
}
