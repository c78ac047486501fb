package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
)

// hostile is a party that repeats, wherever it can, whatever it is shown.
func (s *scene) hostile() *httptest.Server {
	token := s.secret("a token that an issuer gave")
	var self *httptest.Server
	self = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, password, _ := r.BasicAuth()
		shown := strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-API-Key"), password, string(body)}, " ")
		fmt.Fprintln(s.asked, shown)
		w.Header().Set("Content-Type", "application/json")
		repeat := func(status int, form string) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error_description=%q", shown))
			w.WriteHeader(status)
			quoted, _ := json.Marshal(shown)
			io.WriteString(w, strings.ReplaceAll(form, "SHOWN", string(quoted)))
		}
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/agent-card.json"):
			at, _, _ := strings.Cut(path, "/.well-known")
			io.WriteString(w, `{"name":"hostile","description":"d","version":"1","capabilities":{},"skills":[],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
				"supportedInterfaces":[{"url":"`+self.URL+at+`","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)
		case path == "/token/refuses":
			repeat(http.StatusBadRequest, `{"error":"invalid_client","error_description":SHOWN}`)
		case path == "/token/gives":
			io.WriteString(w, `{"access_token":"`+token+`","token_type":"Bearer","expires_in":3600}`)
		case path == "/denies":
			repeat(http.StatusUnauthorized, `{"error":SHOWN}`)
		case path == "/redirects":
			http.Redirect(w, r, self.URL+"/?shown="+url.QueryEscape(shown), http.StatusTemporaryRedirect)
		default:
			repeat(http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":SHOWN,"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":SHOWN,"domain":"a2a-protocol.org"}]}}`)
		}
	}))
	s.t.Cleanup(self.Close)
	return self
}

// checkAgents registers the hostile party with credentials of every kind that
// is not a certificate, and has it checked.
func (s *scene) checkAgents() {
	s.t.Helper()
	at := s.hostile().URL
	for i, one := range []struct{ path, credential, token string }{
		{"/answers", `{bearer: {secret: SECRET}}`, ""},
		{"/denies", `{bearer: {secret: SECRET}}`, ""},
		{"/redirects", `{apiKey: {secret: SECRET}}`, ""},
		{"/answers", `{oauth2: {clientID: us, secret: SECRET, tokenURL: "` + at + `/token/refuses"}}`, ""},
		{"/answers", `{oauth2: {clientID: us, secret: SECRET, tokenURL: "` + at + `/token/gives"}}`, "a token that an issuer gave"},
	} {
		name := fmt.Sprintf("hostile-%d", i)
		s.admin.do(http.MethodPost, "/admin/apply", fmt.Sprintf(`
{kind: Secret, name: %s, spec: {description: d}}
---
{kind: RemoteAgent, name: %[1]s, spec: {enabled: true, url: %q, credential: %s, pin: {allowUnsigned: true}, send: internal, returns: internal, exceptions: [%q]}}
`, name, at+one.path, strings.Replace(one.credential, "SECRET", name, 1), strings.TrimPrefix(at, "http://")))
		what := "what we prove ourselves with to " + name
		s.admin.do(http.MethodPut, "/admin/secrets/"+name, s.secret(what))
		s.admin.do(http.MethodPost, "/admin/agents/"+name+"/check", "")
		s.askedWith(what)
		if one.token != "" {
			s.askedWith(one.token)
		}
	}
	s.admin.do(http.MethodGet, "/admin/agents", "")
}
