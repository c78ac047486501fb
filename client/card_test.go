package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

const wellKnown = "/.well-known/agent-card.json"

func served(header ...string) testkit.Answer {
	return testkit.HTTP(200, "application/json", testkit.CardJSON(testkit.Card("$URL/a2a")), header...)
}

// REQ-CARD-03: where a card is looked for.
func TestReadCardTries(t *testing.T) {
	at := func(paths ...string) map[string]testkit.Answer {
		routes := map[string]testkit.Answer{}
		for _, path := range paths {
			routes["GET "+path] = served()
		}
		return routes
	}
	for _, tt := range []struct {
		name, path string
		routes     map[string]testkit.Answer
		want       []string // requests
		found      bool
	}{
		{"domain", "", at(wellKnown), []string{"GET " + wellKnown}, true},
		{"domain with a slash", "/", at(wellKnown), []string{"GET " + wellKnown}, true},
		{"path", "/agents/a", at("/agents/a" + wellKnown), []string{"GET /agents/a" + wellKnown}, true},
		{"path with slashes", "/agents/a//", at("/agents/a" + wellKnown), []string{"GET /agents/a" + wellKnown}, true},
		{"path with a fragment", "/agents/a#y", at("/agents/a" + wellKnown), []string{"GET /agents/a" + wellKnown}, true},
		{"escaped path", "/a%2Fb/", at("/a%2Fb" + wellKnown), []string{"GET /a%2Fb" + wellKnown}, true},
		{"card itself", "/cards/one.json?v=2", at("/cards/one.json?v=2"), []string{"GET /cards/one.json?v=2"}, true},
		{"another agent at the root", "/a2a", at(wellKnown), []string{"GET /a2a" + wellKnown, "GET " + wellKnown}, false},
		{"card itself is missing", "/cards/one.json", at(wellKnown), []string{"GET /cards/one.json", "GET " + wellKnown}, false},
		{"the root's card is missing", wellKnown, nil, []string{"GET " + wellKnown}, false},
		{"nothing", "/a2a", nil, []string{"GET /a2a" + wellKnown, "GET " + wellKnown}, false},
		{"nothing at the root", "", nil, []string{"GET " + wellKnown}, false},
		{"forbidden is not missing", "/a2a", map[string]testkit.Answer{"GET /a2a" + wellKnown: testkit.Page(403), "GET " + wellKnown: served()},
			[]string{"GET /a2a" + wellKnown}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.Routes(tt.routes))
			card, err := client.ReadCard(t.Context(), peer.URL+tt.path, client.Config{Policy: peer.Policy()})
			if diff := cmp.Diff(tt.want, peer.Operations()); diff != "" {
				t.Errorf("requests (-want +got)\n%s", diff)
			}
			if tt.found {
				if err != nil || card.AgentCard.Name != "Test agent" || string(card.Raw) != strings.ReplaceAll(testkit.CardJSON(testkit.Card("$URL/a2a")), "$URL", peer.URL) {
					t.Errorf("ReadCard() = %+v, error %v", card, err)
				}
				return
			}
			failed, ok := errors.AsType[*client.CardError](err)
			if want := peer.URL + strings.TrimPrefix(tt.want[0], "GET "); !ok || failed.URL != want || !strings.Contains(err.Error(), want) {
				t.Fatalf("ReadCard() error = %v, want a *CardError about %s", err, want)
			}
		})
	}
}

// A path that has no agent never stands for the agent at the root of the host,
// which is named so that a person sees what there is.
func TestAnotherAgentAtTheRoot(t *testing.T) {
	odd := testkit.Card("$URL/a2a")
	odd.Name = "Evil\x1b[2J \"name\""
	for _, tt := range []struct {
		name string
		root testkit.Answer
		want string
	}{
		{"another", served(), ` (404 Not Found, saying "not found"); the host's root has another agent, "Test agent", at $URL/`},
		{"an odd name", testkit.JSON(testkit.CardJSON(odd)), ` (404 Not Found, saying "not found"); the host's root has another agent, "Evil\x1b[2J \"name\"", at $URL/`},
		{"none", testkit.HTTP(404, "", ""), ` (404 Not Found, saying "not found")`},
		{"a page", testkit.Page(200), ` (404 Not Found, saying "not found")`},
	} {
		peer := testkit.NewPeer(t, testkit.Routes(map[string]testkit.Answer{"GET " + wellKnown: tt.root}))
		_, err := client.Dial(t.Context(), peer.URL+"/agents/tols/", client.Config{
			Policy: peer.Policy(), Headers: http.Header{"X-Key": {"s3cret"}},
			Credentials: func(context.Context, bool) (http.Header, error) {
				return http.Header{"Authorization": {"Bearer s3cret"}}, nil
			},
		})
		if asked := peer.Requests(); len(asked) != 2 || asked[0].Header.Get("X-Key") == "" || asked[1].Header.Get("X-Key")+asked[1].Header.Get("Authorization") != "" {
			t.Errorf("%s: the root was asked with what is meant for the agent", tt.name)
		}
		failed, ok := errors.AsType[*client.CardError](err)
		if !ok || !failed.Missing() || (failed.Root != nil) != strings.Contains(tt.want, "another") {
			t.Fatalf("%s: Dial() error = %v, want a *CardError", tt.name, err)
		}
		want := "no agent card at " + peer.URL + "/agents/tols" + wellKnown + strings.ReplaceAll(tt.want, "$URL", peer.URL)
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%s: text (-want +got)\n%s", tt.name, diff)
		}
	}
}

