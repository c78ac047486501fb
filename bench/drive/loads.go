package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// stage is loads that share servers. What they leave behind does not meet the
// loads of another stage.
type stage struct {
	name    string
	servers []string
	fill    bool // with the tasks that are to be listed
	loads   []*load
}

func stages(s settings) []stage {
	return []stage{
		{name: "tasks", servers: all, fill: true, loads: []*load{
			{name: "GetTask", clients: 8, unit: "calls", per: 1, servers: all, client: getTask},
			{name: "ListTasks, 50 of " + thousands(int64(s.tasks)), clients: 8, unit: "calls", per: 1, servers: all, client: listTasks},
		}},
		{name: "messages", servers: all, loads: []*load{
			{name: "SendMessage", clients: 1, unit: "calls", per: 1, servers: all, client: sendMessage},
			{name: "SendMessage", clients: 8, unit: "calls", per: 1, servers: all, client: sendMessage},
			{name: "SendMessage", clients: 32, unit: "calls", per: 1, servers: all, client: sendMessage},
		}},
		{name: "streams", servers: all, loads: []*load{
			{name: "200 status events on one stream", clients: 1, unit: "events", per: 200, servers: all, client: stream("stream", 200)},
			{name: "1,000 artifact chunks on one stream", clients: 1, unit: "events", per: 1000, servers: all, client: stream("chunks", 1000)},
			{name: "200 events to 100 subscribers", clients: 1, unit: "events", per: 200 * subscribers, servers: []string{ours, peer}, client: fanOut, idle: attach},
		}},
		{name: "callers", servers: callers, loads: []*load{
			{name: "SendMessage", clients: 1, unit: "calls", per: 1, servers: callers, client: sendMessage},
			{name: "SendMessage", clients: 8, unit: "calls", per: 1, servers: callers, client: sendMessage},
			{name: "SendMessage", clients: 32, unit: "calls", per: 1, servers: callers, client: sendMessage},
			{name: "GetTask", clients: 8, unit: "calls", per: 1, servers: callers, client: getTask},
		}},
	}
}

// stage measures the loads of a stage on servers started for it.
func (b *bench) stage(ctx context.Context, st stage) ([]row, error) {
	servers, stop, err := b.startAll(ctx, st.servers)
	if err != nil {
		return nil, err
	}
	defer stop()
	if st.fill {
		for _, name := range []string{ours, peer} {
			b.progress("%d tasks for %s", b.tasks, name)
			if err := b.fill(ctx, servers[name]); err != nil {
				return nil, fmt.Errorf("fill %s: %w", name, err)
			}
		}
	}
	var rows []row
	for _, l := range st.loads {
		b.progress("%s, %d clients", l.name, l.clients)
		if err := teach(l, servers); err != nil {
			return rows, fmt.Errorf("%s: %w", l.name, err)
		}
		r, err := b.rounds(ctx, l, servers)
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// text is what messages say: 256 bytes.
var text = strings.Repeat("Sixteen letters ", 16)

// rpc is the body of a request.
func rpc(method, params string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
}

// counter makes message ids, all of one length.
var counter atomic.Int64

const idDigits = 16

func messageID() string { return fmt.Sprintf("m-%0*d", idDigits, counter.Add(1)) }

func say(id, text, more string) string {
	return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}` + more + `}`
}

var (
	resultMember = []byte(`"result":`)
	errUnlike    = errors.New("an answer without what it should have")
)

// fresh is a request that is given another message id each time.
type fresh struct {
	bytes []byte
	at    int
}

func newFresh(s *server, path, method, text, more string) *fresh {
	id := messageID()
	req := request("POST", s, path, rpc(method, say(id, text, more)))
	return &fresh{bytes: req, at: bytes.Index(req, []byte(id)) + len("m-")}
}

func (f *fresh) next() []byte {
	digits := f.bytes[f.at : f.at+idDigits]
	for i, n := idDigits-1, counter.Add(1); i >= 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	return f.bytes
}

// sendMessage sends a message that is echoed, and waits for its task to end.
func sendMessage(s *server, c *conn) (operation, error) {
	req := newFresh(s, "/", "SendMessage", text, "")
	return func() error { return expect(c, req.next(), completed) }, nil
}

// expect makes a call whose answer has something in it.
func expect(c *conn, req, want []byte) error {
	body, err := c.call(req)
	if err == nil && !bytes.Contains(body, want) {
		err = fmt.Errorf("%w: %.200q", errUnlike, body)
	}
	return err
}

// getTask reads tasks that are there, one after the other.
func getTask(s *server, c *conn) (operation, error) {
	if s.name == floor {
		req := request("POST", s, "/", rpc("GetTask", `{"id":"00000000-0000-0000-0000-000000000000"}`))
		return func() error { return expect(c, req, resultMember) }, nil
	}
	body, err := c.call(request("POST", s, "/", rpc("ListTasks", `{"pageSize":100}`)))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct {
			Tasks []struct {
				ID string `json:"id"`
			} `json:"tasks"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var requests [][]byte
	for _, t := range answer.Result.Tasks {
		requests = append(requests, request("POST", s, "/", rpc("GetTask", `{"id":"`+t.ID+`"}`)))
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("%w: %.200q", errUnlike, body)
	}
	turn := 0
	return func() error {
		turn++
		return expect(c, requests[turn%len(requests)], completed)
	}, nil
}

// listTasks reads the first page.
func listTasks(s *server, c *conn) (operation, error) {
	req := request("POST", s, "/", rpc("ListTasks", `{"pageSize":50}`))
	return func() error { return expect(c, req, resultMember) }, nil
}

// stream has a task put out events and reads them all.
func stream(kind string, count int) func(*server, *conn) (operation, error) {
	return func(s *server, c *conn) (operation, error) {
		path := "/"
		if s.name == floor {
			path = "/stream/" + strconv.Itoa(count)
		}
		req := newFresh(s, path, "SendStreamingMessage", fmt.Sprintf("%s:%d:0", kind, count), "")
		return func() error {
			events, _, err := c.stream(req.next())
			if err == nil && events < count {
				err = fmt.Errorf("%w: %d events of %d", errUnlike, events, count)
			}
			return err
		}, nil
	}
}

const (
	subscribers = 100
	attach      = 500 * time.Millisecond // the time they have to subscribe
)

// fanOut has a task put out events once all subscribers are there, and reads
// them all with each.
func fanOut(s *server, c *conn) (operation, error) {
	script := fmt.Sprintf("stream:200:%d", attach.Milliseconds())
	req := newFresh(s, "/", "SendMessage", script, `,"configuration":{"returnImmediately":true}`)
	return func() error {
		body, err := c.call(req.next())
		if err != nil {
			return err
		}
		id, err := taskID(body)
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		errs := make([]error, subscribers)
		for i := range errs {
			wg.Go(func() { errs[i] = subscribe(s, id, 200) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}, nil
}

func subscribe(s *server, id string, want int) error {
	c, err := dial(s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	events, _, err := c.stream(request("POST", s, "/", rpc("SubscribeToTask", `{"id":"`+id+`"}`)))
	if err == nil && events < want {
		err = fmt.Errorf("%w: a subscriber saw %d events of %d", errUnlike, events, want)
	}
	return err
}

func taskID(body []byte) (string, error) {
	var answer struct {
		Result struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	if answer.Result.Task.ID == "" {
		return "", fmt.Errorf("%w: %.200q", errUnlike, body)
	}
	return answer.Result.Task.ID, nil
}
