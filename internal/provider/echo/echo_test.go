package echo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/echo"
)

type put struct {
	Artifact a2a.Artifact
	Chunk    agent.Chunk
}

type recorder struct {
	puts []put
	err  error
}

func (r *recorder) Status(context.Context, *a2a.Message) error { return r.err }
func (r *recorder) Flush(context.Context) error                { return r.err }
func (r *recorder) Artifact(_ context.Context, a a2a.Artifact, c agent.Chunk) error {
	r.puts = append(r.puts, put{a, c})
	return r.err
}

func TestEchoReturnsPartsAsTheyCame(t *testing.T) {
	data, err := a2a.DataPart(map[string]any{"\U0001F600": nil, "n": 1})
	if err != nil {
		t.Fatal(err)
	}
	file := a2a.RawPart([]byte{0, 0xff, 0x80}, "a.bin", "application/x-thing")
	file.Metadata = a2a.Struct(`{"k":"v"}`)
	parts := []a2a.Part{a2a.TextPart("<b>&\"\u03a9\U0001F600\u2028"), data, file, a2a.URLPart("https://example.com/x", "x", "")}

	var out recorder
	outcome, err := echo.New().Run(t.Context(), agent.Turn{Message: a2a.NewMessage(a2a.RoleUser, parts...)}, &out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agent.Completed(), outcome); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	want := []put{{a2a.Artifact{Name: "echo", Parts: parts}, agent.Chunk{Last: true}}}
	if diff := cmp.Diff(want, out.puts); diff != "" {
		t.Errorf("put out (-want +got):\n%s", diff)
	}
}

func TestEchoPassesOnWhatTheOutputSays(t *testing.T) {
	ended := errors.New("the task has ended")
	_, err := echo.New().Run(t.Context(), agent.Turn{Message: a2a.NewMessage(a2a.RoleUser, a2a.TextPart("x"))}, &recorder{err: ended})
	if !errors.Is(err, ended) {
		t.Errorf("Run() error = %v, want %v", err, ended)
	}
}

func TestEchoIsRepeatable(t *testing.T) {
	if !echo.New().Repeatable() {
		t.Error("Repeatable() = false, want true")
	}
}
