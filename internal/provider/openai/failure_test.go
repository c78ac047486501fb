package openai_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/provider/openai"
)

// network answers requests inside a bubble of virtual time. It notes when each
// of them came.
type network struct {
	start time.Time
	at    []time.Duration
	next  func(try int, r *http.Request) (*http.Response, error)
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	n.at = append(n.at, time.Since(n.start))
	return n.next(len(n.at), r)
}

func response(status int, body io.Reader, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(body)}
}

func ok() *http.Response {
	return response(200, strings.NewReader(events(delta("a"), finish("stop"), done)))
}

// over runs an agent over a network of its own, in virtual time.
func over(t *testing.T, next func(try int, r *http.Request) (*http.Response, error), check func(*testing.T, *network, result)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &network{start: time.Now(), next: next}
		got := run(t, openai.Config{
			BaseURL: "https://example.com/v1", Key: key, Model: "m-1", HTTPClient: &http.Client{Transport: n},
		})
		check(t, n, got)
	})
}

func TestRefusedCalls(t *testing.T) {
	apiError := func(code, kind string) string {
		return fmt.Sprintf(`{"error":{"message":"%s %s","type":%s,"code":%s}}`, key, secret, kind, code)
	}
	tests := map[string]struct {
		status int
		body   string
		reason string
		calls  int
		state  a2a.TaskState
	}{
		"credential":             {401, apiError(`"invalid_api_key"`, `"invalid_request_error"`), "the model endpoint refused our credential; reference ", 1, ""},
		"permission":             {403, "<html>" + key, "the model endpoint refused our credential; reference ", 1, ""},
		"payment":                {402, "", "our quota at the model endpoint is used up; reference ", 1, ""},
		"quota":                  {429, apiError(`"insufficient_quota"`, `"insufficient_quota"`), "our quota at the model endpoint is used up; reference ", 1, ""},
		"rate":                   {429, apiError(`"rate_limit_exceeded"`, `"requests"`), "the model endpoint has no capacity for us at the moment; reference ", 3, ""},
		"overloaded":             {503, "", "the model endpoint has no capacity for us at the moment; reference ", 3, ""},
		"no such model":          {404, apiError(`"model_not_found"`, `"x"`), "the model endpoint does not know the model; reference ", 1, ""},
		"too long":               {400, apiError(`"context_length_exceeded"`, `"invalid_request_error"`), "the conversation is too long for the model; reference ", 1, ""},
		"too large":              {413, "", "the conversation is too long for the model; reference ", 1, ""},
		"filtered":               {400, apiError(`"content_filter"`, `null`), "the content filter of the model endpoint refused the message", 1, a2a.TaskStateRejected},
		"bad request":            {400, apiError(`null`, `"`+key+`"`), "the model endpoint did not accept the request; reference ", 1, ""},
		"an odd code":            {400, apiError(`"a b"`, `"`+strings.Repeat("x", 100)+`"`), "the model endpoint did not accept the request; reference ", 1, ""},
		"internal":               {500, secret, "the model endpoint failed to answer; reference ", 3, ""},
		"gateway":                {502, strings.Repeat("x", 1<<20), "the model endpoint failed to answer; reference ", 3, ""},
		"request timeout":        {408, "", "the model endpoint failed to answer; reference ", 3, ""},
		"not implemented":        {501, "", "the model endpoint failed to answer; reference ", 1, ""},
		"redirect":               {307, "", "the model endpoint did not answer as one; reference ", 1, ""},
		"early error, known":     {200, events(apiError(`429`, `null`)), "the model endpoint has no capacity for us at the moment; reference ", 3, ""},
		"early error, unknown":   {200, events(apiError(`"x"`, `"server_error"`)), "the model endpoint failed to answer; reference ", 3, ""},
		"nothing":                {200, "", "the model endpoint failed to answer; reference ", 3, ""},
		"comments without end":   {200, strings.Repeat(": ping\n\n", 1<<20), "the model endpoint did not answer as one; reference ", 1, ""},
		"a line without end":     {200, "data: " + strings.Repeat("x", 8<<20), "the model endpoint did not answer as one; reference ", 1, ""},
		"an answer to something": {200, "event: x\n\n", "the model endpoint failed to answer; reference ", 3, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := func(int, *http.Request) (*http.Response, error) {
				return response(test.status, strings.NewReader(test.body), "Location", "https://elsewhere.example/"+key), nil
			}
			over(t, next, func(t *testing.T, n *network, got result) {
				if got.err != nil {
					t.Fatal(got.err)
				}
				if want := cmp.Or(test.state, a2a.TaskStateFailed); got.state != want {
					t.Errorf("state = %s, want %s", got.state, want)
				}
				checkReason(t, got, test.reason)
				if len(n.at) != test.calls {
					t.Errorf("%d calls were made, want %d", len(n.at), test.calls)
				}
			})
		})
	}
}

