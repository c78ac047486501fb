package a2a

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Bounds on what is kept of a peer's error, in bytes where nothing else is said.
const (
	maxErrorMessage     = 1024
	maxErrorReason      = 63 // google.rpc.ErrorInfo
	maxErrorKey         = 64 // google.rpc.ErrorInfo
	maxErrorText        = 256
	maxErrorData        = 16 << 10
	maxErrorDetails     = 16 // details looked at
	maxErrorMetadata    = 32 // entries
	maxErrorDescription = 512
)

// DecodeError reads the error object of a JSON-RPC response, as tolerantly as
// possible: data may be absent, an object or something else, details may be of
// types we do not know, the code may be any. It fails only if there is no
// object with an integer code. Everything kept is bounded.
func DecodeError(data []byte) (*Error, error) {
	if !CheckDepth(data, MaxDepth) {
		return nil, errors.New("a2a: error object: nested too deep")
	}
	var object struct {
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, errors.New("a2a: error object: malformed JSON")
	}
	code, fault := parseInt32(object.Code)
	if fault != 0 {
		return nil, fmt.Errorf("a2a: error object: code must be an integer")
	}
	e := &Error{Code: Code(code), Message: truncate(text(object.Message), maxErrorMessage)}
	e.readData(object.Data)
	return e, nil
}

// readData takes apart error.data. A lone object counts as a list of one.
func (e *Error) readData(data jsontext.Value) {
	var others []jsontext.Value
	switch data.Kind() {
	case '[':
		var list []jsontext.Value
		if json.Unmarshal(data, &list) != nil {
			return
		}
		for _, detail := range list[:min(len(list), maxErrorDetails)] {
			if !e.readDetail(detail) {
				others = append(others, detail)
			}
		}
		if len(others) == 0 {
			return
		}
		data, _ = json.Marshal(others)
	case '{':
		if e.readDetail(data) {
			return
		}
	case 0, 'n':
		return
	}
	if rest, err := compact(data); err == nil && len(rest) <= maxErrorData {
		e.Data = rest
	}
}

// readDetail reads one detail, and reports whether it was one of the three an
// Error has fields for.
func (e *Error) readDetail(detail jsontext.Value) bool {
	members := map[string]jsontext.Value{}
	if detail.Kind() != '{' || json.Unmarshal(detail, &members) != nil {
		return false
	}
	switch text(members["@type"]) {
	case typeErrorInfo:
		e.readInfo(members)
	case typeBadRequest:
		e.readBadRequest(members["fieldViolations"])
	case typeRetryInfo:
		e.RetryAfter = seconds(text(members["retryDelay"]))
	default:
		return false
	}
	return true
}

// readInfo reads an ErrorInfo. The first counts, unless a later one is of the
// protocol's domain.
func (e *Error) readInfo(members map[string]jsontext.Value) {
	if e.Reason != "" && text(members["domain"]) != ErrorDomain {
		return
	}
	e.Reason = truncate(text(members["reason"]), maxErrorReason)
	e.Metadata = nil
	var metadata map[string]jsontext.Value
	if members["metadata"].Kind() != '{' || json.Unmarshal(members["metadata"], &metadata) != nil {
		return
	}
	for _, key := range sortedKeys(metadata) {
		if len(key) > maxErrorKey || metadata[key].Kind() != '"' || len(e.Metadata) == maxErrorMetadata {
			continue
		}
		if e.Metadata == nil {
			e.Metadata = map[string]string{}
		}
		e.Metadata[key] = truncate(text(metadata[key]), maxErrorText)
	}
}

func (e *Error) readBadRequest(list jsontext.Value) {
	var violations []jsontext.Value
	if list.Kind() != '[' || json.Unmarshal(list, &violations) != nil {
		return
	}
	for _, each := range violations[:min(len(violations), maxViolations)] {
		members := map[string]jsontext.Value{}
		if each.Kind() != '{' || json.Unmarshal(each, &members) != nil {
			continue
		}
		if len(e.Violations) == maxViolations {
			return
		}
		e.Violations = append(e.Violations, FieldViolation{
			Field:       truncate(text(members["field"]), maxErrorText),
			Description: truncate(text(members["description"]), maxErrorDescription),
		})
	}
}

// text returns the content of a JSON string, and nothing for anything else.
func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	content, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(content)
}

// seconds reads a google.protobuf.Duration such as 1.5s. What is none, or is
// negative, is zero.
func seconds(text string) time.Duration {
	number, ok := strings.CutSuffix(text, "s")
	if !ok || strings.Trim(number, "0123456789.") != "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}
