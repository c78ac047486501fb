package server

import (
	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// getTask answers GetTask: the stored task, spliced into the answer.
func getTask(c *call) error {
	req, faults, err := decode[a2a.GetTaskRequest](c)
	if err != nil {
		return err
	}
	faults.checkTaskID("id", req.ID)
	faults.checkHistoryLength("historyLength", req.HistoryLength)
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return err
	}
	c.taskID = req.ID
	rec, err := c.server.engine.Task(c.r.Context(), c.owner, req.ID)
	if err != nil {
		return err
	}
	return c.answerTask(&rec, task.View{History: req.HistoryLength, Artifacts: true})
}

// answerTask answers with a bare task.
func (c *call) answerTask(rec *task.Record, view task.View) error {
	return c.answer(func(b []byte) []byte { return rec.AppendTask(b, view) })
}
