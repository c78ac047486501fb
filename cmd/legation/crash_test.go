package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/cli"
)

// asProgram makes the test binary behave as the program, so that the tests can
// start it as a process of its own, and kill it.
const asProgram = "LEGATION_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestKillAtRandomMoments kills the server in the middle of its work, over and
// over: every id that a caller was told is found afterwards, no task stays
// working, and nothing that a reader saw is gone.
func TestKillAtRandomMoments(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	data := t.TempDir()
	book := &ledger{told: map[a2a.TaskID]bool{}, seen: map[a2a.TaskID]seen{}}
	for round := range rounds {
		s := launch(t, data)
		load, stop := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		for i := range 8 {
			callers.Go(func() { call(load, s.url, fmt.Sprintf("%d-%d", round, i), book) })
		}
		kill := time.NewTimer(time.Duration(20+rand.IntN(250)) * time.Millisecond)
		<-kill.C
		s.kill(t)
		stop()
		callers.Wait()
	}

	s := launch(t, data)
	c := dial(t, s.url)
	if len(book.told) < rounds {
		t.Fatalf("only %d tasks in %d rounds: there was no load to speak of", len(book.told), rounds)
	}
	for id := range book.told {
		task, err := settled(t.Context(), c, id)
		if err != nil {
			t.Errorf("task %s, which a caller was told of: %v", id, err)
			continue
		}
		before := book.seen[id]
		after := texts(task)
		for artifact, text := range before.artifacts {
			if !strings.HasPrefix(after[artifact], text) {
				t.Errorf("task %s: a reader saw %d bytes of artifact %s, of which the %d bytes there are now are no continuation", id, len(text), artifact, len(after[artifact]))
			}
		}
		if before.state.Terminal() && task.Status.State != before.state {
			t.Errorf("task %s: a reader saw it %s, and now it is %s", id, before.state, task.Status.State)
		}
	}
	// Also of those that no caller was told of, because the answer was lost.
	for _, state := range []a2a.TaskState{a2a.TaskStateSubmitted, a2a.TaskStateWorking} {
		for task, err := range c.AllTasks(t.Context(), &a2a.ListTasksRequest{Status: state}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := settled(t.Context(), c, task.ID); err != nil {
				t.Errorf("task %s, which nobody was told of: %v", task.ID, err)
			}
		}
	}
	t.Logf("%d rounds, %d tasks told of, %d of them followed by a reader", rounds, len(book.told), len(book.seen))
	s.kill(t)
}

// settled reads a task until it has ended. What a restart finds under way is
// done within moments.
func settled(ctx context.Context, c *client.Client, id a2a.TaskID) (*a2a.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for {
		task, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
		if err != nil || task.Status.State.Terminal() {
			return task, err
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("it stays %s", task.Status.State)
		}
	}
}

// ledger is what callers were told.
type ledger struct {
	mu   sync.Mutex
	told map[a2a.TaskID]bool
	seen map[a2a.TaskID]seen
}

// seen is how far a reader got.
type seen struct {
	state     a2a.TaskState
	artifacts map[a2a.ArtifactID]string
}

// call sends messages in every way until the server is gone.
func call(ctx context.Context, url, name string, book *ledger) {
	// A stream that breaks is not to be mended here: what was seen until then
	// is what counts.
	c, err := client.Dial(ctx, url, client.Config{Policy: guard.Policy{AllowHosts: []string{strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")}}})
	if err != nil {
		return
	}
	defer c.Close()
	skills := []string{"echo", "count", "slow"}
	for i := 0; ctx.Err() == nil; i++ {
		message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(name))
		message.Metadata = a2a.Struct(fmt.Sprintf(`{"urn:legation:skill:v1":{"skillId":%q}}`, skills[i%len(skills)]))
		req := &a2a.SendMessageRequest{Message: *message}
		if i%2 == 0 {
			req.Configuration = &a2a.SendMessageConfiguration{ReturnImmediately: i%4 == 0}
			answer, err := c.SendMessage(ctx, req)
			if err != nil {
				return
			}
			if task, ok := answer.Payload.(*a2a.Task); ok {
				book.tell(task)
			}
			continue
		}
		if !watch(ctx, c, req, book) {
			return
		}
	}
}

// watch follows one stream and writes down what it shows.
func watch(ctx context.Context, c *client.Client, req *a2a.SendMessageRequest, book *ledger) bool {
	stream, err := c.SendStreamingMessage(ctx, req)
	if err != nil {
		return false
	}
	defer stream.Close()
	var whole client.Assembly
	for {
		event, err := stream.Next()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if err := whole.Apply(event); err == nil && whole.Task() != nil {
			book.tell(whole.Task())
		}
	}
}

func (l *ledger) tell(task *a2a.Task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told[task.ID] = true
	l.seen[task.ID] = seen{state: task.Status.State, artifacts: texts(task)}
}

func texts(task *a2a.Task) map[a2a.ArtifactID]string {
	all := make(map[a2a.ArtifactID]string)
	for i := range task.Artifacts {
		all[task.Artifacts[i].ArtifactID] = task.Artifacts[i].Text()
	}
	return all
}

// process is a server that runs as a process of its own.
type process struct {
	cmd *exec.Cmd
	url string
	out io.Reader
}

// launch starts a server on data and waits until it says where it serves.
func launch(t *testing.T, data string, more ...string) *process {
	t.Helper()
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "error",
		"--publish", "echo=echo:", "--publish", "count=seq 1 3000", "--publish", "slow=sleep 0.15"}, more...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(first), " at ")
	if err != nil || !found {
		t.Fatalf("the server said %q (%v) instead of where it serves", first, err)
	}
	return &process{cmd: cmd, url: url, out: lines}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, p.out)
	p.cmd.Wait() // says that it was killed
}

func dial(t *testing.T, url string) *client.Client {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	c, err := client.Dial(t.Context(), url, client.Config{Policy: guard.Policy{AllowHosts: []string{host}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