// Dropping a query would ask for something else than was meant; repeating it
// could tell a secret.
func TestABaseURLHasNoQuery(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Script())
	for _, query := range []string{"?key=s3cret", "?"} {
		_, err := client.ReadCard(t.Context(), peer.URL+"/agents/a"+query, client.Config{Policy: peer.Policy()})
		if err == nil || !strings.Contains(err.Error(), "no query") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ReadCard(%q) error = %v, want a refusal", query, err)
		}
	}
}

// What stands where the card should be is told, if it says so in words.
func TestCardErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		answer testkit.Answer
		want   string
	}{
		{testkit.HTTP(403, "text/plain", "  this server answers\r\nloopback only\x1b[2J\u202e\n"),
			`: the answer is HTTP 403 Forbidden, saying "this server answers loopback only [2J"`},
		{testkit.HTTP(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"wrong host"}}`), `: the answer is HTTP 400 Bad Request, saying "wrong host"`},
		{testkit.HTTP(410, "", ""), ` (410 Gone)`},
		{testkit.HTTP(500, "application/problem+json", `{"title":"s3cret"}`), `: the answer is HTTP 500 Internal Server Error`},
		{testkit.JSON(`{"name":`), `: the agent's answer breaks the protocol: the card can not be read: `},
	} {
		peer := testkit.NewPeer(t, tt.answer)
		_, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy()})
		if err == nil || !strings.HasPrefix(err.Error(), "no agent card at "+peer.URL+wellKnown+tt.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("error = %v\nwant %s", err, tt.want)
		}
	}
}

// REQ-VER-01: the version travels with the card's request too.
func TestReadCardHeaders(t *testing.T) {
	peer := testkit.NewPeer(t, served())
	_, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy(), Headers: http.Header{"X-Api-Key": {"s3cret"}}})
	if err != nil {
		t.Fatal(err)
	}
	header := peer.Requests()[0].Header
	if header.Get("A2A-Version") != "1.0" || header.Get("X-Api-Key") != "s3cret" || header.Get("Accept") != "application/json" {
		t.Errorf("headers = %v", header)
	}
}

func TestReadCardFailures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer testkit.Answer
		is     func(error) bool
	}{
		{"login page", testkit.Page(200), isA[*client.HTTPError]},
		{"no JSON", testkit.JSON(`{"name":`), isA[*client.InvalidResponseError]},
		{"array", testkit.JSON(`[]`), isA[*client.InvalidResponseError]},
		{"redirect", testkit.Redirect(301, "https://other.example"), isA[*guard.RedirectError]},
		{"too large", testkit.JSON(strings.Repeat(" ", 5000)), isA[*guard.TooLargeError]},
		{"cut", testkit.Bytes("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"), func(err error) bool { return err != nil }},
		{"unasked for", testkit.HTTP(304, "", ""), isA[*client.HTTPError]},
	} {
		peer := testkit.NewPeer(t, tt.answer)
		_, err := client.Dial(t.Context(), peer.URL, client.Config{Policy: peer.Policy(), MaxCardBytes: 4000})
		if !isA[*client.CardError](err) || !tt.is(err) {
			t.Errorf("%s: error = %v", tt.name, err)
		}
	}
	for _, raw := range []string{"", "agent.example", "agent.example:8080/x", "ftp://agent.example", "http://", "https://u:s3cret@agent.example", "%"} {
		_, err := client.ReadCard(t.Context(), raw, client.Config{})
		if err == nil || isA[*client.CardError](err) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ReadCard(%q) error = %v, want a refusal before anything is tried", raw, err)
		}
		if _, err := client.ParseCard([]byte(`{}`), raw); err == nil {
			t.Errorf("ParseCard(%q): no error", raw)
		}
	}
	if _, err := client.ReadCard(t.Context(), "http://10.0.0.1", client.Config{}); !guard.NothingSent(err) {
		t.Errorf("plain http to a private address: error = %v, want nothing sent", err)
	}
	if _, err := client.ReadCard(t.Context(), "https://agent.example", client.Config{Timeout: -1}); err == nil {
		t.Error("a negative limit: no error")
	}
	if _, err := client.Dial(t.Context(), "https://agent.example", client.Config{Policy: guard.Policy{AllowHosts: []string{"a b"}}}); err == nil {
		t.Error("a policy that is none: no error")
	}
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestReadCardTakesNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.Hang())
		start := time.Now()
		_, err := client.ReadCard(t.Context(), peer.URL+"/a", client.Config{Policy: peer.Policy(), CardTimeout: 3 * time.Second})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "within 3s") {
			t.Errorf("error = %v, want the limit", err)
		}
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("gave up after %v, want 3s", got)
		}
	})
}

