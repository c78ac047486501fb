package credential_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
)

// granted is a world whose issuer grants tokens, and a source of them.
func granted(t *testing.T, change ...func(*registry.OAuth2)) (*world, *credential.Source) {
	w := newWorld(t)
	w.put("client-secret", secretText)
	w.issuer.set(func(i *issuer) { i.client = secretText })
	return w, w.source(w.issuer.oauth(change...))
}

// token asks for headers that must be there, and returns the token in them.
func (w *world) token(source *credential.Source, renew bool) string {
	w.Helper()
	headers, err := source.Headers(w.Context(), "alice", renew)
	if err != nil {
		w.Fatalf("Headers() error = %v", err)
	}
	text, bearer := strings.CutPrefix(headers.Get("Authorization"), "Bearer ")
	if !bearer || text == "" || len(headers) != 1 {
		w.Fatal("want one header with a bearer token")
	}
	return text
}

// refused asks for headers that must not be there, and returns why.
func (w *world) refused(source *credential.Source) *credential.Error {
	w.Helper()
	headers, err := source.Headers(w.Context(), "alice", false)
	failed, ok := asError(err)
	if !ok || headers != nil {
		w.Fatalf("Headers() = %d headers, error %v, want an *Error and none", len(headers), err)
	}
	w.silent(err.Error())
	return failed
}

func TestWhatATokenEndpointIsAsked(t *testing.T) {
	w, source := granted(t, func(spec *registry.OAuth2) { spec.Scopes = []string{"tasks.read", "tasks.write"} })
	text := w.token(source, false)
	w.issuer.set(func(i *issuer) {
		r := i.asked[0]
		want := map[string][]string{"grant_type": {"client_credentials"}, "scope": {"tasks.read tasks.write"}, "audience": {"agent"}}
		if diff := cmp.Diff(want, map[string][]string(r.PostForm)); diff != "" {
			t.Errorf("form (-want +got):\n%s", diff)
		}
		if i.given[text] == nil {
			t.Error("want the token that was given")
		}
	})
}

func TestTokensAreRenewedBeforeTheyEnd(t *testing.T) {
	for _, tt := range []struct {
		life, renewed time.Duration
	}{
		{10 * time.Minute, 9 * time.Minute},
		{100 * time.Second, 80 * time.Second},
		{0, 4 * time.Minute}, // not said: five minutes
		{72 * time.Hour, 24*time.Hour - time.Minute},
	} {
		w, source := granted(t)
		w.issuer.set(func(i *issuer) { i.life = tt.life })
		first := w.token(source, false)
		w.clock.add(tt.renewed - time.Second)
		if w.token(source, false) != first {
			t.Errorf("life %v: renewed before %v", tt.life, tt.renewed)
		}
		w.clock.add(time.Second)
		if w.token(source, false) == first {
			t.Errorf("life %v: not renewed after %v", tt.life, tt.renewed)
		}
	}
}

// A token that is about to end is better than none.
func TestRenewalThatFailsLeavesTheToken(t *testing.T) {
	w, source := granted(t)
	first := w.token(source, false)
	w.issuer.set(func(i *issuer) { i.answer = status(http.StatusServiceUnavailable, "") })
	w.clock.add(9*time.Minute + 30*time.Second)
	for range 3 {
		if w.token(source, false) != first {
			t.Fatal("want the token as long as it is good")
		}
	}
	if got := len(w.issuer.seen()); got != 2 {
		t.Errorf("%d tokens were asked for, want two: a failure is remembered", got)
	}
	w.clock.add(31 * time.Second)
	if failed := w.refused(source); failed.Reason != credential.Unavailable || failed.Lasting() {
		t.Errorf("error %v, want an endpoint that does not answer now", failed)
	}
}

