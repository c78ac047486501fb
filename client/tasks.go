package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/legation/legation/a2a"
)

// GetTask returns a task as it is now. It has no effect and may be repeated.
func (c *Client) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	const method = a2a.MethodGetTask
	if req == nil || req.ID == "" {
		return nil, &RequestError{Method: method, Why: "the id of the task is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	return c.oneTask(ctx, method, &prepared, req.ID)
}

// CancelTask asks for a task to be canceled and returns it as it is then.
// Success is not promised: the task may still be active, and is to be followed.
// An error for which [IsOver] holds says that it has ended already.
func (c *Client) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	const method = a2a.MethodCancelTask
	if req == nil || req.ID == "" {
		return nil, &RequestError{Method: method, Why: "the id of the task is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	return c.oneTask(ctx, method, &prepared, req.ID)
}

func (c *Client) oneTask(ctx context.Context, method string, p params, id a2a.TaskID) (*a2a.Task, error) {
	result, x, err := c.call(ctx, method, p)
	if err != nil {
		return nil, err
	}
	task, err := decode[a2a.Task](x, result)
	if err != nil {
		return nil, err
	}
	if err := x.task(task); err != nil {
		return nil, err
	}
	if task.ID != id {
		return nil, x.invalid("it is about another task")
	}
	return task, nil
}

// ListTasks returns one page of tasks. A nil request asks for the first page of
// all of them. Members a peer leaves out are zero; only an empty NextPageToken
// tells the last page.
func (c *Client) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	const method = a2a.MethodListTasks
	var prepared a2a.ListTasksRequest
	if req != nil {
		prepared = *req
	}
	prepared.Tenant = c.iface.Tenant
	result, x, err := c.call(ctx, method, &prepared)
	if err != nil {
		return nil, err
	}
	page, err := decode[a2a.ListTasksResponse](x, result)
	if err != nil {
		return nil, err
	}
	for i := range page.Tasks {
		if err := x.task(&page.Tasks[i]); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// maxPages bounds AllTasks: at the largest page it is a million tasks.
const maxPages = 10_000

// AllTasks yields the tasks of every page, the newest first, beginning with the
// page of the request. An error is the last thing it yields. A task whose
// status changes meanwhile may be met twice.
func (c *Client) AllTasks(ctx context.Context, req *a2a.ListTasksRequest) iter.Seq2[a2a.Task, error] {
	return func(yield func(a2a.Task, error) bool) {
		var query a2a.ListTasksRequest
		if req != nil {
			query = *req
		}
		for range maxPages {
			page, err := c.ListTasks(ctx, &query)
			if err != nil {
				yield(a2a.Task{}, err)
				return
			}
			for _, task := range page.Tasks {
				if !yield(task, nil) {
					return
				}
			}
			switch page.NextPageToken {
			case "":
				return
			case query.PageToken:
				yield(a2a.Task{}, &InvalidResponseError{Method: a2a.MethodListTasks, Why: "the next page is the same page"})
				return
			}
			query.PageToken = page.NextPageToken
		}
		yield(a2a.Task{}, fmt.Errorf("%s: there are more than %d pages", a2a.MethodListTasks, maxPages))
	}
}