func TestAnswersOfAnotherKind(t *testing.T) {
	for _, kind := range []string{"application/json; charset=utf-8", "text/html"} {
		next := func(int, *http.Request) (*http.Response, error) {
			return response(200, strings.NewReader(`{"choices":[{"message":{"content":"a"}}]}`), "Content-Type", kind), nil
		}
		over(t, next, func(t *testing.T, n *network, got result) {
			checkReason(t, got, "the model endpoint did not answer as one; reference ")
			if !strings.Contains(got.log, "did not answer with a stream") || len(n.at) != 1 {
				t.Errorf("%d calls, log:\n%s", len(n.at), got.log)
			}
		})
	}
}

func TestPausesBetweenTries(t *testing.T) {
	refused := &guard.DialError{Host: "example.com", Phase: guard.PhaseConnect, Err: errors.New("connection refused")}
	busy := func(header ...string) func() (*http.Response, error) {
		return func() (*http.Response, error) { return response(429, strings.NewReader(""), header...), nil }
	}
	tests := map[string]struct {
		first    func() (*http.Response, error)
		min, max time.Duration // of the pause before the second call
	}{
		"no connection":      {func() (*http.Response, error) { return nil, refused }, 500 * time.Millisecond, 1500 * time.Millisecond},
		"busy":               {busy(), 500 * time.Millisecond, 1500 * time.Millisecond},
		"busy, in seconds":   {busy("Retry-After", "20"), 20 * time.Second, 20 * time.Second},
		"busy, as a date":    {busy("Retry-After", "Sat, 01 Jan 2000 00:00:25 GMT"), 25 * time.Second, 25 * time.Second}, // a bubble starts in 2000
		"busy, nonsense":     {busy("Retry-After", "soon"), 500 * time.Millisecond, 1500 * time.Millisecond},
		"a lost connection":  {func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, 500 * time.Millisecond, 1500 * time.Millisecond},
		"an answer unbegun":  {func() (*http.Response, error) { return response(200, strings.NewReader(": ping\n\n")), nil }, 500 * time.Millisecond, 1500 * time.Millisecond},
		"a connection reset": {func() (*http.Response, error) { return nil, &net.OpError{Op: "read", Err: errors.New("reset")} }, 500 * time.Millisecond, 1500 * time.Millisecond},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := func(try int, _ *http.Request) (*http.Response, error) {
				if try == 1 {
					return test.first()
				}
				return ok(), nil
			}
			over(t, next, func(t *testing.T, n *network, got result) {
				if got.state != a2a.TaskStateCompleted || got.text != "a" {
					t.Errorf("%s with %q, %q, %v", got.state, got.text, got.reason, got.err)
				}
				if len(n.at) != 2 || n.at[1] < test.min || n.at[1] > test.max {
					t.Errorf("calls at %v, want the second between %v and %v", n.at, test.min, test.max)
				}
			})
		})
	}
}

