package client

import (
	"context"

	"github.com/legation/legation/a2a"
)

// CreateTaskPushNotificationConfig registers a webhook for a task and returns
// it as it was stored, with its id.
func (c *Client) CreateTaskPushNotificationConfig(ctx context.Context, req *a2a.TaskPushNotificationConfig) (*a2a.TaskPushNotificationConfig, error) {
	const method = a2a.MethodCreateTaskPushNotificationConfig
	if err := c.pushes(method); err != nil {
		return nil, err
	}
	if req == nil || req.TaskID == "" || req.URL == "" {
		return nil, &RequestError{Method: method, Why: "the task's id or the webhook's URL is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	return c.oneConfig(ctx, method, &prepared)
}

// GetTaskPushNotificationConfig returns one webhook of a task.
func (c *Client) GetTaskPushNotificationConfig(ctx context.Context, req *a2a.GetTaskPushNotificationConfigRequest) (*a2a.TaskPushNotificationConfig, error) {
	const method = a2a.MethodGetTaskPushNotificationConfig
	if err := c.pushes(method); err != nil {
		return nil, err
	}
	if req == nil || req.TaskID == "" || req.ID == "" {
		return nil, &RequestError{Method: method, Why: "the id of the task or of the webhook is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	return c.oneConfig(ctx, method, &prepared)
}

func (c *Client) oneConfig(ctx context.Context, method string, p params) (*a2a.TaskPushNotificationConfig, error) {
	result, x, err := c.call(ctx, method, p)
	if err != nil {
		return nil, err
	}
	config, err := decode[a2a.TaskPushNotificationConfig](x, result)
	if err != nil {
		return nil, err
	}
	if config.ID == "" {
		return nil, x.invalid("the webhook has no id")
	}
	return config, nil
}

// ListTaskPushNotificationConfigs returns one page of the webhooks of a task.
// Only an empty NextPageToken tells the last page.
func (c *Client) ListTaskPushNotificationConfigs(ctx context.Context, req *a2a.ListTaskPushNotificationConfigsRequest) (*a2a.ListTaskPushNotificationConfigsResponse, error) {
	const method = a2a.MethodListTaskPushNotificationConfigs
	if err := c.pushes(method); err != nil {
		return nil, err
	}
	if req == nil || req.TaskID == "" {
		return nil, &RequestError{Method: method, Why: "the id of the task is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	result, x, err := c.call(ctx, method, &prepared)
	if err != nil {
		return nil, err
	}
	return decode[a2a.ListTaskPushNotificationConfigsResponse](x, result)
}

// DeleteTaskPushNotificationConfig removes a webhook of a task. Removing one
// that is gone succeeds.
func (c *Client) DeleteTaskPushNotificationConfig(ctx context.Context, req *a2a.DeleteTaskPushNotificationConfigRequest) error {
	const method = a2a.MethodDeleteTaskPushNotificationConfig
	if err := c.pushes(method); err != nil {
		return err
	}
	if req == nil || req.TaskID == "" || req.ID == "" {
		return &RequestError{Method: method, Why: "the id of the task or of the webhook is missing"}
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	_, _, err := c.call(ctx, method, &prepared)
	return err
}
