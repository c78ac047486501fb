package a2a_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// REQ-ERR-05, REQ-ERR-06, REQ-ERR-07, REQ-ERR-17: codes and reasons of the specification.
func TestCodes(t *testing.T) {
	for code, tt := range map[a2a.Code]struct {
		number int
		reason string
		is     error
	}{
		a2a.CodeParse:                          {-32700, "", nil},
		a2a.CodeInvalidRequest:                 {-32600, "", nil},
		a2a.CodeMethodNotFound:                 {-32601, "", nil},
		a2a.CodeInvalidParams:                  {-32602, "", a2a.ErrInvalidParams},
		a2a.CodeInternal:                       {-32603, "", nil},
		a2a.CodeTaskNotFound:                   {-32001, "TASK_NOT_FOUND", a2a.ErrTaskNotFound},
		a2a.CodeTaskNotCancelable:              {-32002, "TASK_NOT_CANCELABLE", a2a.ErrTaskNotCancelable},
		a2a.CodePushNotificationNotSupported:   {-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED", a2a.ErrPushNotificationNotSupported},
		a2a.CodeUnsupportedOperation:           {-32004, "UNSUPPORTED_OPERATION", a2a.ErrUnsupportedOperation},
		a2a.CodeContentTypeNotSupported:        {-32005, "CONTENT_TYPE_NOT_SUPPORTED", a2a.ErrContentTypeNotSupported},
		a2a.CodeInvalidAgentResponse:           {-32006, "INVALID_AGENT_RESPONSE", a2a.ErrInvalidAgentResponse},
		a2a.CodeExtendedAgentCardNotConfigured: {-32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", a2a.ErrExtendedAgentCardNotConfigured},
		a2a.CodeExtensionSupportRequired:       {-32008, "EXTENSION_SUPPORT_REQUIRED", a2a.ErrExtensionSupportRequired},
		a2a.CodeVersionNotSupported:            {-32009, "VERSION_NOT_SUPPORTED", a2a.ErrVersionNotSupported},
	} {
		if int(code) != tt.number || code.Reason() != tt.reason || code.Message() == "" || !code.Known() {
			t.Errorf("code %d: reason %q, message %q", code, code.Reason(), code.Message())
		}
		err := fmt.Errorf("sending: %w", a2a.Errorf(code, "task %s", "t-1"))
		if tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%v is not %v", err, tt.is)
		}
		if tt.is != a2a.ErrTaskNotFound && errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("%v is ErrTaskNotFound", err)
		}
		text := (&a2a.Error{Code: code}).AppendJSON(nil)
		back, decodeErr := a2a.DecodeError(text)
		if decodeErr != nil || back.Code != code || back.Reason != tt.reason || back.Message != code.Message() {
			t.Errorf("%s reads back as %+v, %v", text, back, decodeErr)
		}
	}
	if code := a2a.Code(-32042); code.Known() || code.Reason() != "" || code.Message() != "" || code.String() != "-32042" {
		t.Error("an unknown code counts as known")
	}
	if errors.Is(a2a.ErrTaskNotFound, errors.New("other")) {
		t.Error("an Error is every error")
	}
}

