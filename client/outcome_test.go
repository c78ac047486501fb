package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

// refusing are the statuses that refuse a message whatever comes with them.
var refusing = map[int]bool{400: true, 401: true, 403: true, 404: true, 405: true, 413: true, 415: true}

// Every HTTP status, with and without JSON-RPC in the body, at agents that
// deduplicate and at others.
func TestClassifyByStatus(t *testing.T) {
	for status := 200; status < 600; status++ {
		for _, dedupes := range []bool{false, true} {
			want := client.Ambiguous
			switch {
			case status == 429, status == 503 && dedupes:
				want = client.RetryLater
			case refusing[status], status >= 300 && status < 400:
				want = client.Refused
			}
			internal := &client.PeerError{Status: status, Err: a2a.Errorf(a2a.CodeInternal, "")}
			for _, err := range []error{&client.HTTPError{Status: status}, internal} {
				if got := client.Classify(fmt.Errorf("wrapped: %w", err), dedupes); got != want {
					t.Errorf("Classify(%T %d, %v) = %v, want %v", err, status, dedupes, got, want)
				}
			}
		}
	}
}

// Every code, known or not, in a 200 and in a status that says nothing.
func TestClassifyByCode(t *testing.T) {
	check := func(code a2a.Code, status int) {
		want := client.Ambiguous
		switch {
		case code == -32700, code == -32600, code == -32601, code == -32602, code <= -32001 && code >= -32099:
			want = client.Refused
		}
		for _, dedupes := range []bool{false, true} {
			err := &client.PeerError{Status: status, Err: a2a.Errorf(code, "")}
			if got := client.Classify(err, dedupes); got != want {
				t.Errorf("Classify(code %d, HTTP %d, %v) = %v, want %v", code, status, dedupes, got, want)
			}
		}
	}
	for _, status := range []int{200, 500, 502, 504, 408} {
		for code := a2a.Code(-32800); code <= -31900; code++ {
			check(code, status)
		}
		for _, code := range []a2a.Code{0, 1, -1, 429, -31401, -31403} {
			check(code, status)
		}
	}
}

func TestClassifyTheRest(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want client.Outcome
	}{
		{"nothing wrong", nil, client.Accepted},
		{"redirect", &guard.RedirectError{Status: 308}, client.Refused},
		{"lost connection", io.ErrUnexpectedEOF, client.Ambiguous},
		{"deadline", context.DeadlineExceeded, client.Ambiguous},
		{"canceled", context.Canceled, client.Ambiguous},
		{"too large", &guard.TooLargeError{Limit: 1}, client.Ambiguous},
		{"foreign answer", &client.InvalidResponseError{Status: 200}, client.Ambiguous},
		{"foreign answer with a status", &client.InvalidResponseError{Status: 429}, client.Ambiguous},
		{"no credentials", &client.CredentialsError{Err: io.EOF}, client.Retryable},
		{"unsupported", &client.UnsupportedError{}, client.Refused},
		{"no request", &client.RequestError{}, client.Refused},
		{"extension", &client.ExtensionError{}, client.Refused},
		{"interface", &client.InterfaceError{}, client.Refused},
		{"reason known, code not", &client.PeerError{Status: 200, Err: &a2a.Error{Code: -1, Reason: "TASK_NOT_FOUND"}}, client.Refused},
		{"busy beats the code", &client.PeerError{Status: 429, Err: a2a.Errorf(a2a.CodeInvalidParams, "")}, client.RetryLater},
	} {
		for _, dedupes := range []bool{false, true} {
			if got := client.Classify(tt.err, dedupes); got != tt.want {
				t.Errorf("%s: Classify(%v) = %v, want %v", tt.name, dedupes, got, tt.want)
			}
		}
	}
	for outcome, want := range map[client.Outcome]string{0: "unknown", client.Accepted: "accepted", client.Retryable: "retryable",
		client.RetryLater: "retry later", client.Refused: "refused", client.Ambiguous: "ambiguous", 9: "unknown"} {
		if got := outcome.String(); got != want {
			t.Errorf("Outcome(%d).String() = %q, want %q", int(outcome), got, want)
		}
	}
}

