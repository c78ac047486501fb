package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/interop/oracle"
)

// acceptance are texts that a codec may be of two minds about. What the oracle,
// told to discard what it does not know, makes of each, we must too, except
// where differs gives the reason.
var acceptance = []struct{ message, text, differs string }{
	{"GetTaskRequest", `{"id":"t","historyLength":"10"}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":10.0}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":1e1}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":"1e1"}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":-0}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":1.5}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":" 1"}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":""}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":"+1"}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":"01"}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":2147483647}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":2147483648}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":-2147483648}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":null}`, ""},
	{"GetTaskRequest", `{"id":"t","historyLength":true}`, ""},
	{"GetTaskRequest", `{"id":"t","history_length":1}`, ""},
	{"GetTaskRequest", `{"id":"t","HistoryLength":1}`, ""},
	{"GetTaskRequest", `{"id":"t","history_length":1,"historyLength":1}`, ""},
	{"GetTaskRequest", `{"id":"t","id":"t"}`, ""},
	{"GetTaskRequest", `{"id":"t","x":1,"x":2}`, "names are unique in all of a text, whether a member is known or not"},
	{"GetTaskRequest", `{"id":1}`, ""},
	{"GetTaskRequest", `{"id":null}`, ""},
	{"GetTaskRequest", `{"id":"\ud800"}`, ""},
	{"GetTaskRequest", "{\"id\":\"\xff\"}", ""},
	{"GetTaskRequest", `{"id":"t"}{}`, ""},
	{"GetTaskRequest", `{"id":"t",}`, ""},
	{"GetTaskRequest", `[]`, ""},
	{"GetTaskRequest", `null`, ""},
	{"GetTaskRequest", ``, ""},
	{"Task", `{"id":"t","status":{"state":2}}`, ""},
	{"Task", `{"id":"t","status":{"state":"2"}}`, "a name that is no enum value is reported, where the oracle drops it silently"},
	{"Task", `{"id":"t","status":{"state":"working"}}`, "a name that is no enum value is reported, where the oracle drops it silently"},
	{"Task", `{"id":"t","status":{"state":"TASK_STATE_PAUSED"}}`, "a name that is no enum value is reported, where the oracle drops it silently"},
	{"Task", `{"id":"t","status":{"state":42}}`, "a number that is no enum value is reported, where the oracle keeps it for later revisions"},
	{"Task", `{"id":"t","status":{"state":1.0}}`, ""},
	{"Task", `{"id":"t","status":{"state":null}}`, ""},
	{"Task", `{"id":"t","status":null}`, ""},
	{"Task", `{"id":"t","status":{},"artifacts":null}`, ""},
	{"Task", `{"id":"t","status":{},"artifacts":[null]}`, ""},
	{"Task", `{"id":"t","status":{},"artifacts":{}}`, ""},
	{"Task", `{"id":"t","status":{},"metadata":null}`, ""},
	{"Task", `{"id":"t","status":{},"metadata":[]}`, ""},
	{"Task", `{"id":"t","status":{},"metadata":{"a":1e400}}`, ""},
	{"Task", `{"id":"t","status":{},"metadata":{"a":1,"a":2}}`, ""},
	{"Task", `{"id":"t","status":{},"metadata":{"a":{"b":[null,1,"x",true]}}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00Z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00.123456789Z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00.1234567890Z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00,5Z"}}`, "RFC 3339 has a full stop before the fraction; the comma is a leniency of the oracle's library"},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00+02:00"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T10:30:00"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28t10:30:00z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-02-30T10:30:00Z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":"2025-10-28T23:59:60Z"}}`, ""},
	{"Task", `{"id":"t","status":{"timestamp":1761647400}}`, ""},
	{"Part", `{"raw":"-_-_"}`, ""},
	{"Part", `{"raw":"aGk"}`, ""},
	{"Part", `{"raw":"aGk="}`, ""},
	{"Part", `{"raw":"aGk=="}`, ""},
	{"Part", `{"raw":"aG k="}`, ""},
	{"Part", `{"raw":"+/-_"}`, ""},
	{"Part", `{"raw":"a"}`, ""},
	{"Part", `{"raw":""}`, ""},
	{"Part", `{"raw":null}`, ""},
	{"Part", `{"text":""}`, ""},
	{"Part", `{"text":null}`, ""},
	{"Part", `{"data":null}`, ""},
	{"Part", `{"data":9007199254740993}`, ""},
	{"Part", `{"text":"a","url":"b"}`, ""},
	{"Part", `{"text":"a","url":null}`, ""},
	{"Part", `{"text":"a","text":"a"}`, ""},
	{"Part", `{"video":"x"}`, ""},
	{"AgentCapabilities", `{"streaming":"true"}`, ""},
	{"AgentCapabilities", `{"streaming":0}`, ""},
	{"AgentCapabilities", `{"streaming":null,"extended_agent_card":false}`, ""},
	{"SecurityRequirement", `{"schemes":{"a":null}}`, ""},
	{"SecurityRequirement", `{"schemes":{"a":{"list":["x"]}}}`, ""},
	{"OAuthFlows", `{"clientCredentials":{"tokenUrl":"u","scopes":{"a":null}}}`, ""},
	{"OAuthFlows", `{"implicit":{},"password":{}}`, ""},
	{"StreamResponse", `{"messageUpdate":{}}`, ""},
	{"StreamResponse", `{"task":{"id":"t","status":{}},"message":{"messageId":"m","role":1,"parts":[]}}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"extensions":[null]}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"extensions":["a",1]}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"a"}],"message_id":"m"}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":` + nested(200) + `}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":[{"data":` + nested(90) + `}]}`, ""},
	{"Message", `{"messageId":"m","role":"ROLE_USER","parts":[{"data":` + nested(200) + `}]}`, "nesting is limited to 100 levels"},
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// disagreement says how the two differ on a text, empty if they do not: either
// both refuse it, or both read it and mean the same.
func disagreement(message, text string) string {
	theirs := oracle.NewMessage(message).Interface()
	refused := protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal([]byte(text), theirs)
	ours, violations, err := codecs[message].recode([]byte(text))
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	for _, v := range violations {
		if !slices.Contains(incomplete, v.Reason) {
			complaint = v.Field + ": " + v.Description
		}
	}
	switch {
	case refused != nil && complaint == "":
		return "the oracle refuses it, we do not: " + refused.Error()
	case refused == nil && complaint != "":
		return "the oracle accepts it, we do not: " + complaint
	case refused != nil:
		return ""
	}
	got := oracle.NewMessage(message).Interface()
	if err := protojson.Unmarshal(ours, got); err != nil {
		return "the oracle does not read what we write: " + err.Error()
	}
	return difference(adjusted(theirs, func(string) {}), got)
}

// We accept what the oracle accepts, refuse what it refuses, and mean the same,
// except where the list says otherwise, and there we do.
func TestAcceptance(t *testing.T) {
	for _, tt := range acceptance {
		found := disagreement(tt.message, tt.text)
		if found != "" && tt.differs == "" {
			t.Errorf("%s %.200s\n%s", tt.message, tt.text, found)
		}
		if found == "" && tt.differs != "" {
			t.Errorf("%s %.200s: both agree, although listed: %s", tt.message, tt.text, tt.differs)
		}
	}
}

// A later revision's enum value keeps its name through our codec: who passes a
// task on does not change its state.
func TestUnknownEnumsKeepTheirText(t *testing.T) {
	text := `{"id":"t","status":{"state":"TASK_STATE_PAUSED"}}`
	task, violations, err := a2a.Decode[a2a.Task]([]byte(text))
	if err != nil || task.Status.State != "TASK_STATE_PAUSED" {
		t.Fatalf("state %q, error %v", task.Status.State, err)
	}
	if _, ok := violations.Find(a2a.UnknownEnum); !ok {
		t.Errorf("violations %v, want an unknown enum", violations)
	}
	if got := string(task.AppendJSON(nil)); got != text {
		t.Errorf("written %s, want %s", got, text)
	}
}
