package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unicode/utf8"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/provider/piece"
)

const (
	textType   = "text/plain"
	binaryType = "application/octet-stream"
)

var (
	errTooMuch = errors.New("the program put out too much")
	errTimeout = errors.New("the program ran out of time")
)

// Run starts the program, gives it the text parts of the message, joined by
// newlines, and puts out what it writes as one artifact named "output", in
// chunks, as it comes. Other parts are not given to the program; a message
// without text is rejected.
//
// Output is text/plain as long as it is UTF-8, and no letter is split over two
// chunks. From the first chunk that is not UTF-8 on, the rest is raw parts of
// application/octet-stream; the parts joined are always what the program put
// out. A program without output leaves one empty text part.
//
// The turn is completed if the program ends with status zero before Timeout
// and within MaxOutput, else failed, with a reference to the log.
func (a *Agent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	input, ok := text(turn.Message.Parts)
	if !ok {
		return agent.Rejected("this agent takes text, and the message has no text part"), nil
	}
	reference := a2a.NewID()
	log := a.log.With("task", turn.TaskID, "reference", reference)
	bounded, cancel := context.WithTimeoutCause(ctx, a.cfg.Timeout, errTimeout)
	defer cancel()

	result := output{ctx: ctx, out: out}
	err := piece.Stream(bounded, func(ctx context.Context, w *piece.Writer) error {
		return a.execute(ctx, input, w, log)
	}, result.put)
	if ctx.Err() != nil {
		return agent.Outcome{}, ctx.Err()
	}
	if result.err != nil {
		return agent.Outcome{}, result.err
	}
	if err != nil {
		if context.Cause(bounded) == errTimeout {
			err = errTimeout
		}
		log.Warn("program failed", "error", err)
		if result.started && !result.ended {
			if err := result.put(nil, true); err != nil {
				return agent.Outcome{}, err
			}
		}
		return agent.Failed(a.explain(err) + "; reference " + reference), nil
	}
	log.Debug("program ended")
	if !result.started {
		if err := result.put(nil, true); err != nil {
			return agent.Outcome{}, err
		}
	}
	return agent.Completed(), nil
}

// explain says what a caller may know.
func (a *Agent) explain(err error) string {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if name := signaled(exit); name != "" {
			return "the program was ended by a signal: " + name
		}
		return fmt.Sprintf("the program ended with status %d", exit.ExitCode())
	}
	switch {
	case errors.Is(err, errTooMuch):
		return fmt.Sprintf("the program put out more than %d bytes and was stopped", a.cfg.MaxOutput)
	case errors.Is(err, errTimeout):
		return fmt.Sprintf("the program did not end within %v and was stopped", a.cfg.Timeout)
	case errors.Is(err, errNotStarted):
		return "the program could not be started"
	}
	return "the program could not be run"
}

// text is what the program reads, and whether the message has any.
func text(parts []a2a.Part) (string, bool) {
	var texts []string
	for _, part := range parts {
		if text, ok := part.Content.(a2a.PartText); ok {
			texts = append(texts, string(text))
		}
	}
	return strings.Join(texts, "\n"), len(texts) > 0
}

// output puts out pieces as chunks of one artifact.
type output struct {
	ctx     context.Context
	out     agent.Output
	started bool
	ended   bool
	binary  bool
	err     error
}

func (o *output) put(p []byte, last bool) error {
	o.binary = o.binary || !utf8.Valid(p)
	part := a2a.Part{Content: a2a.PartText(p), MediaType: textType}
	if o.binary {
		part = a2a.RawPart(append([]byte{}, p...), "", binaryType)
	}
	artifact := a2a.Artifact{Parts: []a2a.Part{part}}
	if !o.started {
		artifact.Name = "output"
	}
	o.err = o.out.Artifact(o.ctx, artifact, agent.Chunk{Append: o.started, Last: last})
	o.started, o.ended = true, last
	return o.err
}
