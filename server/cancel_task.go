package server

import (
	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// cancelTask answers CancelTask: the task, which is canceled by then.
func cancelTask(c *call) error {
	req, faults, err := decode[a2a.CancelTaskRequest](c)
	if err != nil {
		return err
	}
	faults.checkTaskID("id", req.ID)
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return err
	}
	c.taskID = req.ID
	if err := c.stands(); err != nil {
		return err
	}
	ctx, cancel := c.detached()
	defer cancel()
	rec, err := c.server.engine.Cancel(ctx, c.owner, req.ID, c.evidence()...)
	if err != nil {
		return err
	}
	return c.answerTask(&rec, task.View{Artifacts: true})
}