// REQ-CARD-08, REQ-CARD-10.
func TestCardAge(t *testing.T) {
	read := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		header []string
		want   time.Duration
	}{
		{nil, 5 * time.Minute},
		{[]string{"Cache-Control: public, max-age=60"}, time.Minute},
		{[]string{"Cache-Control: public", `cache-control: MAX-AGE="60"`}, time.Minute},
		{[]string{"Cache-Control: max-age=60", "Age: 45"}, 15 * time.Second},
		{[]string{"Cache-Control: max-age=60", "Age: 90"}, 0},
		{[]string{"Cache-Control: max-age=99999999"}, 24 * time.Hour},
		{[]string{"Cache-Control: max-age=soon"}, 0},
		{[]string{"Cache-Control: max-age=60, no-cache"}, 0},
		{[]string{"Cache-Control: no-store"}, 0},
	} {
		peer := testkit.NewPeer(t, served(tt.header...))
		card, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy(), Now: func() time.Time { return read }})
		if err != nil {
			t.Fatal(err)
		}
		if card.MaxAge != tt.want || !card.FetchedAt.Equal(read) {
			t.Errorf("%q: MaxAge = %v, want %v", tt.header, card.MaxAge, tt.want)
		}
		if card.Fresh(read.Add(tt.want)) || tt.want > 0 && !card.Fresh(read.Add(tt.want-1)) {
			t.Errorf("%q: Fresh() does not end after %v", tt.header, tt.want)
		}
	}
}

// REQ-CARD-09.
func TestRevalidate(t *testing.T) {
	changed := testkit.Card("$URL/a2a")
	changed.Version = "2.0.0"
	peer := testkit.NewPeer(t, testkit.Script(
		served(`ETag: "one"`, "Last-Modified: Thu, 01 Jan 2026 10:00:00 GMT", "Cache-Control: max-age=60"),
		testkit.HTTP(304, "", "", `ETag: "one"`, "Cache-Control: max-age=120"),
		testkit.HTTP(200, "application/json", testkit.CardJSON(changed), `ETag: "two"`),
		testkit.HTTP(500, "", ""),
	))
	now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	first, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	same, differs, err := first.Revalidate(t.Context())
	if err != nil || differs || string(same.Raw) != string(first.Raw) || same.MaxAge != 2*time.Minute || !same.FetchedAt.Equal(now) {
		t.Errorf("Revalidate() = %+v, %v, %v, want the same card, fresh again", same, differs, err)
	}
	if first.FetchedAt.Equal(now) {
		t.Error("Revalidate() changed the card it was called on")
	}
	if _, err := client.New(same, client.Config{Policy: peer.Policy()}); err != nil {
		t.Errorf("New() with a revalidated card: %v", err)
	}
	other, differs, err := same.Revalidate(t.Context())
	if err != nil || !differs || other.AgentCard.Version != "2.0.0" || other.ETag != `"two"` {
		t.Errorf("Revalidate() = %+v, %v, %v, want the new card", other, differs, err)
	}
	if _, err := client.New(other, client.Config{Policy: peer.Policy()}); err != nil {
		t.Errorf("New() with the new card: %v", err)
	}
	if _, _, err := other.Revalidate(t.Context()); !isA[*client.HTTPError](err) {
		t.Errorf("Revalidate() error = %v, want an *HTTPError", err)
	}
	for i, r := range peer.Requests()[1:3] {
		if got := r.Header.Get("If-None-Match"); got != `"one"` {
			t.Errorf("request %d: If-None-Match = %q", i+2, got)
		}
		if got := r.Header.Get("If-Modified-Since"); got != "Thu, 01 Jan 2026 10:00:00 GMT" {
			t.Errorf("request %d: If-Modified-Since = %q", i+2, got)
		}
	}
}

