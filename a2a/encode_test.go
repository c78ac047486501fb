package a2a_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/legation/legation/a2a"
)

// The table goes by requirement: REQ-PJ-10, REQ-PJ-11, REQ-PJ-12, REQ-PJ-13,
// REQ-PJ-17, REQ-PJ-20, REQ-PJ-23; PVP-20.
func TestEncode(t *testing.T) {
	zone := time.FixedZone("far", 5*3600+1800)
	status := func(at time.Time) *a2a.TaskStatus {
		return &a2a.TaskStatus{State: a2a.TaskStateWorking, Timestamp: at}
	}
	for _, tt := range []struct {
		name  string
		value appender
		want  string
	}{
		{"REQ-PJ-17 empty list of tasks", &a2a.ListTasksResponse{PageSize: 50},
			`{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`},
		{"REQ-PJ-17 card without skills", &a2a.AgentCard{},
			`{"name":"","description":"","supportedInterfaces":[],"version":"","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]}`},
		{"REQ-PJ-17 scopes", &a2a.ClientCredentialsOAuthFlow{}, `{"tokenUrl":"","scopes":{}}`},
		{"REQ-PJ-17 unspecified state", &a2a.TaskStatus{}, `{"state":"TASK_STATE_UNSPECIFIED"}`},
		{"REQ-PJ-23 nothing but what is set", &a2a.ListTasksRequest{}, `{}`},
		{"REQ-PJ-23 empty collections", &a2a.Message{Extensions: []string{}, Metadata: a2a.Struct{}},
			`{"messageId":"","role":"ROLE_UNSPECIFIED","parts":[]}`},
		{"first member left out", &a2a.ListTasksRequest{PageSize: new(int32(0)), IncludeArtifacts: new(false)},
			`{"pageSize":0,"includeArtifacts":false}`},
		{"empty object is there", &a2a.CancelTaskRequest{ID: "t", Metadata: a2a.Struct(`{}`)}, `{"id":"t","metadata":{}}`},
		{"unknown state as received", &a2a.TaskStatus{State: "TASK_STATE_PAUSED"}, `{"state":"TASK_STATE_PAUSED"}`},

		{"REQ-PJ-10 padded standard base64", &a2a.Part{Content: a2a.PartRaw{0xfb, 0xff, 0xbf, 0x68}}, `{"raw":"+/+/aA=="}`},
		{"no bytes", &a2a.Part{Content: a2a.PartRaw(nil)}, `{"raw":""}`},
		{"empty text", &a2a.Part{Content: a2a.PartText("")}, `{"text":""}`},
		{"nil data is null", &a2a.Part{Content: a2a.PartData(nil)}, `{"data":null}`},
		{"no content", &a2a.Part{MediaType: "text/plain"}, `{"mediaType":"text/plain"}`},
		{"nil payload", &a2a.StreamResponse{Payload: (*a2a.Task)(nil)}, `{}`},
		{"no payload", &a2a.StreamResponse{}, `{}`},

		{"REQ-PJ-11 UTC", status(time.Date(2026, 1, 1, 15, 30, 0, 0, zone)),
			`{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T10:00:00.000Z"}`},
		{"REQ-PJ-13 cut, not rounded", status(time.Date(2026, 1, 1, 10, 30, 0, 123_999_999, time.UTC)),
			`{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T10:30:00.123Z"}`},
		{"beyond the last year", status(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)),
			`{"state":"TASK_STATE_WORKING","timestamp":"9999-12-31T23:59:59.999Z"}`},
		{"before the first year", status(time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC)),
			`{"state":"TASK_STATE_WORKING","timestamp":"0001-01-01T00:00:00.000Z"}`},
		{"integers", &a2a.GetTaskRequest{ID: "t", HistoryLength: new(int32(math.MinInt32))}, `{"id":"t","historyLength":-2147483648}`},

		{"sorted keys", &a2a.ImplicitOAuthFlow{Scopes: map[string]string{"b": "2", "a": "1", "c": "3"}},
			`{"scopes":{"a":"1","b":"2","c":"3"}}`},
		{"keys that are written alike", &a2a.ImplicitOAuthFlow{Scopes: map[string]string{"\xff": "1", "\xfe": "1", "a": "2"}},
			"{\"scopes\":{\"a\":\"2\",\"\uFFFD\":\"1\"}}"},
		{"keys that are written alike, one rightly", &a2a.ImplicitOAuthFlow{Scopes: map[string]string{"\xff": "1", "\uFFFD": "2"}},
			"{\"scopes\":{\"\uFFFD\":\"2\"}}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := string(tt.value.AppendJSON([]byte("before")))
			if diff := cmp.Diff("before"+tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !jsontext.Value(tt.want).IsValid() {
				t.Error("not valid JSON")
			}
		})
	}
}

