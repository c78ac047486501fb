package admin

import (
	"net/http"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/task"
)

// taskStates are the states that a task can be looked for by.
func taskStates() []string {
	return []string{
		string(a2a.TaskStateSubmitted), string(a2a.TaskStateWorking), string(a2a.TaskStateInputRequired), string(a2a.TaskStateAuthRequired),
		string(a2a.TaskStateCompleted), string(a2a.TaskStateFailed), string(a2a.TaskStateCanceled), string(a2a.TaskStateRejected),
	}
}

// listTasks tells of tasks of all owners.
func (h *Handler) listTasks(c *call) (any, error) {
	page, err := h.cfg.Tasks.Survey(c.ctx, task.Survey{
		Before: c.number("before"), Agent: c.textOf("agent"), Caller: c.textOf("caller"),
		State: a2a.TaskState(c.textOf("state")), Limit: c.limit(),
	})
	if err != nil {
		return nil, err
	}
	answer := Tasks{Tasks: []Task{}, Next: page.Next}
	for _, one := range page.Tasks {
		answer.Tasks = append(answer.Tasks, taskForm(one))
	}
	return answer, nil
}

// getTask tells of one task. Its content is for administrators.
func (h *Handler) getTask(c *call) (any, error) {
	withContent := c.flag("content")
	if withContent && !c.role.May(people.Administer) {
		c.needs = people.Administer
		return nil, h.refused(c, c.who, reasonRole)
	}
	found, err := h.findTask(c)
	if err != nil {
		return nil, err
	}
	answer := taskForm(found)
	if withContent {
		record, err := h.cfg.Tasks.Task(c.ctx, found.Owner, found.ID)
		if err != nil {
			return nil, err
		}
		h.log.Info("content of a task was read", "task", string(found.ID), "who", c.who)
		answer.Content = JSON(record.AppendTask(nil, task.View{Artifacts: true}))
	}
	return answer, nil
}

// cancelTask cancels a task.
func (h *Handler) cancelTask(c *call) (any, error) {
	found, err := h.findTask(c)
	if err != nil {
		return nil, err
	}
	effects := c.effects(found.Owner.Caller)
	effects.Audit[0].TaskID = string(found.ID)
	record, err := h.cfg.Cancel(c.ctx, found.Owner, found.ID, effects)
	if err != nil {
		return nil, err
	}
	found.State, found.StatusAt, found.Turn, found.Last = record.State, record.StatusAt, record.Turn.Number, record.Last
	return taskForm(found), nil
}

// findTask finds the task that is meant: that of an id, and of an owner where
// several have one.
func (h *Handler) findTask(c *call) (task.Surveyed, error) {
	all, err := h.cfg.Tasks.Owners(c.ctx, a2a.TaskID(c.name("id")))
	if err != nil {
		return task.Surveyed{}, err
	}
	agent, caller := c.textOf("agent"), c.textOf("caller")
	var found []task.Surveyed
	var owners []string
	for _, one := range all {
		if (agent == "" || agent == one.Owner.Agent) && (caller == "" || caller == one.Owner.Caller) {
			found = append(found, one)
			owners = append(owners, "agent "+one.Owner.Agent+" and caller "+one.Owner.Caller)
		}
	}
	switch len(found) {
	case 0:
		return task.Surveyed{}, notFound("there is no such task", "")
	case 1:
		return found[0], nil
	}
	const most = 10
	return task.Surveyed{}, &Failure{
		Status: http.StatusConflict, Code: CodeConflict, Message: "several owners have a task of this id: " + strings.Join(owners[:min(most, len(owners))], "; "),
		Next: "give the parameters agent and caller",
	}
}

func taskForm(s task.Surveyed) Task {
	return Task{
		Number: s.Number, ID: string(s.ID), ContextID: string(s.ContextID), Agent: s.Owner.Agent, Caller: s.Owner.Caller, Skill: s.Skill,
		State: string(s.State), CreatedAt: s.CreatedAt, StatusAt: s.StatusAt, Turns: s.Turn, Events: s.Last,
	}
}
