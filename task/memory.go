package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/legation/legation/a2a"
)

// memory is what a turn may read of the past. It implements agent.Memory.
type memory struct {
	engine    *Engine
	owner     Owner
	taskID    a2a.TaskID // empty before a task exists
	contextID a2a.ContextID
	message   *a2a.Message
	durable   <-chan struct{} // closed when the task can be read; nil: it can
}

// maxReferences bounds how many referenced tasks are read for one message.
const maxReferences = 16

func (m *memory) History(ctx context.Context) ([]a2a.Message, error) {
	if m.taskID == "" {
		return []a2a.Message{*m.message}, nil
	}
	if m.durable != nil {
		select {
		case <-m.durable:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	rec, err := m.engine.store.Task(ctx, m.owner, m.taskID)
	if err != nil {
		return nil, err
	}
	task, err := decoded(rec)
	history := task.History
	for len(history) > 0 && history[len(history)-1].Role != a2a.RoleUser {
		history = history[:len(history)-1] // what this very turn has said so far
	}
	return history, err
}

func (m *memory) Earlier(ctx context.Context) ([]a2a.Task, error) {
	cfg := &m.engine.cfg
	records, err := m.engine.store.Earlier(ctx, m.owner, m.contextID, m.taskID, cfg.EarlierTasks, cfg.EarlierBytes)
	if err != nil {
		return nil, err
	}
	tasks := make([]a2a.Task, len(records))
	for i, rec := range records {
		if tasks[i], err = decoded(rec); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

func (m *memory) References(ctx context.Context) ([]a2a.Task, error) {
	var tasks []a2a.Task
	for _, id := range m.message.ReferenceTaskIDs[:min(len(m.message.ReferenceTaskIDs), maxReferences)] {
		rec, err := m.engine.store.Task(ctx, m.owner, id)
		if errors.Is(err, ErrNotFound) {
			continue // not there and not yours are the same
		}
		if err != nil {
			return nil, err
		}
		task, err := decoded(rec)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// decoded is a stored task as a value.
func decoded(rec Record) (a2a.Task, error) {
	task, _, err := a2a.Decode[a2a.Task](rec.AppendTask(nil, View{Artifacts: true}))
	if err != nil {
		return task, fmt.Errorf("read stored task %s: %w", rec.ID, err)
	}
	return task, nil
}
