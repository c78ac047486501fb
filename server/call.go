package server

import (
	"bytes"
	"net/http"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/sse"
	"github.com/legation/legation/task"
)

// call is one request on its way through the checks.
type call struct {
	server   *Server
	endpoint *endpoint // nil: no agent lives here
	w        http.ResponseWriter
	r        *http.Request
	began    time.Time

	owner  task.Owner
	id     jsonrpc.ID
	method string // one we know, or empty
	params []byte // a part of body

	body *bytes.Buffer // until the parameters are decoded

	taskID   a2a.TaskID // what the call is about, for messages and the log
	answered bool       // the head of the answer was written
	stream   *sse.Writer
	prefix   []byte // of every event of the stream
}

// serve runs the checks in their order and then the operation. An error is
// for fail to answer.
func (c *call) serve() error {
	defer c.release()
	if err := c.checkHTTP(); err != nil {
		return err
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if err := c.readBody(); err != nil {
		return err
	}
	req, fault := jsonrpc.ParseRequest(c.body.Bytes())
	if fault != nil {
		c.id = bytes.Clone(fault.ID)
		if fault.Code == jsonrpc.CodeInvalidParams { // the envelope is sound: the version comes first
			if err := checkVersion(c.r); err != nil {
				return err
			}
		}
		return envelopeError(fault)
	}
	if !req.HasID {
		return c.accept() // a notification is neither processed nor answered
	}
	c.id = bytes.Clone(req.ID)
	c.params = req.Params
	if err := checkVersion(c.r); err != nil {
		return err
	}
	operate, ok := operations[req.Method]
	if !ok {
		return unknownMethod(req.Method)
	}
	c.method = req.Method
	if err := c.checkExtensions(); err != nil {
		return err
	}
	return operate(c)
}

// authenticate finds out who calls.
func (c *call) authenticate() error {
	caller, err := c.server.cfg.Callers.Caller(c.r)
	if err != nil {
		return c.callerError(err)
	}
	c.owner = task.Owner{Agent: c.endpoint.name, Caller: caller}
	return nil
}

// accept answers a notification.
func (c *call) accept() error {
	c.answered = true
	c.server.extendWrite(c.w)
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
