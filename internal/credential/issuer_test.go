package credential_test

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/registry"
)

const clientID = "legation at partner" // needs escaping in Basic

type object = map[string]any

// issuer is an authorization server of the test's own: client credentials, which
// mockoidc does not grant, and metadata that may be wrong in ways it never is.
type issuer struct {
	server *httptest.Server
	now    func() time.Time

	mu       sync.Mutex
	client   string // its secret
	life     time.Duration
	metadata func(path string) (status int, body any)
	answer   func(w http.ResponseWriter, r *http.Request) bool // instead of a token
	asked    []*http.Request
	given    map[string]*given
}

// given is a token, and what the agent would learn of it.
type given struct {
	audience string
	scope    string
	expires  time.Time
	revoked  bool
}

func newIssuer(w *world) *issuer {
	i := &issuer{now: w.clock.now, life: 10 * time.Minute, given: map[string]*given{}}
	i.server = w.serve(i)
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_ = r.ParseForm()
	i.asked = append(i.asked, r)
	if r.URL.Path != "/token" {
		status, body := http.StatusNotFound, any("nothing")
		if i.metadata != nil {
			status, body = i.metadata(r.URL.Path)
		}
		write(w, status, body)
		return
	}
	if i.answer != nil && i.answer(w, r) {
		return
	}
	id, secret, basic := r.BasicAuth()
	if basic {
		id, _ = url.QueryUnescape(id) // RFC 6749, section 2.3.1
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	switch {
	case r.Method != http.MethodPost || r.PostForm.Get("grant_type") != "client_credentials":
		write(w, http.StatusBadRequest, object{"error": "unsupported_grant_type"})
		return
	case id != clientID || secret != i.client:
		// Servers have been seen to repeat what they were given.
		write(w, http.StatusUnauthorized, object{"error": "invalid_client", "error_description": "not " + secret})
		return
	}
	text := "tok_" + rand.Text() + "-._~+/=="
	i.given[text] = &given{audience: r.PostForm.Get("audience"), scope: r.PostForm.Get("scope"), expires: i.now().Add(i.life)}
	answer := object{"access_token": text, "token_type": "bearer"}
	if i.life > 0 {
		answer["expires_in"] = int(i.life.Seconds())
	}
	write(w, http.StatusOK, answer)
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, body)
}

// set changes the server.
func (i *issuer) set(change func(*issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(i)
}

// seen are the paths asked for, since the last call.
func (i *issuer) seen() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var paths []string
	for _, r := range i.asked {
		paths = append(paths, r.URL.Path)
	}
	i.asked = nil
	return paths
}

func (i *issuer) tokens() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	var all []string
	for text := range i.given {
		all = append(all, text)
	}
	return all
}

// admits is how an agent checks tokens of this server.
func (i *issuer) admits(audience string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		text, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		i.mu.Lock()
		defer i.mu.Unlock()
		token, known := i.given[text]
		return bearer && known && token.audience == audience && !token.revoked && i.now().Before(token.expires)
	}
}

// revoke withdraws every token.
func (i *issuer) revoke() {
	i.set(func(i *issuer) {
		for _, token := range i.given {
			token.revoked = true
		}
	})
}

// oauth is a credential of this server.
func (i *issuer) oauth(change ...func(*registry.OAuth2)) registry.Credential {
	spec := &registry.OAuth2{TokenURL: registry.URL(i.server.URL + "/token"), ClientID: clientID, Secret: "client-secret", Audience: "agent"}
	for _, c := range change {
		c(spec)
	}
	return registry.Credential{OAuth2: spec}
}

// byIssuer makes a credential one that is found by metadata.
func (i *issuer) byIssuer(path string) func(*registry.OAuth2) {
	return func(spec *registry.OAuth2) {
		spec.TokenURL, spec.Issuer = "", registry.URL(i.server.URL+path)
	}
}