// REQ-ERR-03, REQ-ERR-04, REQ-ERR-09, REQ-ERR-15, REQ-ERR-18, PVX-03:
// the form of an error object.
func TestErrorJSON(t *testing.T) {
	const info = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`
	for _, tt := range []struct {
		name string
		err  *a2a.Error
		want string
	}{
		{"no details", a2a.Errorf(a2a.CodeMethodNotFound, "method %q", "thing/do"),
			`{"code":-32601,"message":"method \"thing/do\""}`},
		{"own reason", &a2a.Error{Code: a2a.CodeTaskNotFound, Message: "no such task",
			Metadata: map[string]string{"taskId": "t-1", "at": "2026-01-01T00:00:00.000Z"}},
			`{"code":-32001,"message":"no such task","data":[` + info +
				`"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"at":"2026-01-01T00:00:00.000Z","taskId":"t-1"}}]}`},
		{"given reason", &a2a.Error{Code: a2a.CodeInternal, Reason: "OVERLOADED", RetryAfter: 1500 * time.Millisecond},
			`{"code":-32603,"message":"Internal error","data":[` + info + `"OVERLOADED","domain":"a2a-protocol.org"},` +
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.500s"}]}`},
		{"metadata without a reason", &a2a.Error{Code: a2a.CodeInternal, Metadata: map[string]string{"a": "b"}},
			`{"code":-32603,"message":"Internal error"}`},
		{"violations", a2a.InvalidParams(
			a2a.Violation{Field: "pageSize", Reason: a2a.OutOfRange, Description: "150 is outside 1..100"},
			a2a.Violation{Field: "status", Reason: a2a.UnknownEnum, Description: "unknown \xff"}),
			`{"code":-32602,"message":"Invalid parameters","data":[{"@type":"type.googleapis.com/google.rpc.BadRequest",` +
				`"fieldViolations":[{"field":"pageSize","description":"150 is outside 1..100"},{"field":"status","description":"unknown ` + "\uFFFD" + `"}]}]}`},
		{"whole seconds, rounded up", &a2a.Error{Code: -32042, RetryAfter: 3*time.Second - 1},
			`{"code":-32042,"message":"Error","data":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}`},
		{"what a peer said is not passed on", &a2a.Error{Code: -32042, Message: "m", RetryAfter: -1, Data: []byte(`[{"a":1}]`)},
			`{"code":-32042,"message":"m"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.err.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]*a2a.Error{
		`a2a error -32001 "TASK_NOT_FOUND": "no\nsuch"`:       a2a.Errorf(a2a.CodeTaskNotFound, "no\nsuch"),
		`a2a error -32602: "Invalid parameters"`:              a2a.InvalidParams(),
		`a2a error -32010 "GENERATION_MISMATCH"`:              {Code: -32010, Reason: "GENERATION_MISMATCH"},
		`a2a error -32042`:                                    {Code: -32042},
		`a2a error -32002 "OTHER": "Task cannot be canceled"`: {Code: a2a.CodeTaskNotCancelable, Reason: "OTHER"},
	} {
		if got := err.Error(); got != want {
			t.Errorf("Error() = %s, want %s", got, want)
		}
	}
}

// REQ-ERR-18, REQ-ERR-19, REQ-FWD-03: errors of all kinds of peers.
func TestDecodeError(t *testing.T) {
	info := func(rest string) string {
		return `{"@type":"type.googleapis.com/google.rpc.ErrorInfo",` + rest + `}`
	}
	for _, tt := range []struct {
		name, input string
		want        a2a.Error
		kind        a2a.Code
	}{
		{"no data", `{"code":-32001,"message":"m"}`, a2a.Error{Code: -32001, Message: "m"}, a2a.CodeTaskNotFound},
		{"no message", `{"code":-32603,"data":null,"extra":{}}`, a2a.Error{Code: -32603}, a2a.CodeInternal},
		{"message is no string", `{"code":-32603,"message":{"a":1},"data":[]}`, a2a.Error{Code: -32603}, a2a.CodeInternal},
		{"data is text", `{"code":-32603,"message":"m","data":"trace"}`, a2a.Error{Code: -32603, Message: "m", Data: []byte(`"trace"`)}, a2a.CodeInternal},
		{"data is an object", `{"code":-32603,"message":"m","data":{"a": 1}}`, a2a.Error{Code: -32603, Message: "m", Data: []byte(`{"a":1}`)}, a2a.CodeInternal},
		{"data is a lone detail", `{"code":-32001,"message":"m","data":` + info(`"reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"`) + `}`,
			a2a.Error{Code: -32001, Message: "m", Reason: "TASK_NOT_FOUND"}, a2a.CodeTaskNotFound},
		{"unknown code, known reason", `{"code":-32042,"message":"m","data":[` + info(`"reason":"TASK_NOT_FOUND"`) + `]}`,
			a2a.Error{Code: -32042, Message: "m", Reason: "TASK_NOT_FOUND"}, a2a.CodeTaskNotFound},
		{"unknown code, unknown reason", `{"code":-32010,"message":"m","data":[` + info(`"reason":"GENERATION_MISMATCH"`) + `]}`,
			a2a.Error{Code: -32010, Message: "m", Reason: "GENERATION_MISMATCH"}, -32010},
		{"known code, other reason", `{"code":-32002,"message":"m","data":[` + info(`"reason":"TASK_NOT_FOUND"`) + `]}`,
			a2a.Error{Code: -32002, Message: "m", Reason: "TASK_NOT_FOUND"}, a2a.CodeTaskNotCancelable},
		{"the protocol's own domain wins", `{"code":-32042,"message":"m","data":[` +
			info(`"reason":"FIRST","domain":"example.com","metadata":{"x":"y"}`) + `,` + info(`"reason":"SECOND","domain":"example.org"`) + `,` +
			info(`"reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"`) + `]}`,
			a2a.Error{Code: -32042, Message: "m", Reason: "TASK_NOT_FOUND"}, a2a.CodeTaskNotFound},
		{"everything", `{"code":-32602,"message":"m","data":[
			{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"a","description":"b","x":1},5,{"field":7}]},
			{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"},
			{"@type":"example.com/Other","x":[1, 2]}, 7,
			` + info(`"reason":"R","domain":"a2a-protocol.org","metadata":{"k":"v","n":5}`) + `]}`,
			a2a.Error{Code: -32602, Message: "m", Reason: "R", Metadata: map[string]string{"k": "v"},
				Violations: []a2a.FieldViolation{{Field: "a", Description: "b"}, {}}, RetryAfter: 1500 * time.Millisecond,
				Data: []byte(`[{"@type":"example.com/Other","x":[1,2]},7]`)}, a2a.CodeInvalidParams},
		{"details of odd shapes", `{"code":-32602,"data":[
			{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":{}},
			{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"-5s"},
			` + info(`"reason":5,"metadata":[]`) + `]}`, a2a.Error{Code: -32602}, a2a.CodeInvalidParams},
		{"delay that is none", `{"code":1,"data":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1..5s"},
			{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1h"}]}`, a2a.Error{Code: 1}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := a2a.DecodeError([]byte(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Kind() != tt.kind {
				t.Errorf("Kind() = %d, want %d", got.Kind(), tt.kind)
			}
		})
	}
	for _, bad := range []string{``, `{`, `[]`, `5`, `{}`, `{"code":null}`, `{"code":"x"}`, `{"code":1.5}`, `{"code":1,"code":2}`,
		`{"code":1,"data":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`} {
		if got, err := a2a.DecodeError([]byte(bad)); err == nil {
			t.Errorf("%s became %+v", bad, got)
		}
	}
}

func TestDecodeErrorIsBounded(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	some := long[:1200]
	var metadata, violations []string
	for i := range 100 {
		metadata = append(metadata, fmt.Sprintf(`"k%03d":"%s"`, i, some))
		violations = append(violations, fmt.Sprintf(`{"field":"%s","description":"%s"}`, some, some))
	}
	got, err := a2a.DecodeError([]byte(`{"code":-32602,"message":"` + long + `","data":[
		{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + long + `","metadata":{"` + long + `":"x",` + strings.Join(metadata, ",") + `}},
		{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` + strings.Join(violations, ",") + `]},
		{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` + strings.Join(violations, ",") + `]},
		{"@type":"x","text":"` + long + `"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Message) > 1024 || len(got.Reason) > 63 || len(got.Metadata) != 32 || len(got.Violations) != 32 || got.Data != nil {
		t.Errorf("message %d, reason %d, metadata %d, violations %d, data %d", len(got.Message), len(got.Reason),
			len(got.Metadata), len(got.Violations), len(got.Data))
	}
	if text := got.AppendJSON(nil); len(text) > 64<<10 {
		t.Errorf("the whole error is %d bytes", len(text))
	}
	if !strings.HasSuffix(got.Message, "é…") {
		t.Errorf("the message ends in %q", got.Message[len(got.Message)-8:])
	}
}
