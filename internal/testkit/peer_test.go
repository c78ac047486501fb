package testkit_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a JSON-RPC request to a peer and returns what came back.
func post(t *testing.T, peer *testkit.Peer, body string) (status int, header http.Header, text string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client, err := guard.New(peer.Policy())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, peer.URL+"/path?x=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(read), err
}

const call = `{"jsonrpc":"2.0","id":"q","method":"GetTask","params":{"id":"t"}}`

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer testkit.Answer
		status int
		text   string
		broken bool
	}{
		{"result", testkit.Result(`{}`), 200, `{"jsonrpc":"2.0","id":"q","result":{}}`, false},
		{"error", testkit.Fail(-32001, `a "b"`), 200, `{"jsonrpc":"2.0","id":"q","error":{"code":-32001,"message":"a \"b\""}}`, false},
		{"events", testkit.Events(`1`, `2`), 200, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":1}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":2}\n\n", false},
		{"broken events", testkit.BrokenEvents(`1`), 200, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":1}\n\n", true},
		{"event bytes", testkit.EventBytes("a", "", "b"), 200, "ab", false},
		{"page", testkit.Page(403), 403, "<!doctype html><title>Sign in</title>", false},
		{"redirect", testkit.Redirect(302, "$URL/next"), 0, "", true},
		{"cut", testkit.Bytes(), 0, "", true},
		{"cut inside", testkit.Bytes("HTTP/1.1 200 OK\r\n", "Content-Length: 9\r\n\r\n", "half"), 200, "half", true},
		{"reset", func(w *testkit.Wire, r *testkit.Request) { w.Reset() }, 0, "", true},
	} {
		for kind, start := range map[string]func(testing.TB, testkit.Answer) *testkit.Peer{"memory": testkit.NewPeer, "tcp": testkit.ListenPeer} {
			status, _, text, err := post(t, start(t, tt.answer), call)
			if status != tt.status || text != tt.text || (err != nil) != tt.broken {
				t.Errorf("%s, %s: got %d %q, error %v", tt.name, kind, status, text, err)
			}
		}
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Routes(map[string]testkit.Answer{"GetTask": testkit.Result(`{}`)}))
	post(t, peer, call)
	if status, _, _, _ := post(t, peer, "no JSON"); status != http.StatusNotFound {
		t.Errorf("status = %d, want 404 where there is no route", status)
	}
	if diff := cmp.Diff([]string{"GetTask", "POST /path?x=1"}, peer.Operations()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r := peer.Requests()[0]
	if r.ID != `"q"` || r.Params != `{"id":"t"}` || string(r.Body) != call || r.Host != "peer.example" {
		t.Errorf("request = %+v", r)
	}
}

func TestPeersThatDoNotEnd(t *testing.T) {
	for name, answer := range map[string]testkit.Answer{"hang": testkit.Hang(), "open": testkit.OpenEvents(`1`)} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, _, _, err := post(t, testkit.NewPeer(t, answer), call)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
				t.Errorf("%s: error = %v after %v, want the deadline", name, err, time.Since(start))
			}
		})
	}
	_, _, text, err := post(t, testkit.NewPeer(t, testkit.EndlessLine(`1`)), call)
	if _, ok := errors.AsType[*guard.TooLargeError](err); !ok || strings.Count(text, "\n") != 2 {
		t.Errorf("endless line: error = %v", err)
	}
}

// A peer's own test fails for what it did not expect.
func TestWhatFailsATest(t *testing.T) {
	for name, answer := range map[string]testkit.Answer{
		"beyond the script": testkit.Script(),
		"panic":             func(*testkit.Wire, *testkit.Request) { panic("no") },
	} {
		rec := &recorder{TB: t}
		post(t, testkit.NewPeer(rec, answer), call)
		rec.end()
		if !rec.failed {
			t.Errorf("%s: the test did not fail", name)
		}
	}
}

type recorder struct {
	testing.TB
	failed   bool
	cleanups []func()
}

func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }
func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestAPeerThatHasEnded(t *testing.T) {
	rec := &recorder{TB: t}
	peer := testkit.NewPeer(rec, testkit.Result(`{}`))
	rec.end()
	if _, _, _, err := post(t, peer, call); err == nil {
		t.Error("a peer answered after its test")
	}
}

func TestCardIsComplete(t *testing.T) {
	card, violations, err := a2a.Decode[a2a.AgentCard]([]byte(testkit.CardJSON(testkit.Card("https://agent.example"))))
	if err != nil || len(violations) > 0 || card.SupportedInterfaces[0].URL != "https://agent.example" {
		t.Errorf("card = %+v, %v, %v", card, violations, err)
	}
}
