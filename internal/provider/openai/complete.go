package openai

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cenkalti/backoff/v5"
	oai "github.com/sashabaranov/go-openai"
)

// Role is who said a [Message].
type Role string

// The roles of messages.
const (
	RoleSystem    Role = oai.ChatMessageRoleSystem
	RoleUser      Role = oai.ChatMessageRoleUser
	RoleAssistant Role = oai.ChatMessageRoleAssistant
)

// Message is one thing said to or by the model.
type Message struct {
	Role Role
	Text string
}

// Answer says how a completion ended.
type Answer struct {
	// Truncated says that a limit cut the answer, the endpoint's or ours.
	Truncated bool

	// Filtered says that the endpoint's content filter ended the answer.
	Filtered bool

	// Tokens is how many tokens the call used, prompt and answer, as the endpoint
	// says. Zero means that it did not say.
	Tokens int64

	// Cost is what they cost by the prices of the configuration, in millionths.
	Cost int64

	// Refusal is what the model said instead of answering, up to 4 KiB.
	Refusal string
}

const (
	maxTries   = 3
	maxPause   = 30 * time.Second
	maxRefusal = 4 << 10
)

// Complete asks the model to continue messages and passes its answer to deliver
// as it comes, on the caller's goroutine. It ends with the error of deliver,
// that of ctx, or an [*Error].
//
// A call that failed before the first event of its answer is made up to twice
// more, after growing pauses and no sooner than the endpoint asked for, if its
// failure is one that passes. A call the endpoint took and was silent about for
// too long is not: it may be at work on it.
//
// A budget above zero is how many tokens the call may use, messages and answer.
// The messages are measured without asking the endpoint, so that they never
// weigh more than was thought, and the answer gets what they leave. A budget
// that leaves nothing is an error of this kind: [KindBudget].
func (m *Model) Complete(ctx context.Context, messages []Message, budget int64, deliver func(text string) error) (Answer, error) {
	pauses := backoff.ExponentialBackOff{
		InitialInterval: time.Second, Multiplier: 3, MaxInterval: maxPause, RandomizationFactor: 0.5,
	}
	limit := m.answerLimit(budget, messages)
	if budget > 0 && limit < 1 {
		return Answer{}, &Error{Kind: KindBudget}
	}
	request := m.request(messages, limit)
	for try := 1; ; try++ {
		if !m.uncounted.Load() {
			request.StreamOptions = &oai.StreamOptions{IncludeUsage: true}
		}
		answer, err := m.attempt(ctx, request, deliver)
		failure, ok := errors.AsType[*Error](err)
		if !ok {
			return answer, err
		}
		if failure.uncounted && request.StreamOptions != nil {
			// The endpoint does not know the option with which it would say what
			// a call used. It has refused the call, so asking again costs nothing.
			m.uncounted.Store(true)
			request.StreamOptions = nil
			try--
			continue
		}
		pause := max(pauses.NextBackOff(), failure.after)
		if !failure.retry || try == maxTries || pause > maxPause {
			return answer, failure
		}
		m.log.Info("model call will be tried again", append(failure.attrs(), "try", try, "pause", pause)...)
		if err := wait(ctx, pause); err != nil {
			return Answer{}, err
		}
	}
}

// request is what is sent.
func (m *Model) request(messages []Message, limit int) oai.ChatCompletionRequest {
	request := oai.ChatCompletionRequest{Model: m.cfg.Model, MaxTokens: limit}
	if reasons(m.cfg.Model) {
		request.MaxTokens, request.MaxCompletionTokens = 0, limit
	}
	if t := m.cfg.Temperature; t != nil {
		// Zero would be left out; the smallest number the library writes means
		// the same to every endpoint.
		request.Temperature = max(*t, math.SmallestNonzeroFloat32)
	}
	if p := m.cfg.TopP; p != nil {
		request.TopP = *p
	}
	if m.cfg.System != "" {
		request.Messages = append(request.Messages, oai.ChatCompletionMessage{Role: oai.ChatMessageRoleSystem, Content: m.cfg.System})
	}
	for _, said := range messages {
		request.Messages = append(request.Messages, oai.ChatCompletionMessage{Role: string(said.Role), Content: said.Text})
	}
	return request
}

// reasons reports whether a model is one that takes the newer name of the limit
// only. Most other endpoints take the older one only.
func reasons(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// attempt makes one call.
func (m *Model) attempt(ctx context.Context, request oai.ChatCompletionRequest, deliver func(string) error) (Answer, error) {
	c := m.newCall(ctx)
	defer c.end()
	stream, err := c.client(m.cfg).CreateChatCompletionStream(c.ctx, request)
	if err != nil {
		return Answer{}, c.failure(ctx, err)
	}
	defer stream.Close()

	r := reading{prices: m.cfg.Prices, left: m.cfg.MaxAnswer}
	for !r.full {
		event, err := stream.Recv()
		switch {
		case err == nil:
		case ctx.Err() == nil && (r.finished || errors.Is(err, io.EOF) && c.marked()):
			return r.Answer, nil // whatever became of the connection then
		default:
			return r.Answer, c.failure(ctx, err)
		}
		c.begun = true
		if text := r.take(event); text != "" {
			if err := deliver(text); err != nil {
				return r.Answer, err
			}
		}
	}
	return r.Answer, nil
}

// reading is an answer while it comes.
type reading struct {
	Answer
	prices   Prices
	left     int // bytes of text still taken
	finished bool
	full     bool // there was more than is taken
}

// take returns the text of an event and notes what else it says.
func (r *reading) take(event oai.ChatCompletionStreamResponse) string {
	if used := tokens(event.Usage); used > 0 {
		r.Tokens = used // some endpoints say it again and again, as it grows
		r.Cost = r.prices.of(event.Usage)
	}
	var text string
	for _, choice := range event.Choices {
		if choice.Index != 0 {
			continue // only one answer was asked for
		}
		text += choice.Delta.Content
		r.Refusal = cut(r.Refusal+choice.Delta.Refusal, maxRefusal)
		switch choice.FinishReason {
		case "", oai.FinishReasonNull:
			continue
		case oai.FinishReasonLength:
			r.Truncated = true
		case oai.FinishReasonContentFilter:
			r.Filtered = true
		}
		r.finished = true
	}
	if len(text) > r.left {
		text = cut(text, r.left)
		r.full, r.Truncated = true, true
		return text
	}
	r.left -= len(text)
	return text
}

// tokens is what an endpoint says that a call used, if it makes sense.
func tokens(usage *oai.Usage) int64 {
	const most = 1 << 40
	if usage == nil {
		return 0
	}
	prompt, answer, total := int64(usage.PromptTokens), int64(usage.CompletionTokens), int64(usage.TotalTokens)
	for _, n := range []int64{prompt, answer, total} {
		if n < 0 || n > most {
			return 0
		}
	}
	return max(total, prompt+answer)
}

// cut is at most n bytes of text, in whole letters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
