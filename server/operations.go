package server

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/legation/legation/a2a"
)

// operation does what a method asks. It decodes the call's parameters first
// and answers last; an error it returns is answered in its place.
type operation func(*call) error

// operations are the methods of the JSON-RPC binding.
var operations = map[string]operation{
	a2a.MethodSendMessage:          sendMessage,
	a2a.MethodSendStreamingMessage: sendStreamingMessage,
	a2a.MethodGetTask:              getTask,
	a2a.MethodListTasks:            listTasks,
	a2a.MethodCancelTask:           cancelTask,
	a2a.MethodSubscribeToTask:      subscribeToTask,

	a2a.MethodCreateTaskPushNotificationConfig: notOffered(func(r *a2a.TaskPushNotificationConfig) string { return r.Tenant }, errNoPush),
	a2a.MethodGetTaskPushNotificationConfig:    notOffered(func(r *a2a.GetTaskPushNotificationConfigRequest) string { return r.Tenant }, errNoPush),
	a2a.MethodListTaskPushNotificationConfigs:  notOffered(func(r *a2a.ListTaskPushNotificationConfigsRequest) string { return r.Tenant }, errNoPush),
	a2a.MethodDeleteTaskPushNotificationConfig: notOffered(func(r *a2a.DeleteTaskPushNotificationConfigRequest) string { return r.Tenant }, errNoPush),

	a2a.MethodGetExtendedAgentCard: getExtendedAgentCard,
}

// unknownMethod names the method back, and how names look: callers of older
// revisions used others.
func unknownMethod(name string) error {
	return a2a.Errorf(a2a.CodeMethodNotFound, "%s: %s; the methods of A2A 1.0 have names like %s",
		a2a.CodeMethodNotFound.Message(), strconv.Quote(cut(name)), a2a.MethodSendMessage)
}

// notOffered is the operation of a capability that no agent here has. Its
// parameters are checked all the same, so that a caller hears of a mistake
// before it hears of the capability.
func notOffered[T any, P a2a.Wire[T]](tenant func(*T) string, answer error) operation {
	return func(c *call) error {
		req, faults, err := decode[T, P](c)
		if err != nil {
			return err
		}
		if err := c.checkParams(tenant(&req), faults); err != nil {
			return err
		}
		return answer
	}
}

var errNoPush error = a2a.Errorf(a2a.CodePushNotificationNotSupported,
	"this agent sends no push notifications; follow the task with %s or %s", a2a.MethodSubscribeToTask, a2a.MethodGetTask)

// checkStreaming refuses the methods that stream where the card does not
// offer it (section 3.3.4).
func (c *call) checkStreaming() error {
	if c.endpoint.streaming {
		return nil
	}
	return a2a.Errorf(a2a.CodeUnsupportedOperation,
		"this agent does not stream; use %s, and follow the task with %s", a2a.MethodSendMessage, a2a.MethodGetTask)
}

// cut bounds what is repeated of a request.
func cut(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.ToValidUTF8(s[:end], "") + "…"
}
