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

// operations gives the messages of each method.
var operations = map[string]struct{ params, result string }{
	a2a.MethodSendMessage:                      {"SendMessageRequest", "SendMessageResponse"},
	a2a.MethodSendStreamingMessage:             {"SendMessageRequest", "StreamResponse"},
	a2a.MethodGetTask:                          {"GetTaskRequest", "Task"},
	a2a.MethodListTasks:                        {"ListTasksRequest", "ListTasksResponse"},
	a2a.MethodCreateTaskPushNotificationConfig: {"TaskPushNotificationConfig", "TaskPushNotificationConfig"},
	a2a.MethodGetExtendedAgentCard:             {"GetExtendedAgentCardRequest", "AgentCard"},
}

// envelope is the part of JSON-RPC these tests look at.
type envelope struct {
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

// Conversations that are right by the specification are read without
// violations and written as they were.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d transcripts, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			method, lines := "", 0
			for line := range strings.Lines(string(content)) {
				line = strings.TrimSpace(line)
				if name, ok := strings.CutPrefix(line, "-- "); ok {
					method = strings.TrimSuffix(name, " --")
				}
				if text, ok := strings.CutPrefix(line, "> "); ok {
					lines++
					checkGolden(t, method, text)
				}
				if text, ok := strings.CutPrefix(line, "< "); ok {
					lines++
					checkGolden(t, method, text)
				}
			}
			if lines == 0 {
				t.Error("nothing is said")
			}
		})
	}
}

func checkGolden(t *testing.T, method, line string) {
	t.Helper()
	var e envelope
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	operation, ok := operations[method]
	if !ok {
		t.Fatalf("no operation %q", method)
	}
	switch {
	case e.Error != nil:
		decoded, err := a2a.DecodeError(e.Error)
		if err != nil {
			t.Fatal(err)
		}
		checkSame(t, e.Error, decoded.AppendJSON(nil))
	case e.Params != nil:
		checkMessage(t, operation.params, e.Params)
	default:
		checkMessage(t, operation.result, e.Result)
	}
}

func checkMessage(t *testing.T, name string, text []byte) {
	t.Helper()
	value, violations, err := codecs[name].decode(text)
	if err != nil || len(violations) > 0 {
		t.Fatalf("error %v, violations %v in %s", err, violations, text)
	}
	checkSame(t, text, value.AppendJSON(nil))
	checkRoundTrip(t, name, text)
}

// checkSame compares two JSON texts but for the order of members.
func checkSame(t *testing.T, want, got []byte) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(want, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
