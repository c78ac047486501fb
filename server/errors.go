package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/task"
)

// httpError is an error with an HTTP status of its own. All others are
// answered with 200, for HTTP did its part.
type httpError struct {
	status    int
	challenge string // of a 401
	wire      *a2a.Error
}

func (e *httpError) Error() string { return fmt.Sprintf("http %d: %v", e.status, e.wire) }
func (e *httpError) Unwrap() error { return e.wire }

func refused(status int, code a2a.Code, format string, args ...any) error {
	return &httpError{status: status, wire: a2a.Errorf(code, format, args...)}
}

// later is the answer to what may go well in a while.
func later(status int, after time.Duration, format string, args ...any) error {
	wire := a2a.Errorf(a2a.CodeInternal, format, args...)
	wire.RetryAfter = after
	return &httpError{status: status, wire: wire}
}

const (
	busyPause     = 2 * time.Second  // until a queue has moved
	stoppingPause = 5 * time.Second  // until another process has taken over
	placePause    = 5 * time.Second  // until somebody has left
	storePause    = 30 * time.Second // until somebody has made room
)

// answers turn the errors of the engine into those of the protocol. The first
// that matches counts; an error that matches none is a fault of ours.
var answers = []struct {
	target error
	answer func(c *call, err error) error
}{
	{task.ErrNotFound, func(c *call, _ error) error {
		// The same words whether the task never was or is another's.
		e := a2a.Errorf(a2a.CodeTaskNotFound, "task %s is not known here", c.taskID)
		e.Metadata = map[string]string{"taskId": string(c.taskID)}
		return e
	}},
	{task.ErrEnded, ended},
	{task.ErrWorking, func(c *call, _ error) error {
		return a2a.Errorf(a2a.CodeUnsupportedOperation,
			"task %s is still working and takes no message; wait until it asks for input, or cancel it", c.taskID)
	}},
	{task.ErrContextMismatch, func(*call, error) error {
		return invalid("message.contextId", "is not the context of the task; leave it out to stay in it")
	}},
	{task.ErrMessageChanged, func(*call, error) error {
		return invalid("message.messageId", "was used before for a message with other content; a new message needs a new id")
	}},
	{task.ErrTooLarge, func(*call, error) error {
		return invalid("message", "would make the task larger than is stored here; send large files as the url of a part")
	}},
	{task.ErrBadCursor, func(*call, error) error {
		return invalid("pageToken", "must be the nextPageToken of a page with the same filters")
	}},
	{task.ErrNoSkill, func(*call, error) error {
		return a2a.Errorf(a2a.CodeUnsupportedOperation, "the skill is on the card, but nothing answers for it here; choose another")
	}},
	{task.ErrBusy, func(*call, error) error {
		return later(http.StatusTooManyRequests, busyPause, "too many tasks of this caller are waiting; try again later")
	}},
	{quota.ErrExceeded, func(c *call, err error) error {
		exceeded, ok := errors.AsType[*quota.ExceededError](err)
		if !ok {
			exceeded = &quota.ExceededError{What: "requests"}
		}
		c.refusal("quota_exceeded")
		return later(http.StatusTooManyRequests, exceeded.RetryAfter(c.server.cfg.Now()), "%v", exceeded)
	}},
	{task.ErrStopping, func(*call, error) error {
		return later(http.StatusServiceUnavailable, stoppingPause, "this server is shutting down; try again later")
	}},
}

// ended is the answer to what a task that has ended does not take.
func ended(c *call, err error) error {
	state := "over"
	if e, ok := errors.AsType[*task.EndedError](err); ok {
		state = strings.ToLower(strings.TrimPrefix(e.State.String(), "TASK_STATE_"))
	}
	code, advice := a2a.CodeUnsupportedOperation, "; send a message with the same contextId to begin another"
	switch c.method {
	case a2a.MethodCancelTask:
		code, advice = a2a.CodeTaskNotCancelable, ""
	case a2a.MethodSubscribeToTask:
		advice = "; read it with " + a2a.MethodGetTask
	}
	e := a2a.Errorf(code, "task %s is already %s%s", c.taskID, state, advice)
	e.Metadata = map[string]string{"taskId": string(c.taskID)}
	return e
}

// wire turns whatever went wrong into what is answered. The reference stands
// for a fault of ours, which only the log explains.
func (c *call) wire(err error) (status int, wire *a2a.Error, reference string) {
	for _, a := range answers {
		if errors.Is(err, a.target) {
			err = a.answer(c, err)
			break
		}
	}
	if e, ok := errors.AsType[*httpError](err); ok {
		return e.status, e.wire, ""
	}
	if e, ok := errors.AsType[*a2a.Error](err); ok {
		return http.StatusOK, e, ""
	}
	if c.server.cfg.Unavailable(err) {
		c.server.cfg.Logger.ErrorContext(c.r.Context(), "the store is unavailable", "method", c.method, "error", err)
		wire = a2a.Errorf(a2a.CodeInternal, "nothing can be stored at the moment; try again later")
		wire.RetryAfter = storePause
		return http.StatusServiceUnavailable, wire, ""
	}
	reference = a2a.NewID()
	status = http.StatusOK
	if c.owner.Caller == "" {
		status = http.StatusInternalServerError // the body was not read
	}
	return status, a2a.Errorf(a2a.CodeInternal, "%s; reference %s", a2a.CodeInternal.Message(), reference), reference
}

// envelopeError is the answer to a body that is not a request.
func envelopeError(fault *jsonrpc.Fault) error {
	e := &a2a.Error{Code: a2a.Code(fault.Code), Message: fault.Message}
	if fault.Field != "" {
		why := strings.TrimPrefix(fault.Message, e.Code.Message()+": ")
		e.Violations = []a2a.FieldViolation{{Field: fault.Field, Description: why}}
	}
	return e
}

// logRefusal tells the operator who was refused, as far as is known, and why.
func (c *call) logRefusal(refusal *Refusal) {
	who, key := c.owner.Caller, c.caller.KeyID
	if refusal.Evidence != nil {
		who, key = refusal.Evidence.Who, refusal.Evidence.KeyID
	}
	about := []any{"agent", c.endpoint.name, "status", refusal.Status, "reason", refusal.Code, "remote", c.r.RemoteAddr}
	if who != "" {
		about = append(about, "client", who)
	}
	if key != "" {
		about = append(about, "credential", key)
	}
	c.server.cfg.Logger.InfoContext(c.r.Context(), "a caller was refused", about...)
}

// callerError is the answer to a caller that is not let in.
func (c *call) callerError(err error) error {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		c.server.cfg.Logger.ErrorContext(c.r.Context(), "a caller could not be checked", "agent", c.endpoint.name, "error", err)
		return later(http.StatusServiceUnavailable, stoppingPause, "who calls cannot be checked at the moment; try again later")
	}
	c.logRefusal(refusal)
	code := a2a.CodeInvalidRequest // JSON-RPC and A2A have none for this
	if refusal.Status >= 500 || refusal.Status == http.StatusTooManyRequests {
		code = a2a.CodeInternal
	}
	return &httpError{
		status: refusal.Status, challenge: refusal.Challenge,
		wire: &a2a.Error{Code: code, Message: refusal.Reason, RetryAfter: refusal.RetryAfter},
	}
}
