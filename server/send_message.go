package server

import (
	"slices"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/task"
)

// sendMessage answers SendMessage: with a message, or with the task, which has
// by then ended or asks for something unless the caller does not wait.
func sendMessage(c *call) error {
	req, err := c.sendRequest()
	if err != nil {
		return err
	}
	config := configuration(&req)
	if !config.ReturnImmediately {
		if err := c.takePlace(); err != nil {
			return err
		}
		defer c.server.places.free()
	}
	reply, err := c.send(&req)
	if err != nil {
		return err
	}
	if reply.Message != nil {
		return c.answer(func(b []byte) []byte {
			response := a2a.SendMessageResponse{Payload: reply.Message}
			return response.AppendJSON(b)
		})
	}
	rec := *reply.Task
	if !config.ReturnImmediately {
		if rec, err = c.wait(rec); err != nil {
			return err
		}
	}
	return c.answer(func(b []byte) []byte {
		b = append(b, `{"task":`...)
		b = rec.AppendTask(b, task.View{History: config.HistoryLength, Artifacts: true})
		return append(b, '}')
	})
}

// wait returns the task once it has ended or is interrupted. A caller that
// leaves, a stop of the server and the limit end the wait and nothing else.
func (c *call) wait(rec task.Record) (task.Record, error) {
	if rec.State.Terminal() || rec.State.Interrupted() {
		return rec, nil
	}
	ctx, cancel := c.held(c.server.cfg.WaitLimit)
	defer cancel()
	now, err := c.server.engine.Wait(ctx, rec)
	if refusal := c.withdrawn(ctx); refusal != nil {
		return rec, refusal
	}
	return now, err
}

// sendRequest reads and checks the parameters of both methods that send.
func (c *call) sendRequest() (a2a.SendMessageRequest, error) {
	ignored := mentionsBlocking(c.params)
	req, faults, err := decode[a2a.SendMessageRequest](c)
	if err != nil {
		return req, err
	}
	if ignored {
		c.server.cfg.Logger.InfoContext(c.r.Context(), "a request carries configuration.blocking, which A2A 1.0 does not have; returnImmediately decides",
			"method", c.method, "caller", c.owner.Caller)
	}
	config := configuration(&req)
	faults.checkMessage(&req.Message, c.maxParts())
	faults.checkBudget(c.endpoint, &req.Message)
	faults.checkHistoryLength("configuration.historyLength", config.HistoryLength)
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return req, err
	}
	if config.TaskPushNotificationConfig != nil {
		return req, errNoPush
	}
	return req, nil
}

// send hands the message to the engine. What the engine takes is done whatever
// becomes of the connection.
func (c *call) send(req *a2a.SendMessageRequest) (task.Reply, error) {
	ctx, cancel := c.detached()
	defer cancel()
	c.taskID = req.Message.TaskID
	chosen, err := c.skillFor(ctx, &req.Message)
	if err != nil {
		return task.Reply{}, err
	}
	config := configuration(req)
	if err := chosen.checkInput(req.Message.Parts); err != nil {
		return task.Reply{}, err
	}
	if err := chosen.checkOutput(config.AcceptedOutputModes); err != nil {
		return task.Reply{}, err
	}
	if err := c.stands(); err != nil {
		return task.Reply{}, err
	}
	reply, err := c.server.engine.Send(ctx, c.owner, task.Request{
		Message: &req.Message, Skill: chosen.id,
		Metadata: req.Metadata, AcceptedOutputModes: config.AcceptedOutputModes,
		Hold: c.hold(&req.Message), Audit: c.evidence(),
	})
	if err == nil && reply.Task != nil {
		c.taskID = reply.Task.ID
	}
	return reply, err
}

// hold is what is set aside for the turn that a message begins. A task counts
// once, whatever the number of its turns.
func (c *call) hold(m *a2a.Message) *quota.Hold {
	if c.caller.Limits == nil {
		return nil
	}
	hold := &quota.Hold{Caller: c.owner.Caller, At: c.server.cfg.Now(), Limits: *c.caller.Limits}
	if m.TaskID == "" {
		hold.Amount.Tasks = 1
	}
	if slices.Contains(c.endpoint.extensions, TokenBudgetExtension) {
		hold.Amount.Tokens, _ = extension.Tokens(m.Metadata) // was checked
	}
	return hold
}

// configuration is the request's, or an empty one.
func configuration(req *a2a.SendMessageRequest) a2a.SendMessageConfiguration {
	if req.Configuration == nil {
		return a2a.SendMessageConfiguration{}
	}
	return *req.Configuration
}