func TestFailuresAreRemembered(t *testing.T) {
	for retryAfter, kept := range map[string]time.Duration{
		"": 5 * time.Second, "1": 5 * time.Second, "30": 30 * time.Second, "86400": time.Minute, "-1": 5 * time.Second, "soon": 5 * time.Second,
	} {
		w, source := granted(t)
		w.issuer.set(func(i *issuer) { i.answer = status(http.StatusTooManyRequests, retryAfter) })
		first := w.refused(source)
		w.clock.add(kept - time.Millisecond)
		if again := w.refused(source); again != first || len(w.uses("client-secret")) != 1 {
			t.Errorf("Retry-After %q: asked again within %v", retryAfter, kept)
		}
		w.issuer.set(func(i *issuer) { i.answer = nil })
		w.clock.add(time.Millisecond)
		w.token(source, false)
	}
}

func TestManyAskForOneToken(t *testing.T) {
	w, source := granted(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	w.issuer.set(func(i *issuer) {
		i.answer = func(http.ResponseWriter, *http.Request) bool {
			close(arrived) // panics if there is a second one
			<-release
			return false
		}
	})
	var all sync.Map
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			headers, err := source.Headers(t.Context(), "alice", false)
			if err != nil {
				t.Errorf("Headers() error = %v", err)
			}
			all.Store(headers.Get("Authorization"), true)
		})
	}
	<-arrived
	close(release)
	running.Wait()
	w.issuer.set(func(i *issuer) {
		i.answer = nil
		if len(i.given) != 1 {
			t.Errorf("%d tokens were given, want one", len(i.given))
		}
	})
	// A second later many are refused at once; the first one renews for all.
	w.clock.add(time.Minute)
	for range 20 {
		running.Go(func() {
			if _, err := source.Headers(t.Context(), "alice", true); err != nil {
				t.Errorf("Headers() error = %v", err)
			}
		})
	}
	running.Wait()
	if got := len(w.issuer.tokens()); got != 2 {
		t.Errorf("%d tokens were given, want two", got)
	}
}

