package a2a

import "strconv"

// Code is the number of a JSON-RPC error (specification 1.0.1, sections 5.4
// and 9.5). A2A has -32001 to -32099 for itself and uses nine of them.
type Code int

// The codes of JSON-RPC 2.0 and of A2A 1.0.
const (
	CodeParse          Code = -32700 // the body is not JSON
	CodeInvalidRequest Code = -32600 // JSON, but not a request
	CodeMethodNotFound Code = -32601 // the method does not exist
	CodeInvalidParams  Code = -32602 // the parameters fail validation
	CodeInternal       Code = -32603 // a fault of the server

	CodeTaskNotFound                   Code = -32001 // the task does not exist, or not for this caller
	CodeTaskNotCancelable              Code = -32002 // the task has ended
	CodePushNotificationNotSupported   Code = -32003 // the agent sends no webhooks
	CodeUnsupportedOperation           Code = -32004 // the agent or the task does not allow this
	CodeContentTypeNotSupported        Code = -32005 // a media type is not handled
	CodeInvalidAgentResponse           Code = -32006 // an agent's answer breaks the protocol
	CodeExtendedAgentCardNotConfigured Code = -32007 // declared, but there is no extended card
	CodeExtensionSupportRequired       Code = -32008 // a required extension was not requested
	CodeVersionNotSupported            Code = -32009 // the protocol version is not served
)

// codes holds what belongs to each code: the reason of its ErrorInfo, which
// only A2A's own have, and the message used where nothing better is known.
var codes = map[Code]struct{ reason, message string }{
	CodeParse:          {"", "Invalid JSON payload"},
	CodeInvalidRequest: {"", "Request payload validation error"},
	CodeMethodNotFound: {"", "Method not found"},
	CodeInvalidParams:  {"", "Invalid parameters"},
	CodeInternal:       {"", "Internal error"},

	CodeTaskNotFound:                   {"TASK_NOT_FOUND", "Task not found"},
	CodeTaskNotCancelable:              {"TASK_NOT_CANCELABLE", "Task cannot be canceled"},
	CodePushNotificationNotSupported:   {"PUSH_NOTIFICATION_NOT_SUPPORTED", "Push notifications are not supported"},
	CodeUnsupportedOperation:           {"UNSUPPORTED_OPERATION", "This operation is not supported"},
	CodeContentTypeNotSupported:        {"CONTENT_TYPE_NOT_SUPPORTED", "Content type is not supported"},
	CodeInvalidAgentResponse:           {"INVALID_AGENT_RESPONSE", "Invalid agent response"},
	CodeExtendedAgentCardNotConfigured: {"EXTENDED_AGENT_CARD_NOT_CONFIGURED", "There is no extended agent card"},
	CodeExtensionSupportRequired:       {"EXTENSION_SUPPORT_REQUIRED", "A required extension was not requested"},
	CodeVersionNotSupported:            {"VERSION_NOT_SUPPORTED", "Protocol version is not supported"},
}

// Known reports whether the code is one of JSON-RPC 2.0 or A2A 1.0.
func (c Code) Known() bool {
	_, ok := codes[c]
	return ok
}

// Reason returns the reason that goes with the code in ErrorInfo, such as
// TASK_NOT_FOUND. Only A2A's own codes have one.
func (c Code) Reason() string { return codes[c].reason }

// Message returns what the code means in a few words, or an empty string for a
// code that is not known.
func (c Code) Message() string { return codes[c].message }

// String returns the number.
func (c Code) String() string { return strconv.Itoa(int(c)) }

// codeOf returns the code a reason belongs to.
func codeOf(reason string) (Code, bool) {
	for code, entry := range codes {
		if reason != "" && entry.reason == reason {
			return code, true
		}
	}
	return 0, false
}
