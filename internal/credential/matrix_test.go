package credential_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// cell is one kind of credential in one condition: what somebody who asks for a
// task sees of it.
type cell struct {
	// prepare sets the scene and returns the credential of the document.
	prepare func(*world) registry.Credential

	// between is what happens after a first request that went well. Nil means
	// that there was none.
	between func(*world)

	words   string // in the error; empty: it goes well
	reaches int    // requests that reach the agent
	fetches int    // tokens that are asked for
	opened  int    // uses of the secret that are recorded
	lasting bool   // somebody has to change something
}

const (
	keyText    = "key-9f3c5a1e77b2d4"
	keyNew     = "key-5b8e2c90aa41f6"
	tokenText  = "static.1c7d0e99f2ab"
	tokenNew   = "static.77e0d1c2b3a4"
	secretText = "cs/+&=%-2b9d4f6a81"
	secretNew  = "cs/+&=%-e4c1a7d053"
)

// header is how an agent checks a header.
func header(name, want string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Header.Get(name) == want }
}

func apiKey(value, taken string) func(*world) registry.Credential {
	return func(w *world) registry.Credential {
		w.put("secret", value)
		w.agent.asks(&a2a.APIKeySecurityScheme{Location: "header", Name: "X-Partner-Key"}, header("X-Partner-Key", taken))
		return registry.Credential{APIKey: &registry.HeaderKey{Header: "X-Partner-Key", Secret: "secret"}}
	}
}

func bearer(value, taken string) func(*world) registry.Credential {
	return func(w *world) registry.Credential {
		w.put("secret", value)
		w.agent.asks(&a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}, header("Authorization", "Bearer "+taken))
		return registry.Credential{Bearer: &registry.Bearer{Secret: "secret"}}
	}
}

func oauth2(value string, change ...func(*registry.OAuth2)) func(*world) registry.Credential {
	return func(w *world) registry.Credential {
		w.put("client-secret", value)
		w.issuer.set(func(i *issuer) { i.client = secretText })
		w.agent.asks(&a2a.OAuth2SecurityScheme{Flows: a2a.OAuthFlows{Flow: &a2a.ClientCredentialsOAuthFlow{TokenURL: "https://elsewhere.example"}}}, w.issuer.admits("agent"))
		return w.issuer.oauth(change...)
	}
}

// mtls has a certificate for legation that ends after a time. The agent takes
// what the check says of the name in it.
func mtls(issued func(*world) string, taken string) func(*world) registry.Credential {
	return func(w *world) registry.Credential {
		w.put("secret", issued(w))
		w.agent.asks(&a2a.MutualTlsSecurityScheme{}, func(r *http.Request) bool {
			return len(r.TLS.PeerCertificates) > 0 && r.TLS.PeerCertificates[0].Subject.CommonName == taken
		})
		return registry.Credential{MTLS: &registry.Certificate{Secret: "secret"}}
	}
}

func issued(name string, ends time.Duration) func(*world) string {
	return func(w *world) string { return w.ca.issue(w.T, name, ends) }
}

// without is a document that says there is no credential.
func without(prepare func(*world) registry.Credential) func(*world) registry.Credential {
	return func(w *world) registry.Credential {
		prepare(w)
		return registry.Credential{None: true}
	}
}

func removed(name string) func(*world) { return func(w *world) { w.remove(name) } }

// cases are the conditions, in the order of the matrix.
var cases = []string{"right", "wrong", "expired", "revoked", "rotated", "other audience", "other issuer", "none"}

