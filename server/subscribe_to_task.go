package server

import (
	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// subscribeToTask answers SubscribeToTask: the task as it is now, then its
// events, until it has ended. An interrupted task keeps the stream open.
func subscribeToTask(c *call) error {
	req, faults, err := decode[a2a.SubscribeToTaskRequest](c)
	if err != nil {
		return err
	}
	faults.checkTaskID("id", req.ID)
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return err
	}
	if err := c.checkStreaming(); err != nil {
		return err
	}
	if err := c.takePlace(); err != nil {
		return err
	}
	defer c.server.places.free()
	c.taskID = req.ID
	feed, err := c.server.engine.Subscribe(c.r.Context(), c.owner, req.ID)
	if err != nil {
		return err
	}
	defer feed.Close()
	return c.follow(feed, task.View{Artifacts: true}, never)
}
