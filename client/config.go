package client

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
)

// Config tunes what is said to one remote agent. The zero value is ready to
// use and reaches https on public addresses only.
type Config struct {
	// Guard sends the requests. It belongs to one remote agent. Nil means that
	// one is made from Policy.
	Guard *guard.Client

	// Policy is the guard's policy where Guard is nil. A zero AnswerTimeout
	// becomes Timeout.
	Policy guard.Policy

	// Headers are sent with every request, the card's included. Values are
	// taken as secrets: they reach no log and no error. Headers that belong to
	// the protocol or to the connection are refused.
	Headers http.Header

	// Credentials returns further headers, asked for before every request, so
	// that a secret is read only when it is used. With renew set an earlier
	// answer was just refused with 401; that is asked once, and only for
	// requests that are safe to repeat. It may be called by several goroutines
	// at a time. Nil means there are none.
	Credentials func(ctx context.Context, renew bool) (http.Header, error)

	// Extensions are the URIs of the extensions that are understood and asked
	// for with every request, beside those that the message of a request names
	// (a2a.proto Message.extensions). An agent that requires another is not used.
	Extensions []string

	// RequiredExtensions are the URIs of extensions without which an agent is of
	// no use: one whose card does not announce them all is not used. They are
	// asked for with every request too.
	RequiredExtensions []string

	// Timeout bounds an operation with all its legs; for a stream, the wait
	// for the answer's header. A SendMessage that waits for the work needs as
	// much as the work. Zero means 60 seconds.
	Timeout time.Duration

	// CardTimeout bounds the reading of a card. Zero means 15 seconds.
	CardTimeout time.Duration

	// StreamIdle is how long a stream may be silent, comments included, before
	// it counts as broken. Zero means 5 minutes.
	StreamIdle time.Duration

	// MaxCardBytes caps a card. Zero means 1 MiB.
	MaxCardBytes int64

	// MaxAnswerBytes caps an answer that is not a stream. Zero means 8 MiB.
	MaxAnswerBytes int64

	// MaxEventBytes caps one event of a stream. Zero means 8 MiB.
	MaxEventBytes int

	// MaxStreamBytes caps the bytes of one stream's connection. Zero means
	// 256 MiB.
	MaxStreamBytes int64

	// Observe is told of every answer's header. It must be quick and may be
	// called by several goroutines at a time. Nil means nobody is.
	Observe func(Answer)

	// Interrupted is told when the way to a task that is being followed breaks,
	// by a [Stream] or by [Client.Follow], and is tried again from here on. It
	// is called once for each interruption, before the first pause, with what
	// happened. An end of a stream that the task's state explains is none.
	// Like Resumed it is called by the goroutine that reads the stream or
	// follows the task. Nil means nobody is told.
	Interrupted func(a2a.TaskID, error)

	// Resumed is told when what Interrupted was told of is over and the task
	// is there again. If it is not called, the stream or Follow ends with the
	// error that was the last. Nil means nobody is told.
	Resumed func(a2a.TaskID)

	// Logger receives diagnostics: methods, states and counts, never content.
	// Nil discards them.
	Logger *slog.Logger

	// Now supplies the times cards are read and aged at. Nil means time.Now.
	Now func() time.Time

	own bool // Guard was made here, for the reading of a card alone
}

// Answer is what the header of an answer says.
type Answer struct {
	// Method is the operation, or "agent card".
	Method string

	// Status is the HTTP status.
	Status int

	// Extensions are the URIs the agent says it activated. An extension that
	// is missing here was not in force, whatever the card promised.
	Extensions []string
}

// withDefaults fills in what is zero and checks the rest.
func (c Config) withDefaults() (Config, error) {
	for _, n := range []int64{int64(c.Timeout), int64(c.CardTimeout), int64(c.StreamIdle),
		c.MaxCardBytes, c.MaxAnswerBytes, int64(c.MaxEventBytes), c.MaxStreamBytes} {
		if n < 0 {
			return Config{}, fmt.Errorf("client: a limit of the configuration is negative")
		}
	}
	if err := checkHeaders(c.Headers); err != nil {
		return Config{}, err
	}
	for _, uri := range c.RequiredExtensions {
		if !slices.Contains(c.Extensions, uri) {
			c.Extensions = append(slices.Clip(c.Extensions), uri)
		}
	}
	if err := checkURIs(c.Extensions); err != nil {
		return Config{}, fmt.Errorf("client: %w", err)
	}
	c.Timeout = orDefault(c.Timeout, 60*time.Second)
	c.CardTimeout = orDefault(c.CardTimeout, 15*time.Second)
	c.StreamIdle = orDefault(c.StreamIdle, 5*time.Minute)
	c.MaxCardBytes = orDefault(c.MaxCardBytes, 1<<20)
	c.MaxAnswerBytes = orDefault(c.MaxAnswerBytes, 8<<20)
	c.MaxEventBytes = orDefault(c.MaxEventBytes, 8<<20)
	c.MaxStreamBytes = orDefault(c.MaxStreamBytes, 256<<20)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Guard == nil {
		c.Policy.AnswerTimeout = orDefault(c.Policy.AnswerTimeout, c.Timeout)
		made, err := guard.New(c.Policy)
		if err != nil {
			return Config{}, fmt.Errorf("client: %w", err)
		}
		c.Guard, c.own = made, true
	}
	return c, nil
}

func orDefault[T int | int64 | time.Duration](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}