var cells = map[credential.Kind]map[string]cell{
	credential.APIKey: {
		"right":   {prepare: apiKey(keyText, keyText), reaches: 1, opened: 1},
		"wrong":   {prepare: apiKey(keyText, "another"), words: "401", reaches: 2, opened: 2},
		"expired": {prepare: apiKey(keyText, keyText), between: func(w *world) { w.agent.asks(nil, header("X-Partner-Key", "")) }, words: "401", reaches: 2, opened: 2},
		"revoked": {prepare: apiKey(keyText, keyText), between: removed("secret"), words: "secret secret (spec.credential.apiKey.secret) has no value: set it", lasting: true},
		"rotated": {prepare: apiKey(keyText, keyText), between: func(w *world) {
			w.put("secret", keyNew)
			w.agent.asks(nil, header("X-Partner-Key", keyNew))
		}, reaches: 1, opened: 1},
		"none": {prepare: without(apiKey(keyText, keyText)), words: "the agent's card asks for credentials, and none were given"},
	},
	credential.Bearer: {
		"right":   {prepare: bearer(tokenText+"\r\n", tokenText), reaches: 1, opened: 1},
		"wrong":   {prepare: bearer(tokenText, "another"), words: "401", reaches: 2, opened: 2},
		"expired": {prepare: bearer(tokenText, tokenText), between: func(w *world) { w.agent.asks(nil, header("Authorization", "")) }, words: "401", reaches: 2, opened: 2},
		"revoked": {prepare: bearer(tokenText, tokenText), between: removed("secret"), words: "secret secret (spec.credential.bearer.secret) has no value: set it", lasting: true},
		"rotated": {prepare: bearer(tokenText, tokenText), between: func(w *world) {
			w.put("secret", tokenNew)
			w.agent.asks(nil, header("Authorization", "Bearer "+tokenNew))
		}, reaches: 1, opened: 1},
		"none": {prepare: without(bearer(tokenText, tokenText)), words: "the agent's card asks for credentials, and none were given"},
	},
	credential.OAuth2: {
		"right": {prepare: oauth2(secretText), reaches: 1, fetches: 1, opened: 1},
		"wrong": {prepare: oauth2(secretNew), words: `host "127.0.0.1" gives no token, with HTTP status 401 and "invalid_client": the client id or its secret is wrong`, fetches: 1, opened: 1, lasting: true},
		"expired": {prepare: oauth2(secretText), between: func(w *world) { // earlier than it said
			w.clock.add(time.Minute)
			w.issuer.revoke()
		}, reaches: 2, fetches: 1, opened: 1},
		"revoked": {prepare: oauth2(secretText), between: func(w *world) {
			w.clock.add(time.Minute)
			w.issuer.revoke()
			w.issuer.set(func(i *issuer) {
				i.answer = func(rw http.ResponseWriter, _ *http.Request) bool {
					write(rw, http.StatusBadRequest, object{"error": "unauthorized_client"})
					return true
				}
			})
		}, words: `"unauthorized_client": the client may not use client credentials`, reaches: 1, fetches: 1, opened: 1, lasting: true},
		"rotated": {prepare: oauth2(secretText), between: func(w *world) {
			w.put("client-secret", secretNew)
			w.issuer.set(func(i *issuer) { i.client = secretNew })
			w.keeper.Forget()
		}, reaches: 1, fetches: 1, opened: 1},
		"other audience": {prepare: oauth2(secretText, func(spec *registry.OAuth2) { spec.Audience = "another" }), words: "401", reaches: 2, fetches: 1, opened: 1},
		"other issuer": {prepare: func(w *world) registry.Credential {
			spec := oauth2(secretText)(w)
			w.issuer.byIssuer("")(spec.OAuth2)
			w.issuer.set(func(i *issuer) {
				i.metadata = func(string) (int, any) {
					return http.StatusOK, object{"issuer": "https://other.example", "token_endpoint": i.server.URL + "/token"}
				}
			})
			return spec
		}, words: `speaks for another issuer, which is not letter by letter the one in spec.credential.oauth2.issuer`, lasting: true},
		"none": {prepare: without(oauth2(secretText)), words: "the agent's card asks for credentials, and none were given"},
	},
	credential.MTLS: {
		"right":   {prepare: mtls(issued("legation", time.Hour), "legation"), reaches: 1, opened: 1},
		"wrong":   {prepare: mtls(issued("stranger", time.Hour), "legation"), words: "401", reaches: 2, opened: 2},
		"expired": {prepare: mtls(issued("legation", -time.Hour), "legation"), words: "the client certificate in secret secret (spec.credential.mtls.secret) has ended on ", opened: 1, lasting: true},
		"revoked": {prepare: mtls(issued("legation", time.Hour), "legation"), between: removed("secret"), words: "secret secret (spec.credential.mtls.secret) has no value: set it", lasting: true},
		"rotated": {prepare: mtls(issued("legation", time.Hour), "legation"), between: func(w *world) {
			w.put("secret", w.ca.issue(w.T, "legation-2", time.Hour))
			w.agent.asks(nil, func(r *http.Request) bool { return r.TLS.PeerCertificates[0].Subject.CommonName == "legation-2" })
		}, reaches: 1, opened: 1},
		"other issuer": {prepare: mtls(func(w *world) string { return newAuthority(w.T).issue(w.T, "legation", time.Hour) }, "legation"), words: "tls: ", opened: 1},
		"none":         {prepare: without(mtls(issued("legation", time.Hour), "legation")), words: "the agent's card asks for credentials, and none were given"},
	},
	credential.None: {
		"right": {prepare: func(*world) registry.Credential { return registry.Credential{None: true} }, reaches: 1},
		"wrong": {prepare: func(w *world) registry.Credential {
			w.agent.check = header("Authorization", "anything") // though its card says nothing
			return registry.Credential{None: true}
		}, words: "401", reaches: 2},
	},
}

