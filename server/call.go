package server

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/jsonrpc"
	"github.com/legation/legation/internal/quota"
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

	caller Caller
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
	if err := c.stands(); err != nil {
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
	if rights := c.caller.Rights; rights != nil {
		if refusal := rights.MayCall(req.Method); refusal != nil {
			return c.forbidden(refusal)
		}
	}
	if err := c.checkExtensions(); err != nil {
		return err
	}
	return operate(c)
}

// authenticate finds out who calls.
func (c *call) authenticate() error {
	caller, err := c.server.cfg.Callers.Caller(c.r)
	if err != nil {
		if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.Evidence != nil {
			entry := *refusal.Evidence
			entry.Agent = c.endpoint.name
			c.server.cfg.Audit(entry)
		}
		return c.callerError(err)
	}
	c.caller = caller
	c.owner = task.Owner{Agent: c.endpoint.name, Caller: caller.Name}
	return nil
}

// forbidden is the answer to what a caller may not do, which is audited.
func (c *call) forbidden(refusal *Refusal) error {
	c.refusal(refusal.Code)
	return c.callerError(refusal)
}

// refusal writes down that the call was refused, and why.
func (c *call) refusal(reason string) {
	if !c.caller.Audit {
		return
	}
	entry := c.entry(audit.Refused)
	entry.Reason, entry.TaskID = reason, string(c.taskID)
	c.server.cfg.Audit(entry)
}

// entry is the evidence of what the caller does.
func (c *call) entry(outcome audit.Outcome) audit.Entry {
	return audit.Entry{
		At: c.server.cfg.Now(), Who: c.owner.Caller, Party: c.caller.Party, Agent: c.owner.Agent,
		Operation: cmp.Or(c.method, "authenticate"), Outcome: outcome, KeyID: c.caller.KeyID,
	}
}

// evidence is what is stored with a change that the caller makes.
func (c *call) evidence() []audit.Entry {
	if !c.caller.Audit {
		return nil
	}
	return []audit.Entry{c.entry(audit.Done)}
}

// maxBody and maxParts are the caller's own limits, or everybody's.
func (c *call) maxBody() int64 {
	if limits := c.caller.Limits; limits != nil {
		return limited(limits.OrDefault().Bytes, math.MaxInt64-1)
	}
	return c.server.cfg.MaxBody
}

func (c *call) maxParts() int {
	if limits := c.caller.Limits; limits != nil {
		return int(limited(limits.OrDefault().Parts, math.MaxInt32))
	}
	return c.server.cfg.MaxParts
}

func limited(limit, most int64) int64 {
	if limit == quota.None {
		return most
	}
	return min(limit, most)
}

// accept answers a notification.
func (c *call) accept() error {
	c.answered = true
	c.server.extendWrite(c.w)
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
