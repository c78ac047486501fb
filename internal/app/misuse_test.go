package app_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/legation/legation/a2a"
)

// useLocally is what somebody on this machine does while nobody is registered.
func (s *scene) useLocally() {
	s.t.Helper()
	for _, word := range []string{"hello", "panic", "break", "error", "fail"} {
		s.expect("200", s.call("/agents/own", rpc("SendMessage", s.message(word, "works"))))
	}
	s.expect("COMPLETED", s.call("/", rpc("SendMessage", s.parts("same"))))
	s.expect("COMPLETED", s.call("/", rpc("SendStreamingMessage", s.message("hello", "same"))))
	s.expect("COMPLETED", s.call("/", rpc("SendMessage", s.message("hello", "model"))))
	for _, word := range []string{"deny", "redirect", "cut"} {
		s.expect("FAILED", s.call("/", rpc("SendMessage", s.message(word, "model"))))
	}
	s.askedWith("the key of a model in the environment")
}

func (s *scene) expect(want, got string) {
	s.t.Helper()
	if !strings.Contains(got, want) {
		s.t.Fatalf("answered with %.600s, want %s in it", got, want)
	}
}

// register has a model with a key and a prompt, and two remote clients that may
// use it. It returns their keys.
func (s *scene) register(endpoint string) (partner, rival string) {
	s.t.Helper()
	host := strings.TrimPrefix(endpoint, "http://")
	s.admin.do(http.MethodPost, "/admin/apply", fmt.Sprintf(`
{kind: Secret, name: model-key, spec: {description: a key}}
---
{kind: Secret, name: oauth, spec: {description: a secret of a client}}
---
{kind: Provider, name: desk, spec: {type: openai, baseURL: %q, secret: model-key, exceptions: [%q]}}
---
{kind: Configuration, name: desk, spec: {provider: desk, model: m, systemPrompt: %q}}
---
{kind: Agent, name: desk, spec: {card: {description: d}, skills: [{id: think, configuration: desk, description: d}]}}
---
{kind: RemoteClient, name: partner, spec: {enabled: true, skills: [desk/think, default/same]}}
---
{kind: RemoteClient, name: rival, spec: {enabled: true, skills: [desk/think]}}
`, endpoint+"/v1", host, "Be brief."))
	s.admin.do(http.MethodPut, "/admin/secrets/model-key", s.secret("the key of a model before"))
	s.admin.do(http.MethodPut, "/admin/secrets/model-key", s.secret("the key of a model in the vault"))
	s.admin.do(http.MethodPut, "/admin/secrets/oauth", s.secret("the secret of a client"))
	s.admin.do(http.MethodPut, "/admin/secrets/gone", s.secret("a secret that was deleted"))
	s.admin.do(http.MethodDelete, "/admin/secrets/gone", "")
	issue := func(name string) string {
		return s.isSecret("the key of "+name, member(s.t, s.admin.do(http.MethodPost, "/admin/clients/"+name+"/keys", ""), "key"))
	}
	return issue("partner"), issue("rival")
}

