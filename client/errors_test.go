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
		{&client.PeerError{Method: "GetTask", Status: 200, Err: a2a.Errorf(-32001, "gone\n")}, `GetTask: the agent answered a2a error -32001 "TASK_NOT_FOUND": "gone\n"`},
		{&client.PeerError{Method: "GetTask", Status: 503, Err: a2a.Errorf(-32603, "busy"), Hint: "try later"}, `GetTask: the agent answered a2a error -32603: "busy" (HTTP 503); try later`},
		{&client.HTTPError{Method: "GetTask", Status: 599}, "GetTask: the answer is HTTP 599"},
		{&client.HTTPError{Method: "agent card", Status: 404, ContentType: "text/html", IsHTML: true}, "agent card: the answer is HTTP 404 Not Found with a web page (text/html)"},
		{&client.InvalidResponseError{Method: "GetTask", Why: "it has neither a result nor an error"}, "GetTask: the agent's answer breaks the protocol: it has neither a result nor an error"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	for _, err := range []error{
		&client.ExtensionError{URIs: []string{long, long, long}}, &client.LostTaskError{TaskID: a2a.TaskID(long), Err: io.EOF},
		&client.InvalidResponseError{Why: long}, &client.CardError{Tried: []string{long}, Errs: []error{io.EOF}},
		&client.InterfaceError{Rejected: []client.Rejected{{Interface: a2a.AgentInterface{URL: long}}}},
	} {
		if text := err.Error(); len(text) > 1000 || strings.Contains(text, "\ufffd") {
			t.Errorf("%T: the text has %d bytes", err, len(text))
		}
	}
	if !errors.Is(&client.LostTaskError{Err: a2a.ErrTaskNotFound}, a2a.ErrTaskNotFound) || !errors.Is(&client.CredentialsError{Err: io.EOF}, io.EOF) {
		t.Error("a cause is lost")
	}
}