// Whoever gives up fails nobody else.
func TestGivingUpIsOnesOwn(t *testing.T) {
	w, source := granted(t)
	arrived := make(chan struct{})
	w.issuer.set(func(i *issuer) {
		i.answer = func(_ http.ResponseWriter, r *http.Request) bool {
			i.answer = nil
			close(arrived)
			<-r.Context().Done()
			return true
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the caller has left")
	first := make(chan error)
	go func() {
		_, err := source.Headers(ctx, "alice", false)
		first <- err
	}()
	<-arrived
	if _, err := source.Headers(canceled(t), "carol", false); !errors.Is(err, context.Canceled) {
		t.Errorf("error of one who waits = %v, want the context's", err)
	}
	second := make(chan error)
	go func() {
		_, err := source.Headers(t.Context(), "bob", false)
		second <- err
	}()
	cancel(left)
	if err := <-first; !errors.Is(err, left) {
		t.Errorf("error of the first = %v, want the context's", err)
	}
	if err := <-second; err != nil {
		t.Errorf("error of the second = %v", err)
	}
	if uses := w.uses("client-secret"); len(uses) != 2 || uses[0].Who != "bob" {
		t.Errorf("uses %+v, want one for each that asked", uses)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestWhoseTokenItIs(t *testing.T) {
	w, source := granted(t)
	text := w.token(source, false)
	spec := w.issuer.oauth()
	for _, tt := range []struct {
		name       string
		party      string
		generation int64
		change     func(*registry.OAuth2)
		same       bool
	}{
		{"the same", "partner", 1, func(*registry.OAuth2) {}, true},
		{"another generation", "partner", 2, func(*registry.OAuth2) {}, false},
		{"another audience", "partner", 1, func(spec *registry.OAuth2) { spec.Audience = "b" }, false},
		{"another scope", "partner", 1, func(spec *registry.OAuth2) { spec.Scopes = []string{"b"} }, false},
	} {
		other := *spec.OAuth2
		tt.change(&other)
		source, err := w.keeper.For(tt.party, tt.generation, w.agent.server.URL, registry.Credential{OAuth2: &other}, exceptions)
		if err != nil {
			t.Fatal(err)
		}
		if same := w.token(source, false) == text; same != tt.same {
			t.Errorf("%s: the token is shared: %v, want %v", tt.name, same, tt.same)
		}
	}
}

// The life of a token is told in many ways, and none of them is in the way.
func TestLivesOfTokens(t *testing.T) {
	for said, want := range map[string]time.Duration{
		"600": 10 * time.Minute, "600.0": 10 * time.Minute, "6e2": 10 * time.Minute, `"600"`: 10 * time.Minute, `"600.9"`: 10 * time.Minute,
		"1e12": 24 * time.Hour, "99999999999999999999999": 24 * time.Hour, "1e999": 24 * time.Hour,
		"-5": 5 * time.Minute, "0": 5 * time.Minute, "null": 5 * time.Minute, `"soon"`: 5 * time.Minute, "true": 5 * time.Minute, "[]": 5 * time.Minute,
	} {
		w, source := granted(t)
		w.issuer.set(func(i *issuer) {
			i.answer = says(200, "application/json", `{"access_token":"some-token","token_type":"Bearer","expires_in":`+said+`}`)
		})
		ends, err := source.Check(t.Context(), "alice")
		if got := ends.Sub(w.clock.now()); err != nil || got != want {
			t.Errorf("%s: the token ends in %v, %v, want %v", said, got, err, want)
		}
	}
}

// REQ-GEN-04, REQ-GEN-09: whatever a token endpoint makes of the secret in what is
// not even HTTP, nobody is told.
func TestTokenEndpointsThatRepeatTheSecret(t *testing.T) {
	for name, answer := range map[string]string{
		"no HTTP":         secretText + "\r\n\r\n",
		"a status":        "HTTP/1.1 " + secretText + " x\r\n\r\n",
		"a header":        "HTTP/1.1 200 OK\r\n" + secretText + "\r\n\r\n",
		"a length":        "HTTP/1.1 200 OK\r\nContent-Length: " + secretText + "\r\n\r\n",
		"an encoding":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + secretText + "\r\n\r\n",
		"a redirect":      "HTTP/1.1 302 Found\r\nLocation: https://" + secretText + ".evil.example/\r\nContent-Length: 0\r\n\r\n",
		"a redirect back": "HTTP/1.1 302 Found\r\nLocation: /" + secretText + "\r\nContent-Length: 0\r\n\r\n",
	} {
		w, source := granted(t)
		w.issuer.set(func(i *issuer) {
			i.answer = func(rw http.ResponseWriter, _ *http.Request) bool {
				conn, _, err := rw.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return true
				}
				defer conn.Close()
				_, _ = conn.Write([]byte(answer))
				return true
			}
		})
		failed := w.refused(source)
		if failed.Host != "127.0.0.1" {
			t.Errorf("%s: error %q", name, failed)
		}
		told := failed.Error()
		for err := error(failed); err != nil; err = errors.Unwrap(err) {
			told += fmt.Sprintf(" %+v", err)
		}
		if away, ok := errors.AsType[*guard.RedirectError](failed); ok {
			told += away.Host
		}
		w.silent(told)
	}
}

// status answers with an HTTP status and nothing to read.
func status(code int, retryAfter string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(code)
		return true
	}
}

// says answers with a body.
func says(code int, contentType, body string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
		return true
	}
}

func TestWhatATokenEndpointAnswers(t *testing.T) {
	const js = "application/json"
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		reason credential.Reason
		words  string
	}{
		{"no bearer", says(200, js, `{"access_token":"a","token_type":"mac"}`), credential.Foreign, "of a type that is not Bearer"},
		{"no type", says(200, js, `{"access_token":"a"}`), credential.Foreign, "of a type that is not Bearer"},
		{"no token", says(200, js, `{"token_type":"Bearer"}`), credential.Foreign, "did not give the answer of a token endpoint"},
		{"a line break", says(200, js, `{"access_token":"a\r\nX-Evil: 1","token_type":"Bearer"}`), credential.Foreign, "gave a token that has a line break"},
		{"a space", says(200, js, `{"access_token":"a b","token_type":"Bearer"}`), credential.Foreign, "gave a token that has a space"},
		{"too long a token", says(200, js, `{"access_token":"`+strings.Repeat("a", 17<<10)+`","token_type":"Bearer"}`), credential.Foreign, "longer than a header can be"},
		{"too long an answer", says(200, js, `{"access_token":"`+strings.Repeat("a", 70<<10)+`","token_type":"Bearer"}`), credential.Foreign, "did not give the answer of a token endpoint"},
		{"a page", says(200, "text/html", `<html>`), credential.Foreign, "did not give the answer of a token endpoint"},
		{"a page of an error", says(404, "text/html", `<html>`), credential.Refused, "with HTTP status 404 and no error code: this may not be the token endpoint"},
		{"a scope", says(400, js, `{"error":"invalid_scope"}`), credential.Refused, `"invalid_scope": a scope is unknown or not allowed: see spec.credential.oauth2.scopes`},
		{"an error with 200", says(200, js, `{"error":"invalid_target"}`), credential.Refused, `"invalid_target": the audience is unknown`},
		{"a code of its own", says(400, js, `{"error":"no_`+secretText+`"}`), credential.Refused, "with HTTP status 400 and an error code that is not known"},
		{"busy", says(400, js, `{"error":"temporarily_unavailable"}`), credential.Unavailable, "overloaded"},
		{"too many", status(429, ""), credential.Unavailable, "with HTTP status 429"},
		{"broken", status(500, ""), credential.Unavailable, "with HTTP status 500"},
		{"elsewhere", func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusTemporaryRedirect)
			return true
		}, credential.Foreign, `a redirect to another place; redirects are not followed`},
		{"cut", func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }, credential.Unavailable, "can not be asked for a token: the connection was lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, source := granted(t)
			w.issuer.set(func(i *issuer) { i.answer = tt.answer })
			failed := w.refused(source)
			if failed.Reason != tt.reason || !strings.Contains(failed.Error(), tt.words) || failed.Host != "127.0.0.1" {
				t.Errorf("error %q for the reason %s, want %s and %q", failed, failed.Reason, tt.reason, tt.words)
			}
			if strings.Contains(failed.Error(), w.issuer.server.URL) {
				t.Errorf("error %q repeats the URL", failed)
			}
			if logged := w.logs.String(); !strings.Contains(logged, "reason="+string(tt.reason)) {
				t.Errorf("log %q, want the reason", logged)
			}
		})
	}
}

