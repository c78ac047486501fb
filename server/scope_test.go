package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/server"
)

// policy is a model of who is who: the callers that the users of a request
// stand for.
type policy struct {
	of    func(user string) string
	users []string // of one caller
}

// policies are models as authors may choose them.
// REQ-SCOPE-07: all that follows holds for each.
var policies = []policy{
	{ // each user
		users: []string{"CALLER"},
		of:    func(user string) string { return user },
	},
	{ // the project of a user
		users: []string{"ann@CALLER", "bob@CALLER"},
		of:    func(user string) string { _, project, _ := strings.Cut(user, "@"); return project },
	},
	{ // the role of a user
		users: []string{"role/CALLER/1", "role/CALLER/2"},
		of:    func(user string) string { return strings.Split(user, "/")[1] },
	},
}

// Caller implements server.Callers.
func (p policy) Caller(r *http.Request) (server.Caller, error) {
	return server.Caller{Name: p.of(r.Header.Get("X-Caller"))}, nil
}

// recall puts out all that a turn can see of what was said in other tasks.
func recall(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	earlier, err := turn.Memory.Earlier(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	references, err := turn.Memory.References(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	seen := "seen:"
	for _, one := range append(earlier, references...) {
		for _, message := range one.History {
			seen += " " + message.Text()
		}
	}
	artifact := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(seen)}}
	return agent.Completed(), out.Artifact(ctx, artifact, agent.Chunk{Last: true})
}

// owned is what one caller has with one agent, as the test knows it.
type owned struct {
	caller, path string
	word         string // in all that this caller says to this agent, and nowhere else
	tasks        []string
	asking       []string // of the tasks, those that ask for input
	working      []string // of the tasks, those that work until they are canceled
	contexts     []string
	messages     []string
	tokens       []string
}

// estate is what all of them have.
type estate struct {
	*world
	*rapid.T
	policy policy
	owners []*owned
}

// TestNobodySeesWhatIsAnothers lets callers do at random what callers do, and
// then everybody ask with everything that is somebody else's: a task, a context,
// a message, a page token, a reference. The answer is that to what never was,
// byte by byte, nothing of the other's changes, and no list counts it.
// REQ-SCOPE-01, REQ-SCOPE-02, REQ-SCOPE-03, REQ-SCOPE-04, REQ-SCOPE-05,
// REQ-SCOPE-07, REQ-SCOPE-09
func TestNobodySeesWhatIsAnothers(t *testing.T) {
	agents := []server.Agent{
		{Name: "north", Card: form("North", "echo", "ask", "recall", "gate")},
		{Name: "south", Card: form("South", "echo", "ask", "recall", "gate")},
	}
	worlds := make([]*world, len(policies))
	for i, policy := range policies {
		with := options{agents: agents, config: func(cfg *server.Config) { cfg.Callers = policy }}
		with.engine.Now = func() time.Time { return epoch } // the same in every answer
		worlds[i] = newWorld(t, with)
	}
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		i := rapid.IntRange(0, len(policies)-1).Draw(t, "policy")
		e := &estate{world: worlds[i], T: t, policy: policies[i]}
		for i := range 3 {
			for _, path := range []string{"/agents/north", "/agents/south"} {
				e.owners = append(e.owners, &owned{
					caller: fmt.Sprintf("c%d-%d", run, i), path: path, word: fmt.Sprintf("word.%d.%d.", run, len(e.owners)),
				})
			}
		}
		t.Cleanup(e.end)
		victim := rapid.SampledFrom(e.owners).Draw(t, "victim")
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			e.operate(rapid.SampledFrom(append(e.owners, victim, victim)).Draw(t, "owner"))
		}
		for len(victim.tasks) < 2 { // so that it has a page behind the first
			e.begin(victim)
		}
		e.page(victim)
		e.counted()
		e.probe(victim)
		e.counted()
	})
}

// operate does one thing that callers do with their own.
func (e *estate) operate(o *owned) {
	switch rapid.SampledFrom([]string{"begin", "begin", "go on", "cancel", "page"}).Draw(e.T, "operation") {
	case "begin":
		e.begin(o)
	case "go on":
		if len(o.asking) > 0 {
			text := rapid.SampledFrom([]string{"done", o.word}).Draw(e.T, "text")
			e.say(o, a2a.NewID(), text, member("taskId", rapid.SampledFrom(o.asking).Draw(e.T, "task")))
		}
	case "cancel":
		if len(o.working) > 0 {
			e.cancel(o, rapid.SampledFrom(o.working).Draw(e.T, "task"))
		}
	case "page":
		e.page(o)
	}
}

