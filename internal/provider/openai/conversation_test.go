package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/openai"
)

func user(text string) a2a.Message      { return *a2a.NewMessage(a2a.RoleUser, a2a.TextPart(text)) }
func agentSays(text string) a2a.Message { return *a2a.NewMessage(a2a.RoleAgent, a2a.TextPart(text)) }

func answered(question string, chunks ...string) a2a.Task {
	artifact := a2a.Artifact{ArtifactID: "a-1"}
	for _, chunk := range chunks {
		artifact.Parts = append(artifact.Parts, a2a.TextPart(chunk))
	}
	return a2a.Task{History: []a2a.Message{user(question)}, Artifacts: []a2a.Artifact{artifact}}
}

func TestWhatTheModelIsTold(t *testing.T) {
	data, err := a2a.DataPart(map[string]any{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	failed := a2a.Task{History: []a2a.Message{user("q2")}, Status: a2a.TaskStatus{State: a2a.TaskStateFailed, Message: new(agentSays("reference 1"))}}
	tests := map[string]struct {
		budget  int
		earlier []a2a.Task
		history []a2a.Message // before the message
		parts   []a2a.Part
		want    []message
	}{
		"a message alone": {parts: []a2a.Part{a2a.TextPart("x")}, want: []message{{"user", "x"}}},
		"all kinds of parts": {
			parts: []a2a.Part{
				a2a.TextPart("a"), a2a.TextPart("b"), data,
				a2a.RawPart([]byte("RAW"), "r.pdf", "application/pdf"), a2a.URLPart("https://example.com/secret", "", ""), {},
			},
			want: []message{{"user", "a\nb\n{\"n\":1}\n" +
				"[a file named \"r.pdf\", of type \"application/pdf\"; its content is not included]\n" +
				"[a file without a name, of unknown type; its content is not included]\n"}},
		},
		"earlier tasks": {
			earlier: []a2a.Task{answered("q1", "a", "1"), failed},
			parts:   []a2a.Part{a2a.TextPart("q3")},
			want:    []message{{"user", "q1"}, {"assistant", "a1"}, {"user", "q2\n\nq3"}},
		},
		"a question of this task": {
			history: []a2a.Message{user("q1"), agentSays("which?")},
			parts:   []a2a.Part{a2a.TextPart("that")},
			want:    []message{{"user", "q1"}, {"assistant", "which?"}, {"user", "that"}},
		},
		"the oldest turns are left out whole": {
			budget:  10,
			earlier: []a2a.Task{answered("q1", "a1"), answered("q2", "12345678"), answered("q3", "a3")},
			parts:   []a2a.Part{a2a.TextPart("a longer message than the budget")},
			want:    []message{{"user", "q3"}, {"assistant", "a3"}, {"user", "a longer message than the budget"}},
		},
		"all that fits exactly": {
			budget:  4,
			earlier: []a2a.Task{answered("q1", "a1")},
			parts:   []a2a.Part{a2a.TextPart("q2")},
			want:    []message{{"user", "q1"}, {"assistant", "a1"}, {"user", "q2"}},
		},
		"no budget": {
			budget:  -1,
			earlier: []a2a.Task{answered("q1", "a1")},
			parts:   []a2a.Part{a2a.TextPart("q2")},
			want:    []message{{"user", "q2"}},
		},
		"empty messages are left out": {
			earlier: []a2a.Task{answered("q1", " ")},
			parts:   []a2a.Part{a2a.TextPart("q2")},
			want:    []message{{"user", "q1\n\nq2"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
			cfg := e.config()
			cfg.MaxContextBytes = test.budget
			a, err := openai.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			turn := say(test.parts...)
			turn.Memory = memory{earlier: test.earlier, history: append(test.history, *turn.Message)}
			if _, err := a.Run(t.Context(), turn, &recorder{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, e.calls[0].Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEmptyMessageIsRejected(t *testing.T) {
	e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
	a, err := openai.New(e.config())
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := a.Run(t.Context(), say(a2a.TextPart(" \n")), &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agent.Rejected("the message is empty").Message.Text(), outcome.Message.Text()); diff != "" || outcome.State != a2a.TaskStateRejected {
		t.Errorf("%s, reason (-want +got):\n%s", outcome.State, diff)
	}
	if len(e.calls) != 0 {
		t.Errorf("%d calls were made, want none", len(e.calls))
	}
}

func TestAMemoryThatCanNotBeReadIsAnError(t *testing.T) {
	down := errors.New("store down")
	e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
	a, err := openai.New(e.config())
	if err != nil {
		t.Fatal(err)
	}
	turn := say(a2a.TextPart("x"))
	turn.Memory = memory{err: down}
	if _, err := a.Run(t.Context(), turn, &recorder{}); !errors.Is(err, down) || !strings.HasPrefix(err.Error(), "read history") {
		t.Errorf("Run() error = %v, want one about reading the history", err)
	}
}
