package client_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

// What a person reads.
func TestErrorTexts(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&client.UnsupportedError{Method: "SubscribeToTask", Capability: "streaming"}, "SubscribeToTask: the agent's card does not offer it (capabilities.streaming is not true)"},
		{&client.RequestError{Method: "GetTask", Why: "the id of the task is missing"}, "GetTask: the id of the task is missing"},
		{&client.ExtensionError{URIs: []string{"urn:a", "urn:b\n"}}, `the agent requires extensions that are not supported here: "urn:a", "urn:b\n"`},
		{&client.CredentialsError{Err: io.EOF}, "no credentials: EOF"},
		{&client.LostTaskError{TaskID: "t-1", Err: io.EOF}, `the agent has lost task "t-1": EOF`},
		{&client.PeerError{Method: "GetTask", Status: 200, Err: a2a.Errorf(-32001, "gone\n")}, `GetTask: the agent answered: "gone" (JSON-RPC -32001)`},
		{&client.PeerError{Method: "GetTask", Status: 200, Err: &a2a.Error{Code: -32001}}, `GetTask: the agent answered with an error (JSON-RPC -32001)`},
		{&client.PeerError{Method: "GetTask", Status: 200, Err: &a2a.Error{Code: -32042, Message: "a\x1bb\r\nc", Reason: "ODD\n"}}, `GetTask: the agent answered: "a b c" (JSON-RPC -32042 "ODD\n")`},
		{&client.PeerError{Method: "SendMessage", Status: 200, Err: a2a.InvalidParams()}, `SendMessage: the agent refused the parameters (JSON-RPC -32602)`},
		{&client.PeerError{Method: "SendMessage", Status: 400, Err: a2a.Errorf(-32602, "no\ngood")}, `SendMessage: the agent refused the parameters: "no good" (JSON-RPC -32602, HTTP 400)`},
		{&client.PeerError{Method: "SendMessage", Status: 200, Err: &a2a.Error{Code: -32602, Message: "told below", Violations: []a2a.FieldViolation{
			{Field: "message.metadata", Description: "must name\na skill"}, {Description: "alone"}, {Field: "tenant"}, {}, {Field: "fifth"},
		}}}, `SendMessage: the agent refused the parameters: message.metadata: must name a skill; alone; tenant; and 1 more (JSON-RPC -32602)`},
		{&client.PeerError{Method: "GetTask", Status: 503, Err: a2a.Errorf(-32603, "busy"), Hint: "try later"}, `GetTask: the agent answered: "busy"; try later (JSON-RPC -32603, HTTP 503)`},
		{&client.HTTPError{Method: "GetTask", Status: 599}, "GetTask: the answer is HTTP 599"},
		{&client.HTTPError{Method: "agent card", Status: 404, ContentType: "text/html", IsHTML: true}, "agent card: the answer is HTTP 404 Not Found with a web page (text/html)"},
		{&client.HTTPError{Method: "GetTask", Status: 403, Said: "loopback only"}, `GetTask: the answer is HTTP 403 Forbidden, saying "loopback only"`},
		{&client.CardError{URL: "http://h/x", Err: &client.HTTPError{Status: 404}, Root: &client.Card{URL: "http://h/y.json"}}, `no agent card at http://h/x (404 Not Found); the host's root has another agent, "", at http://h/y.json`},
		{&client.InvalidResponseError{Method: "GetTask", Why: "it has neither a result nor an error"}, "GetTask: the agent's answer breaks the protocol: it has neither a result nor an error"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	for _, err := range []error{
		&client.ExtensionError{URIs: []string{long, long, long}}, &client.LostTaskError{TaskID: a2a.TaskID(long), Err: io.EOF},
		&client.InvalidResponseError{Why: long}, &client.CardError{URL: long, Err: io.EOF, Root: &client.Card{AgentCard: a2a.AgentCard{Name: long}, URL: long}},
		&client.PeerError{Method: "GetTask", Err: &a2a.Error{Code: 1, Message: long, Reason: "x"}},
		&client.InterfaceError{Rejected: []client.Rejected{{Interface: a2a.AgentInterface{URL: long}}}},
	} {
		if text := err.Error(); len(text) > 1300 || strings.Contains(text, "\ufffd") {
			t.Errorf("%T: the text has %d bytes", err, len(text))
		}
	}
	if !errors.Is(&client.LostTaskError{Err: a2a.ErrTaskNotFound}, a2a.ErrTaskNotFound) || !errors.Is(&client.CredentialsError{Err: io.EOF}, io.EOF) {
		t.Error("a cause is lost")
	}
}
