package a2a_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// seedFuzz adds every message that occurs in the golden transcripts, and some
// of the oddities the decoder takes apart.
func seedFuzz(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d transcripts, error %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			var e envelope
			if len(line) > 2 && json.Unmarshal([]byte(line[2:]), &e) == nil {
				for _, value := range []jsontext.Value{e.Params, e.Result, e.Error} {
					if value != nil {
						f.Add([]byte(value))
					}
				}
			}
		}
	}
	for _, seed := range []string{
		`{"id":"t","history_length":"1e1","x":[{"y":null}]}`,
		`{"status":7,"pageSize":10.0,"statusTimestampAfter":"2026-01-01T12:00:00.123456789+02:00"}`,
		`{"message":{"messageId":"\u0000\ud83d\ude00","role":2,"parts":[{},null,5,{"text":"a","raw":"_-"},{"data":null}],"metadata":{ }}}`,
		`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"99","timestamp":"0001-01-01T00:00:00.0001Z"}}}`,
		`{"artifactUpdate":{"artifact":{"parts":[{"data":[1e308, -0.0 ,"\u00e9"]}]}}}`,
		`{"securityRequirements":[{},{"a":[]},{"schemes":{"":{"list":["s"]}}}],"security":[],"securitySchemes":{"x":{"oauth2SecurityScheme":{"flows":{"implicit":{"scopes":{"":""}}}}}}}`,
		`{"code":-32001,"message":"m","data":{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R"}}`,
	} {
		f.Add([]byte(seed))
	}
}

func fuzzMessage(f *testing.F, name string) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, data []byte) { checkRoundTrip(t, name, data) })
}

func FuzzDecodeTask(f *testing.F)               { fuzzMessage(f, "Task") }
func FuzzDecodeStreamResponse(f *testing.F)     { fuzzMessage(f, "StreamResponse") }
func FuzzDecodeAgentCard(f *testing.F)          { fuzzMessage(f, "AgentCard") }
func FuzzDecodeSendMessageRequest(f *testing.F) { fuzzMessage(f, "SendMessageRequest") }
func FuzzDecodeListTasksResponse(f *testing.F)  { fuzzMessage(f, "ListTasksResponse") }

// FuzzDecodeParams reads each input as the parameters of every method.
func FuzzDecodeParams(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{
			"SendMessageRequest", "GetTaskRequest", "ListTasksRequest", "CancelTaskRequest", "SubscribeToTaskRequest",
			"TaskPushNotificationConfig", "GetTaskPushNotificationConfigRequest", "ListTaskPushNotificationConfigsRequest",
			"DeleteTaskPushNotificationConfigRequest", "GetExtendedAgentCardRequest",
		} {
			checkRoundTrip(t, name, data)
		}
	})
}

// FuzzDecodeError holds that what is kept of an error is written as valid JSON
// and reads back equal.
func FuzzDecodeError(f *testing.F) {
	seedFuzz(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := a2a.DecodeError(data)
		if err != nil {
			return
		}
		if first.Data != nil && !jsontext.Value(first.Data).IsValid() {
			t.Errorf("data is not JSON: %q", first.Data)
		}
		text := first.AppendJSON(nil)
		if !jsontext.Value(text).IsValid() {
			t.Fatalf("written as invalid JSON: %q", text)
		}
		second, err := a2a.DecodeError(text)
		if err != nil {
			t.Fatal(err)
		}
		first.Data = nil // never written
		third, err := a2a.DecodeError(second.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(second, third); diff != "" {
			t.Errorf("(-second +third):\n%s", diff)
		}
		if second.Code != first.Code || len(second.Violations) != len(first.Violations) {
			t.Errorf("%+v reads back as %+v", first, second)
		}
	})
}

// FuzzText holds that every string is written as valid JSON, and that valid
// text comes back as it was.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "<b>&\"Ω😀\u2028", "\xff\\", "\x00\x1f\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		part := a2a.TextPart(text)
		back, violations, err := a2a.Decode[a2a.Part](part.AppendJSON(nil))
		if err != nil || len(violations) > 0 {
			t.Fatalf("%q: %v %v", text, err, violations)
		}
		if got := back.Content.(a2a.PartText); string(got) != string([]rune(text)) {
			t.Errorf("%q came back as %q", text, got)
		}
	})
}