// useRemotely is what a remote client does. It returns a task.
func (s *scene) useRemotely(key string) string {
	s.t.Helper()
	bearer := []string{"Authorization", "Bearer " + key}
	done := s.call("/agents/desk", rpc("SendMessage", s.message("hello", "think")), bearer...)
	s.expect("COMPLETED", done)
	for _, word := range []string{"deny", "redirect", "cut"} {
		s.expect("FAILED", s.call("/agents/desk", rpc("SendStreamingMessage", s.message(word, "think")), bearer...))
	}
	s.expect("COMPLETED", s.call("/", rpc("SendMessage", s.parts("same")), "X-Api-Key", key))
	s.askedWith("the key of a model in the vault")
	_, rest, _ := strings.Cut(done, `"task":{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// askedWith checks that one that repeats what it is shown was shown a secret.
func (s *scene) askedWith(what string) {
	s.t.Helper()
	for marker, of := range s.secrets {
		if of == what && strings.Contains(string(s.asked.Bytes()), marker) {
			return
		}
	}
	s.t.Errorf("nobody was shown %s, so nobody repeats it", what)
}

// misuse is what goes wrong at the agents: bodies that are none, credentials in
// the wrong place or of the wrong kind, and what belongs to somebody else.
func (s *scene) misuse(partner, rival, task string) {
	s.t.Helper()
	bearer := []string{"Authorization", "Bearer " + partner}
	refused := func() string { return s.said("what was refused") }
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"text":"` + refused(),
		`{"` + refused() + `":1,"` + refused() + `":2}`,
		rpc("SendMessage", `{"message":{"messageId":"m","role":"`+refused()+`","parts":[{"text":"x"}]}}`),
		rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":7,"x":"`+refused()+`"}]}}`),
		rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"!`+refused()+`"}]}}`),
		rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","taskId":"`+task+`","parts":[{"text":"`+refused()+`"}]}}`),
		rpc("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","metadata":{"urn:legation:skill:v1":{"skillId":"`+refused()+`"}},"parts":[{"text":"x"}]}}`),
		rpc("ListTasks", `{"pageToken":"`+refused()+`"}`),
		rpc("GetTask", `{"id":"`+strings.Repeat(refused(), 100)+`"}`),
	} {
		s.call("/agents/desk", body, bearer...)
	}
	s.call("/agents/desk", rpc("GetTask", `{"id":"x"}`), append(bearer, "A2A-Version", refused())...)
	s.call("/agents/desk", rpc("GetTask", `{"id":"x"}`), append(bearer, "A2A-Extensions", refused())...)
	s.call("/agents/desk", rpc("GetTask", `{"id":"x"}`), append(bearer, "Content-Type", refused())...)
	s.call("/agents/desk?access_token="+s.secret("a token in a query"), rpc("GetTask", `{"id":"x"}`))
	jwt := func(claims string) string {
		part := base64.RawURLEncoding.EncodeToString
		return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(claims)) + "." + s.secret("the signature of a token")
	}
	for _, headers := range [][]string{
		{"Authorization", "Bearer " + s.isSecret("a token", jwt(`{"iss":"https://issuer.example","sub":"x"}`))},
		{"Authorization", "Bearer " + s.secret("what is no token")},
		{"Authorization", "Basic " + s.secret("a password")},
		{"Authorization", s.secret("an authorization without a scheme")},
		{"X-Api-Key", s.secret("what is no key")},
		{"X-Api-Key", s.isSecret("a key cut off", partner[:len(partner)-4])},
		{"X-Api-Key", partner, "Authorization", "Bearer " + rival},
		{"Cookie", "session=" + s.secret("a cookie")},
	} {
		s.expect("401", s.call("/agents/desk", rpc("SendMessage", s.refusedMessage()), headers...))
	}

	for _, method := range a2a.Methods() {
		params := `{"id":"` + task + `","taskId":"` + task + `"}`
		if strings.HasPrefix(method, "Send") {
			params = `{"message":{"messageId":"r","role":"ROLE_USER","taskId":"` + task + `","parts":[{"text":"x"}]}}`
		}
		io.WriteString(s.strange, s.call("/agents/desk", rpc(method, params), "Authorization", "Bearer "+rival))
	}
	io.WriteString(s.strange, s.call("/agents/desk", rpc("SendMessage", `{"message":{"messageId":"f","role":"ROLE_USER","referenceTaskIds":["`+task+`"],"parts":[{"text":"deny"}]}}`), "Authorization", "Bearer "+rival))
	// REQ-SEC-13: one who may use the skills of an agent may not use those of another.
	s.expect("403", s.call("/", rpc("SendMessage", s.refusedMessage()), "Authorization", "Bearer "+rival))
}

func (s *scene) refusedMessage() string {
	return `{"message":{"messageId":"n","role":"ROLE_USER","parts":[{"text":"` + s.said("what was refused") + `"}]}}`
}

// misadminister is what goes wrong at the admin API: documents with secrets in
// the wrong place, and people who are none.
func (s *scene) misadminister() {
	s.t.Helper()
	for _, document := range []string{
		`{kind: Secret, name: s, spec: {description: d, value: ` + s.secret("a value in a document") + `}}`,
		`{kind: Secret, name: s, spec: ` + s.secret("a value for a spec") + `}`,
		`{kind: Provider, name: p, spec: {type: openai, baseURL: "https://user:` + s.secret("a password in a URL") + `@models.example/v1"}}`,
		`{kind: Provider, name: p, spec: {type: openai, baseURL: "https://models.example/v1", secret: ` + s.secret("a key in place of its name") + `}}`,
		`{kind: RemoteClient, name: c, spec: {credentials: {apiKeys: [{id: k, sha256: ` + s.secret("a key in place of its digest") + `}]}}}`,
		`{kind: RemoteClient, name: c, spec: {credentials: {apiKeys: [` + s.secret("a key in place of a form") + `]}}}`,
		`{kind: RemoteAgent, name: r, spec: {credential: {bearer: ` + s.secret("a token in place of a form") + `}}}`,
		"kind: Secret\nname: [" + s.secret("what is no YAML"),
	} {
		status, text := s.admin.ask(http.MethodPost, "/admin/apply", document)
		if status < 400 {
			s.t.Errorf("%s is taken: %s", document, text)
		}
	}
	s.admin.ask(http.MethodPut, "/admin/people/ann", `{"role":"viewer","token":"`+s.secret("a token of one's own choice")+`"}`)
	s.admin.ask(http.MethodPut, "/admin/people/ann", `{"role":"`+s.secret("a role")+`"}`)
	s.admin.ask(http.MethodPut, "/admin/secrets/-", s.secret("a value under a bad name"))
	s.admin.ask(http.MethodPut, "/admin/secrets/large", strings.Repeat(s.secret("a value that is too large"), 5000))
	s.admin.ask(http.MethodGet, "/admin/tasks?agent="+s.secret("a parameter")+"&limit="+s.secret("a number"), "")

	ann := member(s.t, s.admin.do(http.MethodPut, "/admin/people/ann", `{"role":"viewer"}`), "token")
	reader := *s.admin
	reader.token = s.isSecret("the token of a person", ann)
	if status, text := reader.ask(http.MethodPut, "/admin/secrets/x", s.secret("a value of somebody who may not")); status != http.StatusForbidden {
		s.t.Errorf("a viewer puts a secret: %d %s", status, text)
	}
	for _, token := range []string{ann[:len(ann)-3], s.secret("what is nobody's token"), s.admin.token + "x"} {
		stranger := *s.admin
		stranger.token = s.isSecret("a token that is refused", token)
		if status, text := stranger.ask(http.MethodGet, "/admin/status", ""); status != http.StatusUnauthorized {
			s.t.Errorf("nobody's token: %d %s", status, text)
		}
	}
}

