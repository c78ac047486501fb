//go:build unix

package command_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/command"
)

// put is one call of Output.Artifact.
type put struct {
	artifact a2a.Artifact
	chunk    agent.Chunk
}

// recorder keeps what an agent puts out. A set hook sees it too, and its error
// is the output's.
type recorder struct {
	hook func(put) error
	puts []put
}

func (r *recorder) Status(context.Context, *a2a.Message) error { return nil }
func (r *recorder) Flush(context.Context) error                { return nil }
func (r *recorder) Artifact(ctx context.Context, a a2a.Artifact, c agent.Chunk) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.puts = append(r.puts, put{a, c})
	if r.hook != nil {
		return r.hook(put{a, c})
	}
	return nil
}

// bytes is the output joined, after a check of the rules every artifact obeys.
func (r *recorder) bytes(t *testing.T) string {
	t.Helper()
	var joined bytes.Buffer
	for i, p := range r.puts {
		if last := i == len(r.puts)-1; p.chunk.Last != last {
			t.Errorf("chunk %d of %d: last = %v", i+1, len(r.puts), p.chunk.Last)
		}
		if p.chunk.Append != (i > 0) {
			t.Errorf("chunk %d of %d: append = %v", i+1, len(r.puts), p.chunk.Append)
		}
		if named := p.artifact.Name == "output"; named != (i == 0) {
			t.Errorf("chunk %d of %d: name = %q", i+1, len(r.puts), p.artifact.Name)
		}
		for _, part := range p.artifact.Parts {
			switch content := part.Content.(type) {
			case a2a.PartText:
				joined.WriteString(string(content))
			case a2a.PartRaw:
				joined.Write(content)
			}
		}
	}
	return joined.String()
}

// buffer is a log many goroutines may write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *buffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// shell is an agent that runs a script with arguments $1, $2 and so on.
func shell(t *testing.T, cfg command.Config, script string, args ...string) *command.Agent {
	t.Helper()
	cfg.Program = append([]string{"sh", "-c", script, "script"}, args...)
	a, err := command.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func say(texts ...string) agent.Turn {
	var parts []a2a.Part
	for _, text := range texts {
		parts = append(parts, a2a.TextPart(text))
	}
	return agent.Turn{TaskID: "t-1", Message: a2a.NewMessage(a2a.RoleUser, parts...)}
}

// reason is what a caller is told of an outcome.
func reason(o agent.Outcome) string {
	if o.Message == nil {
		return ""
	}
	return o.Message.Text()
}
