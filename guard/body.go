package guard

import (
	"context"
	"io"
	"net/http"
)

type maxAnswerKey struct{}

// WithMaxAnswer caps the body of the responses to requests with this context
// at n bytes instead of the policy's [Policy.MaxAnswerBytes]: a card needs
// less than an answer, a stream more. A cap of zero or less changes nothing.
func WithMaxAnswer(ctx context.Context, n int64) context.Context {
	return context.WithValue(ctx, maxAnswerKey{}, n)
}

func maxAnswer(ctx context.Context, fallback int64) int64 {
	if n, ok := ctx.Value(maxAnswerKey{}).(int64); ok && n > 0 {
		return n
	}
	return fallback
}

// body is a response's body up to its cap. It is read by one goroutine at a
// time, as bodies are.
type body struct {
	io.ReadCloser
	limit, left int64
	err         error
	done        func()
}

func newBody(resp *http.Response, limit int64, done func()) *body {
	b := &body{ReadCloser: resp.Body, limit: limit, left: limit, done: done}
	if resp.ContentLength > limit && resp.Request.Method != http.MethodHead {
		b.err = &TooLargeError{Limit: limit}
	}
	return b
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	// One byte more than is left tells a body that just fits from one too long.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), &TooLargeError{Limit: b.limit}
	}
	b.left -= int64(n)
	if err != nil {
		b.err = err
		b.done()
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err
}
