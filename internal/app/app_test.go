package app_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

func settings(t *testing.T, publish ...string) config.Config {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Publish = "127.0.0.1:0", t.TempDir(), publish
	return cfg
}

// serve runs an app until stop or the end of the test.
func serve(t *testing.T, cfg config.Config, opts app.Options) (a *app.App, stop func()) {
	t.Helper()
	opts.Unsynced = true
	a, err := app.New(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run() = %v", err)
		}
	})
	t.Cleanup(stop)
	return a, stop
}

func dial(t *testing.T, a *app.App, path string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), a.URL()+path, client.Config{Policy: guard.Policy{AllowHosts: []string{a.Addr()}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func ask(t *testing.T, c *client.Client, skill, text string) *a2a.Task {
	t.Helper()
	message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart(text))
	if skill != "" {
		message.Metadata = a2a.Struct(`{"urn:legation:skill:v1":{"skillId":"` + skill + `"}}`)
	}
	answer, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: *message})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Payload.(*a2a.Task)
}

// TestProgramsAreAgents publishes two agents and calls both over the wire; their
// results are artifacts, and their cards say where they are and nothing of how
// they work. (REQ-MOD-07, REQ-CARD-11, REQ-CARD-23, REQ-TEN-04)
func TestProgramsAreAgents(t *testing.T) {
	cfg := settings(t, "wordcount=wc -w", "same=echo:", "tools/upper=tr a-z A-Z")
	cfg.DefaultSkills = []string{"same"}
	a, _ := serve(t, cfg, app.Options{})
	root, tools := dial(t, a, "/"), dial(t, a, "/agents/tools")
	for _, test := range []struct {
		c     *client.Client
		skill string
		want  string
	}{
		{root, "wordcount", "3"}, {root, "", "one two three"}, {tools, "", "ONE TWO THREE"},
	} {
		task := ask(t, test.c, test.skill, "one two three")
		if task.Status.State != a2a.TaskStateCompleted || strings.TrimSpace(task.Artifacts[0].Text()) != test.want {
			t.Errorf("skill %q: %s %+v, want %q", test.skill, task.Status.State, task.Artifacts, test.want)
		}
	}
	for _, c := range []*client.Client{root, tools} {
		for _, inside := range []string{"wc -w", "tr a-z", cfg.Data} {
			if card := string(c.Card().Raw); strings.Contains(card, inside) {
				t.Errorf("a card tells %q: %s", inside, card)
			}
		}
	}
	if got := tools.Card().AgentCard.Name; got != "tools" {
		t.Errorf("the card of the agent at /agents/tools is of %q", got)
	}
}

func TestAProgramSeesTheEnvironmentItIsGiven(t *testing.T) {
	t.Setenv("GIVEN", "yes")
	t.Setenv("WITHHELD", "no")
	cfg := settings(t, "env=env")
	cfg.PassEnv = []string{"GIVEN", "UNSET"}
	a, _ := serve(t, cfg, app.Options{})
	got := ask(t, dial(t, a, "/"), "", "x").Artifacts[0].Text()
	if !strings.Contains(got, "GIVEN=yes") || !strings.Contains(got, "PATH=") || strings.Contains(got, "WITHHELD") || strings.Contains(got, "UNSET") {
		t.Errorf("the program saw:\n%s", got)
	}
}

func TestWhatCannotBePublishedIsSaidAtOnce(t *testing.T) {
	for _, test := range []struct{ publish, want string }{
		{"x", "NAME=WHAT"},
		{"x=no-such-program-anywhere", "no-such-program-anywhere"},
		{"x='unclosed", "quote"},
		{"x=openai:m", "OPENAI_API_KEY"},
	} {
		_, err := app.New(t.Context(), settings(t, test.publish), app.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("--publish %s: %v, want an error with %q", test.publish, err, test.want)
		}
	}
	cfg := settings(t, "a=echo:", "a=echo:")
	if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("one name twice: %v", err)
	}
	for _, name := range []string{"nope", "other/a", "a b"} {
		cfg := settings(t, "a=echo:")
		cfg.DefaultSkills = []string{name}
		if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), "--default-skill") {
			t.Errorf("--default-skill %s: %v", name, err)
		}
	}
}

// TestHealth asks what a supervisor asks, also while the server stops.
func TestHealth(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	a, stop := serve(t, settings(t), app.Options{Extra: []app.Published{{
		Skill: a2a.AgentSkill{ID: "s", Name: "s", Description: "works until it is let go", Tags: []string{"test"}},
		Answer: agent.Func(func(context.Context, agent.Turn, agent.Output) (agent.Outcome, error) {
			close(begun)
			<-finish
			return agent.Completed(), nil
		}),
	}}})
	get := func(path string) (int, string) {
		resp, err := http.Get(a.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(body))
	}
	await(t, func() bool { status, _ := get("/readyz"); return status == http.StatusOK })
	if status, text := get("/healthz"); status != http.StatusOK || text != "ok" {
		t.Errorf("/healthz = %d %s", status, text)
	}
	c := dial(t, a, "/")
	answer, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{
		Message:       *a2a.NewMessage(a2a.RoleUser, a2a.TextPart("x")),
		Configuration: &a2a.SendMessageConfiguration{ReturnImmediately: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	stopped := make(chan struct{})
	go func() {
		stop()
		close(stopped)
	}()
	await(t, func() bool { status, _ := get("/readyz"); return status == http.StatusServiceUnavailable })
	if status, _ := get("/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while stopping = %d", status)
	}
	if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: answer.Payload.(*a2a.Task).ID}); err != nil {
		t.Errorf("reading while stopping: %v", err)
	}
	if _, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: *a2a.NewMessage(a2a.RoleUser, a2a.TextPart("y"))}); err == nil {
		t.Error("a message was taken while stopping")
	} else if client.RetryAfter(err) <= 0 {
		t.Errorf("refused without a time to try again: %v", err)
	}
	close(finish)
	<-stopped
}

// await asks again and again until the answer is yes.
func await(t *testing.T, yes func() bool) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.NewTimer(10 * time.Second)
	defer limit.Stop()
	for !yes() {
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatal("it does not come to pass")
		}
	}
}

func TestASecondServerOnTheDataIsRefusedInWords(t *testing.T) {
	cfg := settings(t, "a=echo:")
	serve(t, cfg, app.Options{})
	if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), cfg.Data) {
		t.Errorf("New() on the same data = %v, want an error that names the directory", err)
	}
}

func TestATakenAddressIsRefusedInWords(t *testing.T) {
	first, _ := serve(t, settings(t), app.Options{})
	cfg := settings(t)
	cfg.Listen = first.Addr()
	if _, err := app.New(t.Context(), cfg, app.Options{}); err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("New() on a taken address = %v, want an error with a way out", err)
	}
}