func TestPausesGrow(t *testing.T) {
	next := func(int, *http.Request) (*http.Response, error) { return response(500, strings.NewReader("")), nil }
	over(t, next, func(t *testing.T, n *network, got result) {
		if len(n.at) != 3 || n.at[2]-n.at[1] < 1500*time.Millisecond || n.at[2]-n.at[1] > 4500*time.Millisecond {
			t.Errorf("calls at %v, want three, the last 1.5 to 4.5 s after the second", n.at)
		}
	})
}

func TestALongPauseIsNotWaitedFor(t *testing.T) {
	next := func(int, *http.Request) (*http.Response, error) {
		return response(429, strings.NewReader(""), "Retry-After", "3600"), nil
	}
	over(t, next, func(t *testing.T, n *network, got result) {
		checkReason(t, got, "the model endpoint has no capacity for us at the moment; reference ")
		if len(n.at) != 1 || time.Since(n.start) != 0 {
			t.Errorf("%d calls in %v, want one at once", len(n.at), time.Since(n.start))
		}
	})
}

func TestUnreachable(t *testing.T) {
	tests := map[string]struct {
		err   error
		calls int
		log   string
	}{
		"forbidden": {&guard.URLError{Host: "example.com", Why: "only https is spoken"}, 1, "only https is spoken"},
		"redirect":  {&guard.RedirectError{Status: 307, From: "example.com"}, 1, "redirects are not followed"},
		"refused":   {&guard.DialError{Host: "example.com", Phase: guard.PhaseConnect, Err: errors.New("refused")}, 3, "can not be reached"},
		"DNS":       {&net.DNSError{Err: "no such host", Name: "example.com"}, 3, "no such host"},
		"late":      {context.DeadlineExceeded, 1, "context.deadlineExceededError"},
		"late too":  {fmt.Errorf("no answer: %w", context.DeadlineExceeded), 1, "context.deadlineExceededError"},
		"nonsense":  {errors.New("malformed HTTP response " + secret), 3, "*errors.errorString"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			next := func(int, *http.Request) (*http.Response, error) { return nil, test.err }
			over(t, next, func(t *testing.T, n *network, got result) {
				if got.state != a2a.TaskStateFailed || len(n.at) != test.calls {
					t.Errorf("%s after %d calls, want failed after %d", got.state, len(n.at), test.calls)
				}
				if !strings.Contains(got.log, test.log) {
					t.Errorf("the log does not say %q:\n%s", test.log, got.log)
				}
			})
		})
	}
}

func TestAConnectionLostAfterTheEndIsNoFailure(t *testing.T) {
	next := func(int, *http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader(events(delta("a"), finish("stop"))), iotest.ErrReader(io.ErrUnexpectedEOF))
		return response(200, body), nil
	}
	over(t, next, func(t *testing.T, n *network, got result) {
		if got.state != a2a.TaskStateCompleted || got.text != "a" || len(n.at) != 1 {
			t.Errorf("%s with %q, %q after %d calls", got.state, got.text, got.reason, len(n.at))
		}
	})
}

func TestAModelThatDoesNotChat(t *testing.T) {
	e := newEndpoint(t, streams(done))
	cfg := e.config()
	cfg.Model = "text-davinci-003"
	checkReason(t, run(t, cfg), "the model endpoint did not accept the request; reference ")
	if len(e.calls) != 0 {
		t.Errorf("%d calls were made, want none", len(e.calls))
	}
}

// silent answers with some text and is silent from then on.
type silent struct {
	io.Reader
	ctx context.Context
}

