package a2a

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// Errors to compare with: errors.Is(err, ErrTaskNotFound) holds for every
// [Error] of that code.
var (
	ErrTaskNotFound                   error = &Error{Code: CodeTaskNotFound}
	ErrTaskNotCancelable              error = &Error{Code: CodeTaskNotCancelable}
	ErrPushNotificationNotSupported   error = &Error{Code: CodePushNotificationNotSupported}
	ErrUnsupportedOperation           error = &Error{Code: CodeUnsupportedOperation}
	ErrContentTypeNotSupported        error = &Error{Code: CodeContentTypeNotSupported}
	ErrInvalidAgentResponse           error = &Error{Code: CodeInvalidAgentResponse}
	ErrExtendedAgentCardNotConfigured error = &Error{Code: CodeExtendedAgentCardNotConfigured}
	ErrExtensionSupportRequired       error = &Error{Code: CodeExtensionSupportRequired}
	ErrVersionNotSupported            error = &Error{Code: CodeVersionNotSupported}
	ErrInvalidParams                  error = &Error{Code: CodeInvalidParams}
)

// ErrorDomain is ErrorInfo.domain of every A2A error.
const ErrorDomain = "a2a-protocol.org"

// Error is an error of the protocol: one a server answers with, or one a peer
// answered with. What a peer said is data, cut to bounds and not to be trusted.
type Error struct {
	// Code is the number of the error.
	Code Code

	// Message is for people. Empty is written as the code's own message.
	Message string

	// Reason names the error in ErrorInfo. Empty means the reason that goes
	// with the code; a code without one gets no ErrorInfo.
	Reason string

	// Metadata goes into ErrorInfo, and nowhere where there is none.
	Metadata map[string]string

	// Violations go into BadRequest. Empty means there is none.
	Violations []FieldViolation

	// RetryAfter goes into RetryInfo. Zero or less means there is none.
	RetryAfter time.Duration

	// Data holds, as JSON, what a peer sent in error.data besides the three
	// above: an array of the other details, or data that is no array. Nil
	// means nothing, or more than 16 KiB. It is never written.
	Data []byte
}

// FieldViolation is one fault of a request (google.rpc.BadRequest).
type FieldViolation struct {
	// Field is the path of the member, such as message.parts[0].
	Field string

	// Description says what is wrong and what would be valid.
	Description string
}

// Errorf returns an error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// InvalidParams returns the error for a request with violations.
func InvalidParams(violations ...Violation) *Error {
	e := &Error{Code: CodeInvalidParams}
	for _, v := range violations {
		e.Violations = append(e.Violations, FieldViolation{Field: v.Field, Description: v.Description})
	}
	return e
}

// Error returns code, reason and message, the latter two quoted: they may be a
// peer's.
func (e *Error) Error() string {
	text := "a2a error " + e.Code.String()
	if reason := cmp.Or(e.Reason, e.Code.Reason()); reason != "" {
		text += " " + strconv.Quote(reason)
	}
	if message := cmp.Or(e.Message, e.Code.Message()); message != "" {
		text += ": " + strconv.Quote(message)
	}
	return text
}

// Kind returns the code if it is known, else the one the reason belongs to,
// else the code as it is.
func (e *Error) Kind() Code {
	if e.Code.Known() {
		return e.Code
	}
	if code, ok := codeOf(e.Reason); ok {
		return code
	}
	return e.Code
}

// Is reports whether target is an Error of the same kind, whatever its other
// fields say.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e.Kind() == t.Kind()
}

// AppendJSON appends the error object of a JSON-RPC response: code, message,
// and data with ErrorInfo, BadRequest and RetryInfo, each where it applies.
func (e *Error) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), int64(e.Code), 10)
	b = appendString(append(b, `,"message":`...), cmp.Or(e.Message, e.Code.Message(), "Error"))
	opening := `,"data":[`
	separate := func() {
		b = append(b, opening...)
		opening = ","
	}
	if reason := cmp.Or(e.Reason, e.Code.Reason()); reason != "" {
		separate()
		b = e.appendInfo(b, reason)
	}
	if len(e.Violations) > 0 {
		separate()
		b = e.appendBadRequest(b)
	}
	if e.RetryAfter > 0 {
		separate()
		b = append(b, `{"@type":"`+typeRetryInfo+`","retryDelay":"`...)
		b = append(appendSeconds(b, e.RetryAfter), `"}`...)
	}
	if opening == "," {
		b = append(b, ']')
	}
	return append(b, '}')
}

// MarshalJSON returns what AppendJSON appends; it never fails.
func (e *Error) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

const (
	typePrefix     = "type.googleapis.com/google.rpc."
	typeErrorInfo  = typePrefix + "ErrorInfo"
	typeBadRequest = typePrefix + "BadRequest"
	typeRetryInfo  = typePrefix + "RetryInfo"
)

func (e *Error) appendInfo(b []byte, reason string) []byte {
	b = append(b, `{"@type":"`+typeErrorInfo+`","reason":`...)
	b = appendString(b, reason)
	b = append(b, `,"domain":"`+ErrorDomain+`"`...)
	if len(e.Metadata) > 0 {
		b = append(b, `,"metadata":{`...)
		for _, key := range sortedKeys(e.Metadata) {
			b = append(appendString(appendMember(b, ""), key), ':')
			b = appendString(b, e.Metadata[key])
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func (e *Error) appendBadRequest(b []byte) []byte {
	b = append(b, `{"@type":"`+typeBadRequest+`","fieldViolations":[`...)
	for i, v := range e.Violations {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"field":`...), v.Field)
		b = appendString(append(b, `,"description":`...), v.Description)
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

// appendSeconds writes a google.protobuf.Duration to the millisecond, rounded
// up: asking again too early helps nobody.
func appendSeconds(b []byte, d time.Duration) []byte {
	ms := int64((d + time.Millisecond - 1) / time.Millisecond)
	b = strconv.AppendInt(b, ms/1000, 10)
	if rest := ms % 1000; rest > 0 {
		b = fmt.Appendf(b, ".%03d", rest)
	}
	return append(b, 's')
}
