package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	oai "github.com/sashabaranov/go-openai"

	"github.com/legation/legation/guard"
)

const (
	maxErrorBody = 64 << 10
	maxLine      = 4 << 20
	// overhead is how many bytes of the wire a byte of text may cost.
	overhead = 16
)

var (
	errSilent   = errors.New("the endpoint was silent for too long")
	errRedirect = errors.New("the endpoint answered with a redirect")
	errNoStream = errors.New("the endpoint did not answer with a stream")
	errEndless  = errors.New("the endpoint's answer is longer than its limit")
)

// call is one request and its answer. The library's client sees the network
// through it, so that every wait and every read is bounded.
type call struct {
	http  *http.Client
	key   string
	ctx   context.Context
	stop  context.CancelCauseFunc
	timer *time.Timer // running while we wait for the endpoint
	idle  time.Duration

	status int
	after  time.Duration // what the endpoint asked us to wait
	begun  bool          // an event of the answer was read

	uncounted bool // the endpoint refused the option that asks for usage

	body  io.ReadCloser
	left  int64
	line  int64  // bytes since the last newline
	tail  []byte // the last bytes read
	heard bool   // a byte of the body was read
}

func (m *Model) newCall(ctx context.Context) *call {
	limit := overhead*int64(m.cfg.MaxAnswer) + maxErrorBody
	ctx, stop := context.WithCancelCause(guard.WithMaxAnswer(ctx, limit))
	return &call{
		http: m.http, key: m.cfg.Key, ctx: ctx, stop: stop, idle: m.cfg.IdleTimeout, left: limit,
		timer: time.AfterFunc(m.cfg.FirstByteTimeout, func() { stop(errSilent) }),
	}
}

func (c *call) end() {
	c.timer.Stop()
	c.stop(nil)
}

// client is the library's client for this call.
func (c *call) client(cfg Config) *oai.Client {
	config := oai.DefaultConfig(c.key)
	config.BaseURL = cfg.BaseURL
	config.HTTPClient = c
	config.EmptyMessagesLimit = 4096 // comments while a model thinks
	return oai.NewClientWithConfig(config)
}

// Do sends the request. The body of an error is read here, as the library
// would read all of it.
func (c *call) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	c.status = resp.StatusCode
	c.after = retryAfter(resp.Header)
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case c.status >= 400:
		defer resp.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		c.uncounted = (c.status == http.StatusBadRequest || c.status == http.StatusUnprocessableEntity) &&
			(bytes.Contains(text, []byte("stream_options")) || bytes.Contains(text, []byte("include_usage")))
		resp.Body = io.NopCloser(bytes.NewReader(text))
		return resp, nil
	case c.status >= 300:
		err = errRedirect
	case kind == "application/json" || kind == "text/html":
		err = errNoStream
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	c.body = resp.Body
	resp.Body = c
	return resp, nil
}

// Read reads the stream. The clock runs only while it waits, and up to the
// first byte it goes on from the request.
func (c *call) Read(p []byte) (int, error) {
	if c.left <= 0 || c.line > maxLine {
		return 0, errEndless
	}
	if c.heard {
		c.timer.Reset(c.idle)
	}
	n, err := c.body.Read(p[:min(int64(len(p)), c.left)])
	if n > 0 {
		c.timer.Stop()
		c.heard = true
		c.note(p[:n])
	}
	return n, err
}

// note keeps count of what was read.
func (c *call) note(p []byte) {
	c.left -= int64(len(p))
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		c.line = int64(len(p) - end - 1)
	} else {
		c.line += int64(len(p))
	}
	const kept = 64
	c.tail = append(c.tail, p[max(0, len(p)-kept):]...)
	c.tail = c.tail[max(0, len(c.tail)-kept):]
}

// marked reports whether what was read ends with the mark of a stream's end:
// some endpoints give no reason with which the answer finished.
func (c *call) marked() bool {
	end := bytes.TrimSpace(c.tail)
	end = end[bytes.LastIndexByte(end, '\n')+1:]
	data, ok := bytes.CutPrefix(end, []byte("data:"))
	return ok && string(bytes.TrimSpace(data)) == "[DONE]"
}

// Close closes the body.
func (c *call) Close() error { return c.body.Close() }

// retryAfter is what the endpoint asked for, in seconds or as a date
// (RFC 9110, section 10.2.3). Zero if it did not.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