// senseless are the cells that there are not, and why.
var senseless = map[credential.Kind]map[string]string{
	credential.APIKey: {"other audience": "a key has no audience", "other issuer": "a key has no issuer"},
	credential.Bearer: {"other audience": "who reads the token is the agent alone: to us it is text", "other issuer": "the same"},
	credential.MTLS:   {"other audience": "a client certificate is for no one in particular"},
	credential.None: {
		"expired": "nothing ends", "revoked": "nothing is withdrawn", "rotated": "nothing changes", "other audience": "nothing is for anybody",
		"other issuer": "nobody issued it", "none": "this is what it is",
	},
}

// REQ-SEC-11, REQ-SEC-12: a credential from outside the protocol goes with every
// request, in a header or in TLS, or the request is not made.
func TestMatrix(t *testing.T) {
	for _, kind := range []credential.Kind{credential.APIKey, credential.Bearer, credential.OAuth2, credential.MTLS, credential.None} {
		for _, name := range cases {
			c, there := cells[kind][name]
			if (senseless[kind][name] != "") == there {
				t.Errorf("%s, %s: want a cell, or a reason why there is none", kind, name)
			}
			if there {
				t.Run(string(kind)+"/"+name, func(t *testing.T) { c.run(newWorld(t)) })
			}
		}
	}
}

func (c cell) run(w *world) {
	spec := c.prepare(w)
	remote := w.dial(w.source(spec))
	secret := "secret"
	if spec.OAuth2 != nil {
		secret = "client-secret"
	}
	if c.between != nil {
		if _, err := remote.GetTask(w.Context(), &a2a.GetTaskRequest{ID: "t-1"}); err != nil {
			w.Fatalf("the first request: %v", err)
		}
		w.agent.seen()
		w.issuer.seen()
		c.between(w)
	}
	before := len(w.uses(secret))
	_, err := remote.GetTask(w.Context(), &a2a.GetTaskRequest{ID: "t-1"})
	said := ""
	if err != nil {
		said = err.Error()
	}
	if !strings.Contains(said, c.words) || (said == "") != (c.words == "") {
		w.Errorf("error = %q, want it to say %q", said, c.words)
	}
	if got := len(w.agent.seen()); got != c.reaches {
		w.Errorf("%d requests reached the agent, want %d", got, c.reaches)
	}
	fetches := 0
	for _, path := range w.issuer.seen() {
		if path == "/token" {
			fetches++
		}
	}
	if fetches != c.fetches {
		w.Errorf("%d tokens were asked for, want %d", fetches, c.fetches)
	}
	uses := w.uses(secret)
	if got := len(uses) - before; got != c.opened {
		w.Errorf("%d uses are recorded, want %d", got, c.opened)
	}
	for _, use := range uses {
		want := vault.Use{Who: "alice", Purpose: string(kindIn(spec)), Party: "partner", Host: "127.0.0.1"}
		if spec.MTLS != nil {
			want.Who = "transport"
		}
		if use != want {
			w.Errorf("use %+v, want %+v", use, want)
		}
	}
	failed, ours := asError(err)
	if ours && failed.Lasting() != c.lasting || !ours && c.lasting {
		w.Errorf("error %v lasts: %v, want %v", err, ours && failed.Lasting(), c.lasting)
	}
	if c.words != "" && c.reaches == 0 && spec.MTLS == nil && client.Classify(err, false) == client.Ambiguous {
		w.Errorf("error %v may be of something that was sent", err)
	}
	w.silent(said)
}

func kindIn(spec registry.Credential) credential.Kind {
	kinds := []credential.Kind{credential.APIKey, credential.Bearer, credential.OAuth2, credential.MTLS}
	set := []bool{spec.APIKey != nil, spec.Bearer != nil, spec.OAuth2 != nil, spec.MTLS != nil}
	if at := slices.Index(set, true); at >= 0 {
		return kinds[at]
	}
	return credential.None
}
