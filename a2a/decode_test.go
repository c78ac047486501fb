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

// found is what a table of bad inputs expects of a violation.
type found struct {
	Field  string
	Reason a2a.Reason
}

func reasons(violations a2a.Violations) []found {
	var list []found
	for _, v := range violations {
		list = append(list, found{v.Field, v.Reason})
	}
	return list
}

// The table goes by requirement: REQ-PJ-04, REQ-PJ-05, REQ-PJ-08, REQ-PJ-09,
// REQ-PJ-10, REQ-PJ-14, REQ-PJ-16, REQ-PJ-18, REQ-PJ-19, REQ-PJ-22, REQ-PJ-24;
// PVP-19, PVP-31, PVP-32, PVP-33.
func TestDecodeNamesWhatIsWrong(t *testing.T) {
	message := func(members string) string {
		return `{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"x"}],` + members + `}`
	}
	parts := func(list string) string {
		return `{"messageId":"m-1","role":"ROLE_USER","parts":` + list + `}`
	}
	for _, tt := range []struct {
		name, message, input string
		want                 []found
	}{
		{"REQ-PJ-04 enum by number", "Message", `{"messageId":"m","role":1,"parts":[{"text":"x"}]}`, nil},
		{"REQ-PJ-04 enum by integral float", "Message", `{"messageId":"m","role":2.0,"parts":[{"text":"x"}]}`, nil},
		{"REQ-PJ-05 unknown state in a filter", "ListTasksRequest", `{"status":"TASK_STATE_RUNNING"}`,
			[]found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 name of another version", "ListTasksRequest", `{"status":"working"}`, []found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 quoted number", "ListTasksRequest", `{"status":"2"}`, []found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 empty name", "ListTasksRequest", `{"status":""}`, []found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 unknown number", "ListTasksRequest", `{"status":99}`, []found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 negative number", "ListTasksRequest", `{"status":-1}`, []found{{"status", a2a.UnknownEnum}}},
		{"REQ-PJ-05 number with a fraction", "ListTasksRequest", `{"status":1.5}`, []found{{"status", a2a.WrongType}}},
		{"REQ-PJ-05 huge number", "ListTasksRequest", `{"status":3000000000}`, []found{{"status", a2a.OutOfRange}}},
		{"F18 unspecified filter", "ListTasksRequest", `{"status":"TASK_STATE_UNSPECIFIED"}`, nil},
		{"REQ-PJ-05 unspecified where a value is needed", "TaskStatus", `{"state":"TASK_STATE_UNSPECIFIED"}`,
			[]found{{"state", a2a.Empty}}},
		{"REQ-PJ-05 unspecified by number", "TaskStatus", `{"state":0}`, []found{{"state", a2a.Empty}}},

		{"REQ-PJ-08 two members of a oneof", "Part", `{"text":"a","url":"b"}`, []found{{"", a2a.OneofConflict}}},
		{"REQ-PJ-08 null does not count", "Part", `{"text":null,"url":"b"}`, nil},
		{"REQ-PJ-08 two payloads", "StreamResponse",
			`{"task":{"id":"t","status":{"state":2}},"message":` + parts(`[{"text":"x"}]`) + `}`, []found{{"", a2a.OneofConflict}}},
		{"REQ-PJ-09 no content", "Message", parts(`[{"mediaType":"text/plain"}]`), []found{{"parts[0]", a2a.OneofMissing}}},
		{"REQ-FWD-02 unknown payload only", "StreamResponse", `{"messageUpdate":{"x":1}}`, []found{{"", a2a.OneofMissing}}},
		{"REQ-ERR-20 empty answer", "SendMessageResponse", `{}`, []found{{"", a2a.OneofMissing}}},

		{"F16 no parts", "Message", parts(`[]`), []found{{"parts", a2a.Empty}}},
		{"F16 empty part", "Message", parts(`[{}]`), []found{{"parts[0]", a2a.OneofMissing}}},
		{"F16 text and data", "Message", parts(`[{"text":"a","data":{}}]`), []found{{"parts[0]", a2a.OneofConflict}}},
		{"F16 text and empty raw", "Message", parts(`[{"text":"a","raw":""}]`), []found{{"parts[0]", a2a.OneofConflict}}},
		{"F16 data null", "Message", parts(`[{"data":null}]`), nil},
		{"F16 text and data null", "Message", parts(`[{"text":"a","data":null}]`), []found{{"parts[0]", a2a.OneofConflict}}},
		{"F16 data number", "Message", parts(`[{"data":5}]`), nil},
		{"F16 file URL is text to us", "Message", parts(`[{"url":"file:///etc/passwd"}]`), nil},
		{"F16 kind is unknown", "Message", parts(`[{"kind":"text","text":"a"}]`), nil},
		{"empty text is text", "Message", parts(`[{"text":""}]`), nil},

		{"REQ-PJ-10 URL-safe base64", "Part", `{"raw":"-_-_"}`, nil},
		{"REQ-PJ-10 unpadded base64", "Part", `{"raw":"aGk"}`, nil},
		{"REQ-PJ-10 mixed alphabets", "Part", `{"raw":"+_-_"}`, []found{{"raw", a2a.BadEncoding}}},
		{"REQ-PJ-10 line break", "Part", `{"raw":"aG\nk="}`, []found{{"raw", a2a.BadEncoding}}},
		{"REQ-PJ-10 blank", "Part", `{"raw":"aG k"}`, []found{{"raw", a2a.BadEncoding}}},
		{"REQ-PJ-10 not base64", "Message", parts(`[{"text":"a"},{"text":"b"},{"raw":"?"}]`), []found{{"parts[2].raw", a2a.BadEncoding}}},

		{"REQ-PJ-14 no fraction", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00Z"}`, nil},
		{"REQ-PJ-14 one digit", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00.1Z"}`, nil},
		{"REQ-PJ-14 nine digits", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00.123456789Z"}`, nil},
		{"REQ-PJ-14 ten digits", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00.1234567891Z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"PVP-32 offset", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T12:00:00+02:00"}`, nil},
		{"no zone", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"lower case", "TaskStatus", `{"state":2,"timestamp":"2026-01-01t10:00:00z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"comma", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00,5Z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"short hour", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T1:00:00Z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"no fraction after the point", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00.Z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"offset beyond a day", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00+24:00"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"offset without colon", "TaskStatus", `{"state":2,"timestamp":"2026-01-01T10:00:00+0200"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"no such day", "TaskStatus", `{"state":2,"timestamp":"2026-02-30T10:00:00Z"}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"empty timestamp", "TaskStatus", `{"state":2,"timestamp":""}`, []found{{"timestamp", a2a.BadEncoding}}},
		{"year zero", "TaskStatus", `{"state":2,"timestamp":"0000-01-01T10:00:00Z"}`, []found{{"timestamp", a2a.OutOfRange}}},
		{"before year one in UTC", "TaskStatus", `{"state":2,"timestamp":"0001-01-01T00:00:00+01:00"}`, []found{{"timestamp", a2a.OutOfRange}}},

		{"REQ-PJ-16 missing in depth", "SendMessageRequest", `{"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}`,
			[]found{{"message.messageId", a2a.Missing}}},
		{"REQ-PJ-16 empty id", "GetTaskRequest", `{"id":""}`, []found{{"id", a2a.Empty}}},
		{"REQ-PJ-22 null id", "GetTaskRequest", `{"id":null}`, []found{{"id", a2a.Missing}}},
		{"REQ-PJ-22 null element", "Message", parts(`[{"text":"x"},null]`), []found{{"parts[1]", a2a.NullElement}}},
		{"REQ-PJ-22 null string element", "Message", message(`"extensions":["a",null]`), []found{{"extensions[1]", a2a.NullElement}}},
		{"REQ-PJ-22 null map value", "SecurityRequirement", `{"schemes":{"key":null}}`, []found{{"schemes.key", a2a.NullElement}}},
		{"odd map key", "ImplicitOAuthFlow", `{"scopes":{"read all":null}}`, []found{{`scopes["read all"]`, a2a.NullElement}}},
		{"REQ-PJ-18 tasks may be empty", "ListTasksResponse", `{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}`, nil},
		{"REQ-PJ-18 tags may be empty", "AgentSkill", `{"id":"i","name":"n","description":"d","tags":[]}`, nil},
		{"PVP-19 scopes may be empty", "ClientCredentialsOAuthFlow", `{"tokenUrl":"u","scopes":{}}`, nil},

		{"REQ-PJ-19 unknown everywhere", "SendMessageRequest", `{"x":{"y":[1]},"message":{"messageId":"m","role":1,"x":null,
			"parts":[{"text":"a","x":"y"}]},"configuration":{"blocking":false}}`, nil},
		{"REQ-FWD-06 members of 1.1", "GetTaskRequest", `{"id":"t","currentGeneration":"7","timelineLength":3}`, nil},

		{"REQ-PJ-24 fraction", "ListTasksRequest", `{"pageSize":1.5}`, []found{{"pageSize", a2a.WrongType}}},
		{"REQ-PJ-24 beyond 32 bits", "ListTasksRequest", `{"pageSize":3000000000}`, []found{{"pageSize", a2a.OutOfRange}}},
		{"F20 just beyond 32 bits", "GetTaskRequest", `{"id":"t","historyLength":2147483648}`, []found{{"historyLength", a2a.OutOfRange}}},
		{"F18 boolean", "ListTasksRequest", `{"pageSize":true}`, []found{{"pageSize", a2a.WrongType}}},
		{"F18 broken numeric string", "ListTasksRequest", `{"pageSize":"10x"}`, []found{{"pageSize", a2a.WrongType}}},
		{"bool as string", "TaskArtifactUpdateEvent", `{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":"true"}`,
			[]found{{"append", a2a.WrongType}}},
		{"number beyond a double", "Message", message(`"metadata":{"n":[1e999]}`), []found{{"metadata", a2a.OutOfRange}}},
		{"number beyond a double in data", "Part", `{"data":1e999}`, []found{{"data", a2a.OutOfRange}}},
		{"long number within a double", "Part", `{"data":` + strings.Repeat("9", 308) + `}`, nil},
		{"long number beyond a double", "Part", `{"data":` + strings.Repeat("9", 400) + `}`, []found{{"data", a2a.OutOfRange}}},

		{"REQ-CARD-33 older shape", "SecurityRequirement", `{"google":["openid"]}`, []found{{"", a2a.Shape}}},
		{"REQ-CARD-33 unknown beside nothing", "SecurityRequirement", `{"schemes":{},"google":[]}`, []found{{"", a2a.Shape}}},
		{"REQ-CARD-33 null schemes", "SecurityRequirement", `{"schemes":null}`, []found{{"", a2a.Shape}}},
		{"REQ-CARD-33 list of scopes", "SecurityRequirement", `{"schemes":{"google":["openid"]}}`, []found{{"schemes.google", a2a.WrongType}}},
		{"DEC-30 nothing needed, said on purpose", "SecurityRequirement", `{}`, nil},
		{"REQ-CARD-33 unknown beside a scheme", "SecurityRequirement", `{"schemes":{"key":{}},"x":1}`, nil},
		{"REQ-CARD-33 security of a skill", "AgentSkill", `{"id":"i","name":"n","description":"d","tags":["t"],"security":[{"key":[]}]}`,
			[]found{{"security", a2a.Shape}}},
		{"a card of two versions", "AgentSkill", `{"id":"i","name":"n","description":"d","tags":["t"],"security":[{"key":[]}],
			"securityRequirements":[{"schemes":{"key":{}}}]}`, nil},
		{"security null", "AgentSkill", `{"id":"i","name":"n","description":"d","tags":["t"],"security":null}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, violations, err := codecs[tt.message].decode([]byte(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reasons(violations)); diff != "" {
				t.Errorf("violations (-want +got):\n%s\n%v", diff, violations)
			}
			for _, v := range violations {
				if v.Description == "" || len(v.Description) > 512 {
					t.Errorf("description of %d bytes: %q", len(v.Description), v.Description)
				}
			}
			checkRoundTrip(t, tt.message, []byte(tt.input))
		})
	}
}

// REQ-CARD-33, PVP-11, PVP-12 on a whole card: the member of older versions, alone, is told.
func TestCardWithOlderSecurityIsTold(t *testing.T) {
	card := `{"name":"a","description":"b","version":"1","capabilities":{},"defaultInputModes":["text/plain"],
		"defaultOutputModes":["text/plain"],"skills":[],
		"supportedInterfaces":[{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"securityRequirements":[%s],"security":[{"google":["openid"]}]}`
	for requirements, want := range map[string][]found{
		``:                          {{"security", a2a.Shape}},
		`{"schemes":{"google":{}}}`: nil,
		`{"google":["openid"]}`:     {{"securityRequirements[0]", a2a.Shape}},
	} {
		_, violations, err := a2a.Decode[a2a.AgentCard](fmt.Appendf(nil, card, requirements))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, reasons(violations)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", requirements, diff)
		}
	}
}

// REQ-PJ-27, and a member that occurs twice.
func TestDecodeRefusesWhatIsNoMessage(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for name, tt := range map[string]struct {
		input, problem string
	}{
		"nothing":                   {``, "JSON ends too early"},
		"cut off":                   {`{"id":"t"`, "JSON ends too early"},
		"cut off in a value":        {`{"id":"t","status":{"state":"TASK`, "JSON ends too early"},
		"two values":                {`{} {}`, "something follows the value"},
		"garbage behind":            {`{}x`, "malformed JSON"},
		"no JSON":                   {`{"id":t}`, "malformed JSON"},
		"trailing comma":            {`{"id":"t",}`, "malformed JSON"},
		"name is no string":         {`{1:2}`, "malformed JSON"},
		"array":                     {`[]`, "the value is not an object"},
		"string":                    {`"t"`, "the value is not an object"},
		"null":                      {`null`, "the value is not an object"},
		"REQ-PJ-27 bad UTF-8":       {"{\"id\":\"\xff\"}", "invalid UTF-8"},
		"REQ-PJ-27 in unknown":      {"{\"x\":{\"y\":\"\xc3\"}}", "invalid UTF-8"},
		"lone surrogate":            {`{"id":"\ud800"}`, "malformed JSON"},
		"DEC-28 same name":          {`{"id":"a","id":"b"}`, "duplicate member name"},
		"DEC-28 escaped name":       {`{"id":"a","\u0069d":"b"}`, "duplicate member name"},
		"DEC-28 two spellings":      {`{"contextId":"a","context_id":"b"}`, "duplicate member name"},
		"DEC-28 two nulls":          {`{"contextId":null,"context_id":null}`, "duplicate member name"},
		"DEC-28 in free form":       {`{"metadata":{"a":1,"a":2}}`, "duplicate member name"},
		"DEC-28 in unknown members": {`{"x":1,"x":2}`, "duplicate member name"},
		"F29 deep unknown":          {`{"x":` + deep(10_000-1) + `}`, "JSON is nested too deep"},
		"F29 just too deep":         {`{"x":` + deep(a2a.MaxDepth) + `}`, "JSON is nested too deep"},
		"F29 deep metadata":         {`{"metadata":{"x":` + deep(a2a.MaxDepth-1) + `}}`, "JSON is nested too deep"},
		"F29 deep mistyped":         {`{"id":` + deep(a2a.MaxDepth) + `}`, "JSON is nested too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			task, violations, err := a2a.Decode[a2a.Task]([]byte(tt.input))
			syntax, ok := errors.AsType[*a2a.SyntaxError](err)
			if !ok || syntax.Problem != tt.problem {
				t.Fatalf("error = %v, want %q", err, tt.problem)
			}
			if syntax.Offset < 0 || syntax.Offset > int64(len(tt.input)) {
				t.Errorf("offset %d is outside of the input", syntax.Offset)
			}
			if violations != nil || task.ID != "" {
				t.Error("something was returned beside the error")
			}
		})
	}
	for _, text := range []string{`{"x":` + deep(a2a.MaxDepth-1) + `}`, `{"metadata":{"x":` + deep(a2a.MaxDepth-2) + `}}`} {
		if _, _, err := a2a.Decode[a2a.Task]([]byte(text)); err != nil {
			t.Errorf("%d levels are refused: %v", a2a.MaxDepth, err)
		}
	}
}

func TestCheckDepth(t *testing.T) {
	for text, depth := range map[string]int{
		`1`: 0, `{}`: 1, `[[],[]]`: 2, `{"[[[[":"\"[[["}`: 1, `{"a":[{"b":"]"}]}`: 3, `"\\"`: 0,
	} {
		if !a2a.CheckDepth([]byte(text), depth) || depth > 0 && a2a.CheckDepth([]byte(text), depth-1) {
			t.Errorf("%s is not found to be %d deep", text, depth)
		}
	}
}

// What could be read is kept when something else could not. REQ-PJ-06, REQ-PJ-28.
func TestDecodeKeepsWhatItCouldRead(t *testing.T) {
	task, violations, err := a2a.Decode[a2a.Task]([]byte(`{
		"id": "t-1", "contextId": 7, "generation": "3",
		"status": {"state": "TASK_STATE_PAUSED", "timestamp": "2026-01-01T12:30:00.1239+02:00"},
		"artifacts": [{"artifactId": "a-1", "parts": [
			{"text": "one", "mediaType": 5}, {"hologram": {}}, {"raw": "!"}, {"url": "u", "text": "second is ignored"}, 5, null]}],
		"history": "none", "metadata": {"k": [1, 2.50, "\u00e9"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := a2a.Task{
		ID: "t-1",
		Status: a2a.TaskStatus{
			State:     "TASK_STATE_PAUSED", // REQ-PJ-06, REQ-FWD-04
			Timestamp: time.Date(2026, 1, 1, 10, 30, 0, 123_000_000, time.UTC),
		},
		Artifacts: []a2a.Artifact{{ArtifactID: "a-1", Parts: []a2a.Part{
			a2a.TextPart("one"), {}, {}, {Content: a2a.PartURL("u")},
		}}},
		Metadata: a2a.Struct(`{"k":[1,2.50,"\u00e9"]}`),
	}
	if diff := cmp.Diff(want, task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	wantViolations := []found{
		{"contextId", a2a.WrongType}, {"status.state", a2a.UnknownEnum},
		{"artifacts[0].parts[0].mediaType", a2a.WrongType}, {"artifacts[0].parts[1]", a2a.OneofMissing},
		{"artifacts[0].parts[2].raw", a2a.BadEncoding}, {"artifacts[0].parts[3]", a2a.OneofConflict},
		{"artifacts[0].parts[4]", a2a.WrongType}, {"artifacts[0].parts[5]", a2a.NullElement},
		{"history", a2a.WrongType},
	}
	if diff := cmp.Diff(wantViolations, reasons(violations)); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	if state := task.Status.State; state.Terminal() || state.Interrupted() || state.Known() {
		t.Error("an unknown state is taken for more than that")
	}
}

// The value stays what it is when the bytes it was read from change.
func TestDecodeKeepsNoInput(t *testing.T) {
	data := []byte(`{"messageId":"m-1","role":"ROLE_FUTURE","parts":[{"text":"t"},{"data":{"a":1}},{"raw":"aGk="}],"metadata":{"k":"v"}}`)
	message, _, err := a2a.Decode[a2a.Message](data)
	if err != nil {
		t.Fatal(err)
	}
	before := string(message.AppendJSON(nil))
	for i := range data {
		data[i] = '#'
	}
	if after := string(message.AppendJSON(nil)); after != before {
		t.Errorf("the value changed from %s to %s", before, after)
	}
}

// REQ-PJ-24: what is an int32, and what is not.
func TestInt32Forms(t *testing.T) {
	for text, want := range map[string]any{
		`10`: 10, `"10"`: 10, `10.0`: 10, `1e1`: 10, `"1E+1"`: 10, `100e-1`: 10, `0.1e2`: 10, `-0`: 0, `0e999999999999`: 0,
		`2147483647`: 2147483647, `-2147483648`: -2147483648, `2147483647.000`: 2147483647, `21474836470e-1`: 2147483647,
		`0.5e1`: 5, `"-7"`: -7,
		`2147483648`: a2a.OutOfRange, `-2147483649`: a2a.OutOfRange, `1e10`: a2a.OutOfRange, `1e999999999999`: a2a.OutOfRange,
		`99999999999999999999999`: a2a.OutOfRange,
		`1.5`:                     a2a.WrongType, `1e-1`: a2a.WrongType, `2147483647.0000000001`: a2a.WrongType, `1e-999999999999`: a2a.WrongType,
		`""`: a2a.WrongType, `" 1"`: a2a.WrongType, `"1 "`: a2a.WrongType, `"01"`: a2a.WrongType, `"+1"`: a2a.WrongType,
		`"1."`: a2a.WrongType, `".5"`: a2a.WrongType, `"1e"`: a2a.WrongType, `"1e+"`: a2a.WrongType, `"0x1"`: a2a.WrongType,
		`"-"`: a2a.WrongType, `"NaN"`: a2a.WrongType,
	} {
		got, violations, err := a2a.Decode[a2a.GetTaskRequest]([]byte(`{"id":"t","historyLength":` + text + `}`))
		switch want := want.(type) {
		case int:
			if err != nil || len(violations) > 0 || *got.HistoryLength != int32(want) {
				t.Errorf("%s: %v, error %v, violations %v; want %d", text, got.HistoryLength, err, violations, want)
			}
		case a2a.Reason:
			if err != nil || len(violations) != 1 || violations[0].Reason != want {
				t.Errorf("%s: error %v, violations %v; want %v", text, err, violations, want)
			}
		}
	}
}

// REQ-PJ-20: absent and zero are different where the proto says optional.
func TestOptionalZeroIsNotAbsent(t *testing.T) {
	absent, _, err := a2a.Decode[a2a.ListTasksRequest]([]byte(`{}`))
	if err != nil || absent.PageSize != nil || absent.HistoryLength != nil || absent.IncludeArtifacts != nil {
		t.Errorf("absent members are set: %+v, %v", absent, err)
	}
	text := `{"pageSize":0,"historyLength":0,"includeArtifacts":false}`
	zero, _, err := a2a.Decode[a2a.ListTasksRequest]([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(zero.AppendJSON(nil)); got != text {
		t.Errorf("written as %s, want %s", got, text)
	}
	card, _, err := a2a.Decode[a2a.AgentCard]([]byte(`{"capabilities":{"streaming":false},"iconUrl":""}`))
	if err != nil || card.Capabilities.Streaming == nil || card.IconURL == nil || card.DocumentationURL != nil {
		t.Errorf("optional members of a card: %+v, %v", card, err)
	}
}
