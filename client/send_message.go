package client

import (
	"context"

	"github.com/legation/legation/a2a"
)

// SendMessage sends a message and returns the agent's answer: a task, or a
// message where no task was needed. Both happen with every agent. The message
// needs an id, which whoever sends it has chosen and written down before.
//
// It is sent once. What an error means for the message is told by [Classify].
// Unless the request says ReturnImmediately, the answer takes as long as the
// work does, within [Config.Timeout].
func (c *Client) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.SendMessageResponse, error) {
	const method = a2a.MethodSendMessage
	prepared, err := c.prepare(method, req)
	if err != nil {
		return nil, err
	}
	result, x, err := c.call(ctx, method, prepared)
	if err != nil {
		return nil, err
	}
	answer, err := decode[a2a.SendMessageResponse](x, result)
	if err != nil {
		return nil, err
	}
	switch payload := answer.Payload.(type) {
	case *a2a.Task:
		err = x.task(payload)
	case *a2a.Message:
		err = x.message(payload)
	default:
		err = x.invalid("the result is neither a task nor a message")
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// SendStreamingMessage sends a message and returns the stream of what becomes
// of it, once its first event has come. The message is sent once, whatever
// happens; a stream that breaks later is taken up again by reading. What an
// error means for the message is told by [Classify].
func (c *Client) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) (*Stream, error) {
	const method = a2a.MethodSendStreamingMessage
	if err := c.streams(method); err != nil {
		return nil, err
	}
	prepared, err := c.prepare(method, req)
	if err != nil {
		return nil, err
	}
	return c.stream(ctx, method, prepared, "")
}

// prepare returns a copy of a request as it is sent.
func (c *Client) prepare(method string, req *a2a.SendMessageRequest) (*a2a.SendMessageRequest, error) {
	refuse := func(why string) (*a2a.SendMessageRequest, error) {
		return nil, &RequestError{Method: method, Why: why}
	}
	switch {
	case req == nil:
		return refuse("there is no request")
	case req.Message.MessageID == "":
		return refuse("the message has no id")
	case req.Message.Role != a2a.RoleUser:
		return refuse("the role of a message to an agent is " + a2a.RoleUser.String())
	case len(req.Message.Parts) == 0:
		return refuse("the message has no parts")
	}
	for _, part := range req.Message.Parts {
		if part.Content == nil {
			return refuse("a part of the message has no content")
		}
	}
	if err := checkURIs(req.Message.Extensions); err != nil {
		return refuse("its message: " + err.Error())
	}
	if err := c.card.checkBudget(&req.Message); err != nil {
		return refuse(err.Error())
	}
	prepared := *req
	prepared.Tenant = c.iface.Tenant
	if req.Configuration != nil && req.Configuration.TaskPushNotificationConfig != nil {
		if err := c.pushes(method); err != nil {
			return nil, err
		}
		// The task does not exist yet, and the tenant is the request's
		// (a2a.proto SendMessageConfiguration.task_push_notification_config).
		configuration, hook := *req.Configuration, *req.Configuration.TaskPushNotificationConfig
		hook.TaskID, hook.Tenant = "", ""
		configuration.TaskPushNotificationConfig = &hook
		prepared.Configuration = &configuration
	}
	return &prepared, nil
}