// F34 and what else may happen to a message on its way, for both ways to send
// it. Nothing is ever sent twice.
func TestWhatASendMeans(t *testing.T) {
	const header = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n"
	for _, tt := range []struct {
		name   string
		answer testkit.Answer
		want   client.Outcome
	}{
		{"cut before any byte", testkit.Bytes(), client.Ambiguous},
		{"cut inside the header", testkit.Bytes("HTTP/1.1 200 OK\r\nContent-"), client.Ambiguous},
		{"cut after the header", testkit.Bytes(header), client.Ambiguous},
		{"cut inside the answer", testkit.Bytes(header, `{"jsonrpc":"2.0","id":$ID,"result":{"task":`), client.Ambiguous},
		{"short answer", testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"result":{"ta`), client.Ambiguous},
		{"no HTTP", testkit.Bytes("SSH-2.0-OpenSSH_9.6\r\n"), client.Ambiguous},
		{"empty answer", testkit.JSON(""), client.Ambiguous},
		{"502 page", testkit.Page(502), client.Ambiguous},
		{"504 page", testkit.Page(504), client.Ambiguous},
		{"503 page", testkit.Page(503), client.Ambiguous},
		{"408", testkit.HTTP(408, "", ""), client.Ambiguous},
		{"200 page", testkit.Page(200), client.Ambiguous},
		{"internal error", testkit.Fail(-32603, "oops"), client.Ambiguous},
		{"another id", testkit.JSON(`{"jsonrpc":"2.0","id":"other","result":{"task":` + working + `}}`), client.Ambiguous},
		{"both", testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"result":{"task":` + working + `},"error":{"code":-32602,"message":"x"}}`), client.Ambiguous},
		{"another id's error", testkit.JSON(`{"jsonrpc":"2.0","id":"other","error":{"code":-32602,"message":"x"}}`), client.Ambiguous},
		{"empty result", testkit.Result(`{}`), client.Ambiguous},
		{"no task id", testkit.Result(`{"task":{"status":{"state":"TASK_STATE_WORKING"}}}`), client.Ambiguous},
		{"401 page", testkit.Page(401), client.Refused},
		{"404", testkit.HTTP(404, "text/plain", "no"), client.Refused},
		{"redirect", testkit.Redirect(307, "https://login.example/"), client.Refused},
		{"unreadable request", testkit.JSON(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`), client.Refused},
		{"invalid params", testkit.Fail(-32602, "no"), client.Refused},
		{"error in a 500", testkit.HTTP(500, "application/json", testkit.Failure(-32004, "no")), client.Refused},
		{"429", testkit.HTTP(429, "application/json", testkit.Failure(-32603, "busy"), "Retry-After: 7"), client.RetryLater},
	} {
		for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
			t.Run(method+"/"+tt.name, func(t *testing.T) {
				peer := testkit.ListenPeer(t, tt.answer)
				c := connect(t, peer, client.Config{})
				err := operations[method](t, c)
				if err == nil {
					t.Fatal("there is no error")
				}
				if got := client.Classify(err, false); got != tt.want {
					t.Errorf("Classify(%v) = %v, want %v", err, got, tt.want)
				}
				if sent := peer.Operations(); len(sent) != 1 {
					t.Errorf("the peer was asked %v, want once", sent)
				}
			})
		}
	}
}

// F34: an answer after our own limit.
func TestAnAnswerThatIsLate(t *testing.T) {
	for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
		synctest.Test(t, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.Hang())
			c := connect(t, peer, client.Config{Timeout: 7 * time.Second})
			start := time.Now()
			err := operations[method](t, c)
			if !errors.Is(err, context.DeadlineExceeded) || client.Classify(err, false) != client.Ambiguous {
				t.Errorf("%s: error = %v, want a deadline of ambiguous meaning", method, err)
			}
			if got := time.Since(start); got != 7*time.Second {
				t.Errorf("%s: gave up after %v, want 7s", method, got)
			}
			c.Close()
		})
	}
}

func TestNothingLeftTheMachine(t *testing.T) {
	public := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("192.0.9.1")}, nil
	}
	for _, tt := range []struct {
		name   string
		policy guard.Policy
	}{
		{"name not found", guard.Policy{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }}},
		{"forbidden address", guard.Policy{Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}}},
		{"refused connection", guard.Policy{Resolve: public, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") }}},
		{"no TLS", guard.Policy{Resolve: public, Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			theirs.Close()
			return ours, nil
		}}},
	} {
		for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
			card, err := client.ParseCard([]byte(testkit.CardJSON(testkit.Card("https://agent.example"))), "https://agent.example")
			if err != nil {
				t.Fatal(err)
			}
			c, err := client.New(card, client.Config{Policy: tt.policy})
			if err != nil {
				t.Fatal(err)
			}
			err = operations[method](t, c)
			if got := client.Classify(err, false); got != client.Retryable {
				t.Errorf("%s: Classify(%v) = %v, want retryable", tt.name, err, got)
			}
			c.Close()
		}
	}
}

// F36: what a busy peer asks for, wherever it says so.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	date := now.Add(90 * time.Second).Format(http.TimeFormat)
	info := `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"x","data":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`
	for _, tt := range []struct {
		name   string
		answer testkit.Answer
		want   time.Duration
	}{
		{"seconds", testkit.HTTP(429, "text/plain", "busy", "Retry-After: 12"), 12 * time.Second},
		{"date", testkit.HTTP(503, "text/plain", "busy", "Retry-After: "+date), 90 * time.Second},
		{"past", testkit.HTTP(503, "text/plain", "busy", "Retry-After: Mon, 01 Jan 2001 00:00:00 GMT"), 0},
		{"for ever", testkit.HTTP(503, "text/plain", "busy", "Retry-After: 4000000000"), 24 * time.Hour},
		{"nonsense", testkit.HTTP(503, "text/plain", "busy", "Retry-After: -5"), 0},
		{"in the error", testkit.HTTP(429, "application/json", info), 3 * time.Second},
		{"header and error", testkit.HTTP(429, "application/json", info, "Retry-After: 4"), 4 * time.Second},
		{"silent", testkit.HTTP(429, "application/json", testkit.Failure(-32603, "x")), 0},
		{"no answer", testkit.Bytes(), 0},
	} {
		peer := testkit.NewPeer(t, tt.answer)
		c := connect(t, peer, client.Config{Now: func() time.Time { return now }})
		_, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if got := client.RetryAfter(err); got != tt.want {
			t.Errorf("%s: RetryAfter(%v) = %v, want %v", tt.name, err, got, tt.want)
		}
	}
}
