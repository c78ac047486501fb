package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
)

// fail answers with an error: as a response of its own, or as the last event
// of the stream that has begun.
func (c *call) fail(err error) {
	if plain, ok := errors.AsType[*plainError](err); ok {
		c.writePlain(plain.status, plain.text)
		return
	}
	if c.r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		c.log(0, err) // the caller left; nobody reads an answer
		return
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		c.refusal(refusal.Code)
		err = c.callerError(refusal) // with its challenge
	}
	status, wire, reference := c.wire(err)
	if reference != "" {
		c.server.cfg.Logger.ErrorContext(c.r.Context(), "a request failed", "reference", reference,
			"method", c.method, "agent", c.owner.Agent, "caller", c.owner.Caller, "task", c.taskID, "error", err)
	}
	c.log(wire.Code, nil)
	body := jsonrpc.AppendError(nil, c.id, wire.AppendJSON(nil))
	switch {
	case c.stream != nil:
		_ = c.stream.Event(body) // the last write: nobody is left to tell
	case !c.answered:
		if refusal, ok := errors.AsType[*httpError](err); ok && refusal.challenge != "" {
			c.w.Header().Set("WWW-Authenticate", refusal.challenge)
		}
		if wire.RetryAfter > 0 && status != http.StatusOK {
			c.w.Header().Set("Retry-After", seconds(wire.RetryAfter))
		}
		c.writeJSON(status, body)
	}
}

// rescue turns a panic into an answer. It must be deferred itself.
func (c *call) rescue() {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	c.fail(&panicError{value: p, stack: debug.Stack()})
}

// panicError is a panic on its way to the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return "panic" }

// LogValue says where it came from. The value itself may hold content; only
// that of a runtime error, which cannot, is shown.
func (e *panicError) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("stack", string(e.stack))}
	if err, ok := e.value.(interface {
		error
		RuntimeError()
	}); ok {
		attrs = append(attrs, slog.String("panic", err.Error()))
	}
	return slog.GroupValue(attrs...)
}

// log notes the end of a call, for those who look closely.
func (c *call) log(code a2a.Code, cause error) {
	logger := c.server.cfg.Logger
	if !logger.Enabled(c.r.Context(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", c.method), slog.String("agent", c.owner.Agent), slog.String("caller", c.owner.Caller),
		slog.String("task", string(c.taskID)), slog.Duration("took", time.Since(c.began)),
	}
	if code != 0 {
		attrs = append(attrs, slog.Int("code", int(code)))
	}
	if cause != nil {
		attrs = append(attrs, slog.Any("error", cause))
	}
	logger.LogAttrs(c.r.Context(), slog.LevelDebug, "request", attrs...)
}

// writePlain answers with a sentence.
func (c *call) writePlain(status int, text string) {
	c.answered = true
	c.server.writePlain(c.w, status, text)
}

func (s *Server) writePlain(w http.ResponseWriter, status int, text string) {
	s.extendWrite(w)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}

// seconds writes a Retry-After, rounded up (RFC 9110, section 10.2.3).
func seconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}