func TestHowLongATokenLives(t *testing.T) {
	for _, tt := range []struct {
		contentType, body string
		want              time.Duration
	}{
		{"application/json", `{"access_token":"a","token_type":"Bearer","expires_in":90}`, 90 * time.Second},
		{"application/json", `{"access_token":"a","token_type":"BEARER","expires_in":"120"}`, 2 * time.Minute},
		{"application/json", `{"access_token":"a","token_type":"Bearer","expires_in":0}`, 5 * time.Minute},
		{"application/json", `{"access_token":"a","token_type":"Bearer","expires_in":-9}`, 5 * time.Minute},
		{"application/json", `{"access_token":"a","token_type":"Bearer","expires_in":99999999999}`, 24 * time.Hour},
		{"application/x-www-form-urlencoded", `access_token=a&token_type=bearer&expires_in=60`, time.Minute},
		{"application/x-www-form-urlencoded", `access_token=a&token_type=bearer&expires_in=NaN`, 5 * time.Minute},
	} {
		w, source := granted(t)
		w.issuer.set(func(i *issuer) { i.answer = says(200, tt.contentType, tt.body) })
		ends, err := source.Check(t.Context(), "root")
		if err != nil || !ends.Equal(w.clock.now().Add(tt.want)) {
			t.Errorf("%s: it ends after %v, error %v, want %v", tt.body, ends.Sub(w.clock.now()), err, tt.want)
		}
	}
}
