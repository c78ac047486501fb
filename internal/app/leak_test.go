package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/vault"
)

// scene is a server whose every word is kept, and what was put into it.
type scene struct {
	*markers
	t       *testing.T
	app     *app.App
	admin   *office
	data    string
	logs    *record
	answers *record // to those who called
	asked   *record // of the model's endpoint: what it was asked, with the key
	strange *record // answers to somebody about what is another's

	reply    string       // of the model
	artifact a2a.Artifact // of the agent in Go
}

// model is an endpoint that repeats in its errors whatever it was sent. What
// the message says decides how it answers.
func (s *scene) model(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Header.Get("Authorization")
	fmt.Fprintln(s.asked, key, string(body))
	fault := fmt.Sprintf(`{"error":{"message":%q,"type":"denied","code":%q}}`, key+" "+string(body), key)
	switch {
	case strings.Contains(string(body), "deny"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, fault)
	case strings.Contains(string(body), "redirect"):
		http.Redirect(w, r, "http://127.0.0.1:1/?key="+key, http.StatusFound)
	case strings.Contains(string(body), "cut"):
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"a piece"}}]}`+"\n\ndata: "+fault+"\n\n")
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", s.reply)
	}
}

// cause is the text of an agent's error, which is for the log and nobody else.
const cause = "cAuSeMaRkErxYz"

// works is an agent in Go that goes wrong as it is told.
func (s *scene) works(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	text := turn.Message.Text()
	switch {
	case strings.Contains(text, "panic"):
		panic("at " + text)
	case strings.Contains(text, "break"):
		none := strings.Fields("")
		return agent.Failed(none[len(text)]), nil
	case strings.Contains(text, "error"):
		return agent.Outcome{}, errors.New(cause)
	case strings.Contains(text, "fail"):
		return agent.Failed("because of " + text), nil
	}
	return agent.Completed(), out.Artifact(ctx, s.artifact, agent.Chunk{Last: true})
}

// call sends a body to an agent and keeps the answer.
func (s *scene) call(path, body string, header ...string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.app.URL()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Fprintln(s.answers, resp.Header)
	text, err := io.ReadAll(io.TeeReader(resp.Body, s.answers))
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", string(text))
}

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
}

// message is a message with a marker everywhere that there is room for one.
func (s *scene) message(word, skill string) string {
	text := s.said("the text of a message") + " " + word
	return fmt.Sprintf(`{"metadata":{"urn:x":%q},"message":{"messageId":%q,"role":"ROLE_USER","metadata":{"urn:legation:skill:v1":{"skillId":%q},"urn:y":%q},"parts":[{"text":%q}]}}`,
		s.said("the metadata of a request"), a2a.NewID(), skill, s.said("the metadata of a message"), text)
}

// parts is a message with every kind of part.
func (s *scene) parts(skill string) string {
	return fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","metadata":{"urn:legation:skill:v1":{"skillId":%q}},"parts":[
		{"data":{"a":%q}},{"raw":"%s","filename":%q,"mediaType":"text/plain"},{"url":"https://files.example/%s","metadata":{"m":%q}}]}}`,
		a2a.NewID(), skill, s.said("data"), forms(s.said("a file"))[3], s.said("the name of a file"), s.said("the url of a file"), s.said("the metadata of a part"))
}

// TestNothingLeaks puts markers for secrets and for content everywhere that
// there is room for them, uses the server and misuses it, and looks for them
// where they must not be: in logs, the audit, what is told to others and about
// the server, and in the files. What programs write to their stderr is theirs
// and excepted.
// REQ-GEN-04
func TestNothingLeaks(t *testing.T) {
	s := &scene{markers: newMarkers(), t: t, logs: &record{}, answers: &record{}, asked: &record{}, strange: &record{}}
	s.reply = s.said("the answer of a model")
	s.artifact = a2a.Artifact{
		Name: s.said("the name of an artifact"), Description: s.said("the description of an artifact"),
		Parts:    []a2a.Part{a2a.TextPart(s.said("the text of an artifact"))},
		Metadata: a2a.Struct(`{"urn:x":"` + s.said("the metadata of an artifact") + `"}`),
	}
	endpoint := httptest.NewServer(http.HandlerFunc(s.model))
	defer endpoint.Close()
	cfg := settings(t, "same=echo:", "model=openai:some-model")
	cfg.DefaultSkills = []string{"same"}
	cfg.OpenAI.BaseURL, cfg.OpenAI.Key = endpoint.URL+"/v1", s.secret("the key of a model in the environment")
	s.data = cfg.Data
	a, stop := serve(t, cfg, app.Options{
		Logger: slog.New(slog.NewTextHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Extra: []app.Published{{
			Agent: "own", Skill: a2a.AgentSkill{ID: "works", Name: "works", Description: "goes wrong as it is told", Tags: []string{"test"}, InputModes: []string{"*/*"}},
			Answer: agent.Func(s.works),
		}},
	})
	s.app, s.admin = a, openOffice(t, a, cfg.Data)
	s.admin.heard = &record{}
	s.isSecret("the token of the first administrator", s.admin.token)
	keyFile, err := os.ReadFile(filepath.Join(cfg.Data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.isSecret("the master key", strings.TrimSpace(lastLines(t, keyFile, 1, 1)))

	s.useLocally()
	partner, rival := s.register(endpoint.URL)
	task := s.useRemotely(partner)
	s.misuse(partner, rival, task)
	s.misadminister()
	s.checkAgents()
	s.look()

	keys, err := vault.ReadKeys(filepath.Join(cfg.Data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	s.files(t, "running", cfg.Data)
	stop()
	s.files(t, "stopped", cfg.Data)
	seen := s.columns(t, cfg.Data, keys.IDs())
	for marker, what := range s.content {
		if !seen[marker] && what != "what was refused" {
			t.Errorf("%s is nowhere in the store, so this looks for nothing", what)
		}
	}
	log := s.logs.Bytes()
	none(t, "the log", log, s.secrets)
	none(t, "the log", log, s.content)
	for _, word := range []string{cause, "panic", "model call failed", "a caller was refused", "administration", "level=DEBUG"} {
		if !strings.Contains(string(log), word) {
			t.Errorf("the log has no %q, so this looks at nothing", word)
		}
	}
	none(t, "an answer to a caller", s.answers.Bytes(), s.secrets)
	none(t, "an answer to a caller", s.answers.Bytes(), map[string]string{cause: "the text of an agent's error"})
	none(t, "an answer about what is another's", s.strange.Bytes(), s.content)
	none(t, "the admin API", s.admin.heard.Bytes(), s.secrets)
	none(t, "the admin API", s.admin.heard.Bytes(), s.content)
}
