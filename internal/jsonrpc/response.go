package jsonrpc

import (
	"errors"
	"fmt"
)

// ResultSuffix ends what [AppendResultPrefix] begins.
const ResultSuffix = "}"

// AppendResultPrefix appends a response's envelope up to its result. With the
// result's JSON text and [ResultSuffix] behind it the envelope is complete; the
// events of a stream share one prefix.
func AppendResultPrefix(b []byte, id ID) []byte {
	b = appendHead(b, id)
	return append(b, `,"result":`...)
}

// AppendError appends a response with the JSON text of its error object.
func AppendError(b []byte, id ID, errObject []byte) []byte {
	b = appendHead(b, id)
	b = append(b, `,"error":`...)
	b = append(b, errObject...)
	return append(b, '}')
}

func appendHead(b []byte, id ID) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if len(id) == 0 {
		return append(b, "null"...)
	}
	return append(b, id...)
}

// Response is a response's envelope. Its slices belong to the body it was
// parsed from. It never holds both a result and an error; whether it may hold
// neither is the caller's to decide, for a method whose result is empty.
type Response struct {
	// ID is nil if the member is missing. Match it with [ID.Equal]; it is
	// null in the answer to a request the peer could not read.
	ID ID

	// Result is the JSON text of the result, null included, if HasResult.
	Result    []byte
	HasResult bool

	// Error is the JSON text of the error object, or nil.
	Error []byte
}

// ErrInvalidResponse is wrapped by every error of [ParseResponse]: what the
// peer sent is no JSON-RPC 2.0 response.
var ErrInvalidResponse = errors.New("invalid JSON-RPC response")

// ParseResponse reads the body of a response, or the data of one event of a
// stream, under the same rules for the document as [ParseRequest]. A member
// that is null beside one that is not counts as absent: some peers always send
// both names. Errors repeat nothing of the body.
func ParseResponse(body []byte) (Response, error) {
	var resp Response
	var version, failure []byte
	err := members(body, MaxAnswerDepth, func(name string, v []byte) {
		switch name {
		case "jsonrpc":
			version = v
		case "id":
			resp.ID = v
		case "result":
			resp.Result, resp.HasResult = v, true
		case "error":
			failure = v
		}
	})
	if err != nil {
		return Response{}, fmt.Errorf("%w: %w", ErrInvalidResponse, err)
	}
	if !isString(version) || unquote(version) != "2.0" {
		return Response{}, fmt.Errorf(`%w: jsonrpc is not "2.0"`, ErrInvalidResponse)
	}
	if failure == nil || isNull(failure) {
		return resp, nil
	}
	if !isObject(failure) {
		return Response{}, fmt.Errorf("%w: error is not an object", ErrInvalidResponse)
	}
	if resp.HasResult && !isNull(resp.Result) {
		return Response{}, fmt.Errorf("%w: it has both a result and an error", ErrInvalidResponse)
	}
	resp.Result, resp.HasResult, resp.Error = nil, false, failure
	return resp, nil
}