func (s silent) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func TestSilence(t *testing.T) {
	tests := map[string]struct {
		next   func(try int, r *http.Request) (*http.Response, error)
		at     time.Duration
		reason string
		text   string
	}{
		"no header": {
			func(_ int, r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
			60 * time.Second, "the model endpoint did not answer in time; reference ", "",
		},
		"a late header and nothing": {
			func(_ int, r *http.Request) (*http.Response, error) {
				time.Sleep(40 * time.Second)
				return response(200, silent{strings.NewReader(""), r.Context()}), nil
			},
			60 * time.Second, "the model endpoint did not answer in time; reference ", "",
		},
		"a comment and nothing": {
			func(_ int, r *http.Request) (*http.Response, error) {
				time.Sleep(40 * time.Second)
				return response(200, silent{strings.NewReader(": wait\n\n"), r.Context()}), nil
			},
			100 * time.Second, "the model endpoint did not answer in time; reference ", "",
		},
		"half an answer": {
			func(_ int, r *http.Request) (*http.Response, error) {
				return response(200, silent{strings.NewReader(events(delta("half"))), r.Context()}), nil
			},
			60 * time.Second, "the model's answer broke off; reference ", "half",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			over(t, test.next, func(t *testing.T, n *network, got result) {
				checkReason(t, got, test.reason)
				if got.text != test.text {
					t.Errorf("text = %q, want %q", got.text, test.text)
				}
				if !strings.Contains(got.log, "silent for too long") {
					t.Errorf("the log does not tell of silence:\n%s", got.log)
				}
				if waited := time.Since(n.start); waited != test.at || len(n.at) != 1 {
					t.Errorf("%d calls in %v, want one in %v", len(n.at), waited, test.at)
				}
			})
		})
	}
}

func TestTheEndOfATurnEndsItsCall(t *testing.T) {
	tests := map[string]func(try int, r *http.Request) (*http.Response, error){
		"while it waits": func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"while it reads": func(_ int, r *http.Request) (*http.Response, error) {
			return response(200, silent{strings.NewReader(events(delta("half"))), r.Context()}), nil
		},
		"while it pauses": func(int, *http.Request) (*http.Response, error) {
			return response(503, strings.NewReader(""), "Retry-After", "30"), nil
		},
	}
	for name, next := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &network{start: time.Now(), next: next}
				a, err := openai.New(openai.Config{BaseURL: "https://example.com/v1", Model: "m", HTTPClient: &http.Client{Transport: n}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				_, err = a.Run(ctx, say(a2a.TextPart("x")), &recorder{})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(n.start) != 10*time.Second {
					t.Errorf("Run() error = %v after %v, want a deadline after 10 s", err, time.Since(n.start))
				}
			})
		})
	}
}

func TestModelErrorsAreTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{next: func(int, *http.Request) (*http.Response, error) {
			return response(401, strings.NewReader(`{"error":{"message":"`+key+`","code":"invalid_api_key"}}`)), nil
		}}
		m, err := openai.NewModel(openai.Config{BaseURL: "https://example.com/v1", Key: key, Model: "m", HTTPClient: &http.Client{Transport: n}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Complete(t.Context(), []openai.Message{{Role: openai.RoleUser, Text: secret}}, 0, func(string) error { return nil })
		failure, ok := errors.AsType[*openai.Error](err)
		if !ok || failure.Kind != openai.KindCredential || failure.Status != 401 || failure.Code != "invalid_api_key" {
			t.Fatalf("Complete() error = %#v", err)
		}
		if got, want := err.Error(), "openai: the model endpoint refused our credential (status 401)"; got != want {
			t.Errorf("error is %q, want %q", got, want)
		}
	})
}

// The guard refuses a loopback address that nobody excepted, and a call that
// was excepted passes it.
func TestThroughTheGuard(t *testing.T) {
	e := newEndpoint(t, streams(delta("a"), finish("stop"), done))
	host := strings.TrimPrefix(e.URL, "http://")
	for _, allowed := range []bool{true, false} {
		policy := guard.Policy{}
		if allowed {
			policy.AllowHosts = []string{host}
		}
		client, err := guard.New(policy)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		cfg := e.config()
		cfg.HTTPClient = client.HTTP()
		got := run(t, cfg)
		if allowed {
			if got.state != a2a.TaskStateCompleted || got.text != "a" {
				t.Errorf("allowed: %s with %q, %q", got.state, got.text, got.reason)
			}
			continue
		}
		checkReason(t, got, "the model endpoint can not be reached; reference ")
		if !strings.Contains(got.log, "guard:") || len(e.calls) != 1 {
			t.Errorf("refused: %d calls, log:\n%s", len(e.calls), got.log)
		}
	}
}