// page reads a page of a list, and keeps the token of the next.
func (e *estate) page(o *owned) {
	_, rest, _ := strings.Cut(e.send(o, "ListTasks", `{"pageSize":1}`).Body.String(), `"nextPageToken":"`)
	if token, _, _ := strings.Cut(rest, `"`); token != "" {
		o.tokens = append(o.tokens, token)
	}
}

// begin makes a task, in a context that may be new, its own, or one by whose id
// others have one.
func (e *estate) begin(o *owned) {
	contexts := []string{"", a2a.NewID()}
	for _, one := range e.owners {
		contexts = append(contexts, one.contexts...)
	}
	skill := rapid.SampledFrom([]string{"echo", "ask", "recall", "gate"}).Draw(e.T, "skill")
	if skill == "gate" && len(o.working) > 1 {
		skill = "echo" // few may work at once
	}
	e.say(o, a2a.NewID(), o.word, skilled(skill), member("contextId", rapid.SampledFrom(contexts).Draw(e.T, "context")))
}

func (e *estate) cancel(o *owned, id string) {
	made := taskOf(e.T, e.send(o, "CancelTask", `{"id":"`+id+`"}`).Body.Bytes())
	if made.Status.State != a2a.TaskStateCanceled {
		e.Fatalf("a canceled task is %s", made.Status.State)
	}
	o.working = without(o.working, id)
}

// end lets go of what works.
func (e *estate) end() {
	for _, o := range e.owners {
		for _, id := range o.working {
			r := request("POST", o.path, rpc("CancelTask", `{"id":"`+id+`"}`))
			r.Header.Set("X-Caller", strings.ReplaceAll(e.policy.users[0], "CALLER", o.caller))
			e.do(r)
		}
	}
}

// send asks as one of the users that a caller is. No answer has anything that
// others have said.
func (e *estate) send(o *owned, method, params string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := request("POST", o.path, rpc(method, params)).WithContext(ctx)
	user := rapid.SampledFrom(e.policy.users).Draw(e.T, "user")
	r.Header.Set("X-Caller", strings.ReplaceAll(user, "CALLER", o.caller))
	rec := e.do(r)
	for _, other := range e.owners {
		if other != o && strings.Contains(rec.Body.String(), other.word) {
			e.Fatalf("%s of %s at %s is answered with words of %s at %s: %s", method, o.caller, o.path, other.caller, other.path, rec.Body)
		}
	}
	return rec
}

// say sends a message, which is taken, and notes the task that it went to.
func (e *estate) say(o *owned, id, text string, more ...string) *httptest.ResponseRecorder {
	params := say(id, text, more...)
	gated := strings.Contains(params, `"gate"`)
	if gated {
		params = strings.TrimSuffix(params, "}") + `,"configuration":{"returnImmediately":true}}`
	}
	rec := e.send(o, "SendMessage", params)
	made := taskOf(e.T, rec.Body.Bytes())
	task := string(made.ID)
	if gated {
		<-e.gate.entered // it works, and nothing changes by itself any more
		o.working = append(o.working, task)
	}
	if !slices.Contains(o.tasks, task) {
		o.tasks = append(o.tasks, task)
	}
	if o.asking = without(o.asking, task); made.Status.State == a2a.TaskStateInputRequired {
		o.asking = append(o.asking, task)
	}
	o.contexts, o.messages = append(o.contexts, string(made.ContextID)), append(o.messages, id)
	return rec
}

func member(name, id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(`,%q:%q`, name, id)
}

func skilled(id string) string {
	return `,"metadata":{"urn:legation:skill:v1":{"skillId":"` + id + `"}}`
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == one })
}

// counted checks what lists show and count: all that is its owner's, and
// nothing else.
func (e *estate) counted() {
	for _, o := range e.owners {
		body := e.send(o, "ListTasks", `{"pageSize":100,"historyLength":0}`).Body.String()
		for _, other := range e.owners {
			for _, id := range other.tasks {
				if strings.Contains(body, `"id":"`+id+`"`) != (o == other) {
					e.Fatalf("the list of %s at %s, about task %s of %s at %s: %s", o.caller, o.path, id, other.caller, other.path, body)
				}
			}
		}
		_, total, _ := strings.Cut(body, `"totalSize":`)
		if total = strings.TrimRight(total, "}"); total != strconv.Itoa(len(o.tasks)) {
			e.Fatalf("%s at %s has %d tasks, and its list counts %s", o.caller, o.path, len(o.tasks), total)
		}
	}
}

// view is all that an owner can read.
func (e *estate) view(o *owned) string {
	all := e.send(o, "ListTasks", `{"pageSize":100,"includeArtifacts":true}`).Body.String()
	for _, id := range o.tasks {
		all += e.send(o, "GetTask", `{"id":"`+id+`"}`).Body.String()
	}
	return all
}