// look asks for everything that can be read of the server, which is kept.
func (s *scene) look() {
	s.t.Helper()
	for _, path := range []string{
		"/admin/status", "/admin/resources?documents=true", "/admin/export", "/admin/secrets", "/admin/secrets/model-key/versions", "/admin/secrets/model-key/uses",
		"/admin/clients/partner/keys", "/admin/tasks?limit=1000", "/admin/audit?limit=1000", "/admin/audit/evidence", "/admin/people", "/openapi.json",
	} {
		s.admin.do(http.MethodGet, path, "")
	}
	s.admin.do(http.MethodPost, "/admin/secrets/rotate", "")
	for _, path := range []string{"/healthz", "/readyz", "/.well-known/agent-card.json", "/agents/desk/.well-known/agent-card.json"} {
		resp, err := http.Get(s.app.URL() + path)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintln(s.strange, resp.Header)
		_, err = io.Copy(s.strange, resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			s.t.Errorf("%s: %d %v", path, resp.StatusCode, err)
		}
	}
	log := string(s.admin.heard.Bytes())
	for _, word := range []string{`"operation":"authenticate"`, `"outcome":"refused"`, "credential_unknown", "model call", "kind: RemoteClient"} {
		if !strings.Contains(log, word) {
			s.t.Errorf("nothing that was read has %s, so this looks at nothing", word)
		}
	}
}