// F29, F38, REQ-PJ-27: text comes through unchanged, and only what RFC 8785
// escapes is escaped; what is no UTF-8 is never written.
func TestTextIsWrittenAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"<b>&\"Ω😀\u2028":       "\"<b>&\\\"Ω😀\u2028\"",
		`C:\dir/`:              `"C:\\dir/"`,
		"\b\t\n\f\r\x00\x1f":   `"\b\t\n\f\r\u0000\u001f"`,
		"\x7f\u0080":           "\"\x7f\u0080\"",
		"a\xffb":               "\"a\uFFFDb\"",
		"\xf0\x9f\x98":         "\"\uFFFD\uFFFD\uFFFD\"",
		"\xed\xa0\x80":         "\"\uFFFD\uFFFD\uFFFD\"",
		"\uFFFD":               "\"\uFFFD\"",
		"":                     `""`,
		strings.Repeat("é", 3): `"ééé"`,
	} {
		part := a2a.TextPart(text)
		if got := string(part.AppendJSON(nil)); got != `{"text":`+want+`}` {
			t.Errorf("%q is written as %s", text, got)
		}
		back, violations, err := a2a.Decode[a2a.Part](part.AppendJSON(nil))
		if err != nil || len(violations) > 0 {
			t.Fatalf("%q: %v %v", text, err, violations)
		}
		if got := string(back.Content.(a2a.PartText)); got != strings.ToValidUTF8(text, "\uFFFD") && got != string([]rune(text)) {
			t.Errorf("%q came back as %q", text, got)
		}
	}
}

// F29, REQ-PJ-28: keys of data keep their characters and their order.
func TestDataIsWrittenAsItIs(t *testing.T) {
	text := "{\"\U0001F600\":1,\"\uFF01\":2,\"n\":1.50,\"e\":\"\\u00e9\"}"
	part, _, err := a2a.Decode[a2a.Part]([]byte("{\"data\": " + strings.ReplaceAll(text, ",", " ,\r\n\t") + "}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(part.AppendJSON(nil)); got != `{"data":`+text+`}` {
		t.Errorf("written as %s", got)
	}
}

// REQ-PJ-10: both alphabets and both paddings mean the same bytes.
func TestBytesRoundTrip(t *testing.T) {
	for size := range 8 {
		content := []byte{0xfb, 0xef, 0xff, 0x00, 0xfe, 0x3e, 0x3f, 0x7f}[:size]
		for _, encoding := range []*base64.Encoding{
			base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
		} {
			text := `{"raw":"` + encoding.EncodeToString(content) + `"}`
			part, violations, err := a2a.Decode[a2a.Part]([]byte(text))
			if err != nil || len(violations) > 0 {
				t.Fatalf("%s: %v %v", text, err, violations)
			}
			if diff := cmp.Diff(a2a.PartContent(a2a.PartRaw(content)), part.Content); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
}

// AppendJSON and MarshalJSON agree, and the former allocates nothing of its own.
func TestAppendJSONNeedsNoMemory(t *testing.T) {
	task := referenceTask()
	text := task.AppendJSON(nil)
	marshaled, err := json.Marshal(task)
	if err != nil || string(marshaled) != string(text) {
		t.Errorf("MarshalJSON differs from AppendJSON (error %v)", err)
	}
	if n := testing.AllocsPerRun(10, func() { text = task.AppendJSON(text[:0]) }); n > 0 {
		t.Errorf("AppendJSON allocated %v times", n)
	}
}
