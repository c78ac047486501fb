package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/app"
)

// office administers an app over its admin API.
type office struct {
	t     *testing.T
	url   string
	token string
	heard *record // nil, or gets every answer but those that show what is issued
}

// openOffice administers as the first administrator.
func openOffice(t *testing.T, a *app.App, data string) *office {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(data, "admin-token"))
	if err != nil {
		t.Fatal(err)
	}
	return &office{t: t, url: a.Admin(), token: strings.TrimSpace(string(token))}
}

// media is what a body is sent as: documents are YAML, values are bytes.
func media(path string) string {
	switch {
	case strings.HasPrefix(path, "/admin/apply"):
		return "application/yaml"
	case strings.HasPrefix(path, "/admin/secrets/"):
		return "application/octet-stream"
	}
	return "application/json"
}

// ask sends a request and returns what is answered, whatever it is.
func (o *office) ask(method, path, body string) (int, string) {
	o.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, o.url+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", media(path))
	}
	if o.token != "" {
		req.Header.Set("Authorization", "Bearer "+o.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if o.heard != nil && !strings.Contains(string(text), `"key":"`) && !strings.Contains(string(text), `"token":"`) {
		fmt.Fprintln(o.heard, resp.Header, string(text))
	}
	return resp.StatusCode, string(text)
}

// do is ask for what must go well.
func (o *office) do(method, path, body string) string {
	o.t.Helper()
	status, text := o.ask(method, path, body)
	if status >= 300 {
		o.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return text
}

// member reads a text of an answer.
func member(t *testing.T, text, name string) string {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	value, _ := members[name].(string)
	if value == "" {
		t.Fatalf("no text %q in %s", name, text)
	}
	return value
}
