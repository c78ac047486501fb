package jsonrpc

import (
	"github.com/go-json-experiment/json/jsontext"
)

// The codes of JSON-RPC 2.0 section 5.1 that an envelope can deserve.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeInvalidParams  = -32602
)

// Request is a request's envelope. Its slices belong to the body it was parsed
// from.
type Request struct {
	// ID is valid, or nil in a notification.
	ID ID

	// HasID is false in a notification, which is never answered.
	HasID bool

	// Method is not empty, and not checked any further.
	Method string

	// Params is the JSON text of an object, or nil if it is absent or null.
	Params []byte
}

// Fault is why a body is not a request, as the error to answer with.
type Fault struct {
	// ID is the request's id, or nil where it could not be read.
	ID ID

	// Code is -32700, -32600 or -32602.
	Code int

	// Message is a sentence for the sender. It repeats nothing of the body.
	Message string

	// Field is the envelope's member at fault, or empty.
	Field string
}

// ParseRequest reads the body of a request. Exactly one of its results counts:
// if the fault is nil, the request. Unknown members are ignored.
//
// Not JSON, invalid UTF-8, a name twice in one object and nesting over
// [MaxDepth] are parse errors, anywhere in the body. Whatever else is not a
// request object, arrays included, is an invalid request. Params that are
// there and not an object are invalid params: A2A has named ones only.
func ParseRequest(body []byte) (Request, *Fault) {
	var version, id, method, params []byte
	err := members(body, MaxDepth, func(name string, v []byte) {
		switch name {
		case "jsonrpc":
			version = v
		case "id":
			id = v
		case "method":
			method = v
		case "params":
			params = v
		}
	})
	if err != nil && err != errNotObject {
		return Request{}, &Fault{Code: CodeParseError, Message: "Invalid JSON payload: " + err.Error()}
	}
	invalid := func(id ID, field, why string) (Request, *Fault) {
		return Request{}, &Fault{ID: id, Code: CodeInvalidRequest, Field: field, Message: "Request payload validation error: " + why}
	}
	if err == errNotObject {
		return invalid(nil, "", "the body must be one JSON-RPC request object; batches are not supported")
	}

	req := Request{ID: id, HasID: id != nil}
	if req.HasID && !req.ID.Valid() {
		return invalid(nil, "id", "id must be a string or a number, at most 1024 bytes long")
	}
	if !isString(version) || unquote(version) != "2.0" {
		return invalid(req.ID, "jsonrpc", `jsonrpc must be "2.0"`)
	}
	if isString(method) {
		req.Method = unquote(method)
	}
	if req.Method == "" {
		return invalid(req.ID, "method", "method must be a string that is not empty")
	}
	switch {
	case isObject(params):
		req.Params = params
	case params != nil && !isNull(params):
		return Request{}, &Fault{ID: req.ID, Code: CodeInvalidParams, Field: "params", Message: "Invalid parameters: params must be an object"}
	}
	return req, nil
}

// AppendRequest appends a request's envelope to b. The id is sent as a string;
// params is JSON text, or empty for none. An id or a method with invalid UTF-8
// is sent with the replacement character in its place.
func AppendRequest(b []byte, id, method string, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = quote(b, id)
	b = append(b, `,"method":`...)
	b = quote(b, method)
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// quote ignores the error of AppendQuote, which only reports invalid UTF-8
// after having replaced it.
func quote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

func unquote(v []byte) string {
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(text)
}