// A peer that was not asked for a change can not say that there is none.
func TestUnchangedWithoutACondition(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Script(served(), testkit.HTTP(304, "", "", `ETag: "other"`)))
	card, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy()})
	if err != nil || card.ETag != "" || card.LastModified != "" {
		t.Fatalf("ReadCard() = %+v, %v, want a card without validators", card, err)
	}
	if _, _, err := card.Revalidate(t.Context()); !isA[*client.HTTPError](err) {
		t.Errorf("Revalidate() error = %v, want an *HTTPError", err)
	}
}

// A card that changes can not move the route.
func TestRevalidateKeepsTheRoute(t *testing.T) {
	moved := testkit.HTTP(200, "application/json", testkit.CardJSON(testkit.Card("https://evil.example/a2a")))
	peer := testkit.NewPeer(t, testkit.Script(served(), moved))
	card, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy()})
	if err != nil {
		t.Fatal(err)
	}
	card, changed, err := card.Revalidate(t.Context())
	if err != nil || !changed {
		t.Fatalf("Revalidate() = %v, %v", changed, err)
	}
	if _, err := client.New(card, client.Config{}); !isA[*client.InterfaceError](err) {
		t.Errorf("New() error = %v, want an *InterfaceError", err)
	}
}

func TestCardBehindCredentials(t *testing.T) {
	peer := testkit.NewPeer(t, testkit.Script(testkit.HTTP(401, "", ""), served()))
	renewed := false
	_, err := client.ReadCard(t.Context(), peer.URL, client.Config{Policy: peer.Policy(), Credentials: func(_ context.Context, renew bool) (http.Header, error) {
		renewed = renew
		return nil, nil
	}})
	if err != nil || !renewed {
		t.Errorf("ReadCard() error = %v, renewed %v", err, renewed)
	}
}

// REQ-CARD-33, REQ-CARD-34: what can not be read is never taken for "no requirement".
// PVP-11, PVP-12: in the shapes of the prose.
func TestCardsThatCanNotBeTrusted(t *testing.T) {
	sound := testkit.CardJSON(testkit.Card("https://agent.example/a2a"))
	with := func(member string) string { return "{" + member + "," + sound[1:] }
	for name, tt := range map[string]struct {
		card   string
		refuse bool
	}{
		"sound":                {sound, false},
		"old member":           {with(`"security":[{"oidc":[]}]`), true},
		"old shape":            {with(`"securityRequirements":[{"google":["openid"]}]`), true},
		"an object":            {with(`"securityRequirements":{"schemes":{"oidc":{}}}`), true},
		"a null requirement":   {with(`"securityRequirements":[null]`), true},
		"scopes not listed":    {with(`"securityRequirements":[{"schemes":{"oidc":["openid"]}}]`), true},
		"well formed":          {with(`"securityRequirements":[{"schemes":{"oidc":{"list":["openid"]}}}]`), false},
		"unknown scheme":       {with(`"securitySchemes":{"x":{"fooSecurityScheme":{}}}`), false},
		"two schemes in one":   {with(`"securitySchemes":{"x":{"mtlsSecurityScheme":{},"httpAuthSecurityScheme":{"scheme":"Bearer"}}}`), true},
		"two flows in one":     {with(`"securitySchemes":{"x":{"oauth2SecurityScheme":{"flows":{"clientCredentials":{"tokenUrl":"https://id.example","scopes":{}},"password":{}}}}}`), true},
		"a key of no name":     {with(`"securitySchemes":{"x":{"apiKeySecurityScheme":{"location":"header","name":5}}}`), true},
		"too much is wrong":    {strings.Replace(sound, `"skills":[`, `"skills":[`+strings.Repeat("{},", 40), 1), true},
		"schemes as a list":    {with(`"securitySchemes":[]`), true},
		"unknown capability":   {strings.Replace(sound, `"capabilities":{`, `"capabilities":{"bidiStreaming":true,`, 1), false},
		"extensions mistyped":  {strings.Replace(sound, `"capabilities":{`, `"capabilities":{"extensions":{},`, 1), true},
		"capabilities missing": {strings.Replace(sound, `"capabilities":{`, `"somethingElse":{`, 1), false},
	} {
		card, err := client.ParseCard([]byte(tt.card), "https://agent.example")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = client.New(card, client.Config{})
		if isA[*client.InvalidResponseError](err) != tt.refuse || !tt.refuse && err != nil {
			t.Errorf("%s: New() error = %v, want a refusal: %v (violations %v)", name, err, tt.refuse, card.Violations)
		}
	}
}
