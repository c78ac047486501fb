package cli_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/legation/legation/store/sqlite"
)

const good = `{"revision":7,"resources":[{"kind":"Provider","name":"local","generation":3,"state":"ready","reasons":[]}]}`

// adminAPI answers what is registered to whoever has the token.
func adminAPI(token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"code":"unauthenticated","message":"the token is nobody's","next":"ask an administrator for another"}}`)
			return
		}
		fmt.Fprint(w, good)
	})
}

func fileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, text)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A token is taken where it is named, and shown nowhere.
func TestAdminToken(t *testing.T) {
	api := httptest.NewServer(adminAPI("lgp_right"))
	defer api.Close()
	tests := []struct {
		name, variable, file string
		status               int
		want                 []string
	}{
		{"variable", "lgp_right", "", 0, []string{"Provider  local  ready"}},
		{"file", "", "lgp_right\n", 0, []string{"Provider  local  ready"}},
		{"the file wins", "lgp_wrong", "lgp_right", 0, []string{"Provider  local  ready"}},
		{"wrong", "lgp_wrong", "", 1, []string{"error: the token is nobody's", "hint: ask an administrator for another"}},
		{"none", "", "", 2, []string{"error: there is no token for the admin API", "--token-file FILE or in LEGATION_ADMIN_TOKEN"}},
		{"two words", "lgp_wrong secret", "", 2, []string{"LEGATION_ADMIN_TOKEN holds no token: one is a single word"}},
		{"two lines", "", "lgp_wrong\nsecret", 2, []string{"holds no token"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LEGATION_ADMIN", api.URL)
			t.Setenv("LEGATION_ADMIN_TOKEN", tt.variable)
			args := []string{"get"}
			if tt.file != "" {
				args = append(args, "--token-file", fileWith(t, tt.file))
			}
			status, stdout, stderr := run(t, "", args...)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			wantIn(t, stdout+stderr, tt.want...)
			if strings.Contains(stdout+stderr, "lgp_") {
				t.Errorf("the token is shown:\n%s%s", stdout, stderr)
			}
		})
	}
}

// What is not an admin API, or not reached, is told from what says no.
func TestAdminErrors(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   []string
	}{
		{"a page", answer(200, "text/html", "<html>"), []string{"is no admin API of this version (HTTP 200)", "hint: check the URL"}},
		{"a proxy", answer(502, "text/html", "<html>"), []string{"is no admin API of this version (HTTP 502)", "hint: check the URL"}},
		{"elsewhere", answer(302, "text/plain", ""), []string{"elsewhere.example", "hint: if the admin API is at the other place, name that"}},
		{"forbidden", answer(403, "application/json", `{"error":{"code":"forbidden","message":"no"}}`), []string{"error: no", "hint: your role does not allow this"}},
		{"too many", answer(429, "application/json", `{"error":{"code":"too_many","message":"no"}}`), []string{"hint: there were too many bad tokens"}},
		{"not known", answer(401, "application/json", `{"error":{"code":"unauthenticated","message":"no"}}`), []string{"hint: the token is not, or no more, good"}},
		{"escapes", answer(400, "application/json", `{"error":{"code":"invalid","message":"a\u001b[2Jb","next":"c\u202ed"}}`), []string{`a\u001b[2Jb`, `c\u202ed`}},
	}
	token := fileWith(t, "lgp_right")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			api := httptest.NewServer(tt.answer)
			defer api.Close()
			status, stdout, stderr := run(t, "", "get", "--admin", api.URL, "--token-file", token)
			if status != 1 || stdout != "" {
				t.Errorf("status %d, stdout %q, want 1 and nothing", status, stdout)
			}
			wantIn(t, stderr, tt.want...)
		})
	}
	api := httptest.NewServer(adminAPI(""))
	api.Close()
	status, _, stderr := run(t, "", "get", "--admin", api.URL, "--token-file", token)
	if status != 1 {
		t.Errorf("nobody there: status %d, want 1", status)
	}
	wantIn(t, stderr, "hint: is the server running, and is "+strings.TrimPrefix(api.URL, "http://")+" the address of its admin API?")
}

// The token crosses no network in the clear.
func TestAdminURLs(t *testing.T) {
	token := fileWith(t, "lgp_right")
	tests := map[string]string{
		"http://agents.example:8701":   "http://agents.example:8701: the token would cross the network in the clear; use https",
		"http://10.0.0.1:8701":         "in the clear",
		"127.0.0.1:8701":               "is not the URL of an admin API; write it like http://127.0.0.1:8701",
		"ftp://127.0.0.1":              "is not the URL of an admin API",
		"https://me:hunter2@127.0.0.1": "has no user, query or fragment",
		"https://127.0.0.1/?a=hunter2": "has no user, query or fragment",
	}
	for url, want := range tests {
		status, _, stderr := run(t, "", "get", "--admin", url, "--token-file", token)
		if status != 2 || strings.Contains(stderr, "hunter2") {
			t.Errorf("%s: status %d, want 2, and no password:\n%s", url, status, stderr)
		}
		wantIn(t, stderr, want)
	}
	api := httptest.NewTLSServer(adminAPI("lgp_right"))
	defer api.Close()
	status, _, stderr := run(t, "", "get", "--admin", api.URL, "--token-file", token)
	if status != 1 {
		t.Errorf("unknown authority: status %d, want 1", status)
	}
	wantIn(t, stderr, "name its certificate with --ca FILE")
	ca := fileWith(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})))
	status, stdout, stderr := run(t, "", "get", "--admin", api.URL, "--token-file", token, "--ca", ca)
	if status != 0 {
		t.Errorf("known authority: status %d, want 0:\n%s", status, stderr)
	}
	wantIn(t, stdout, "Provider  local  ready")
	for _, args := range [][]string{
		{"get", "--admin", api.URL, "--data", t.TempDir()},
		{"get", "--admin", api.URL, "--timeout", "0s"},
		{"get", "--admin", api.URL, "--token-file", filepath.Join(t.TempDir(), "missing")},
		{"get", "--admin", api.URL, "--token-file", token, "--ca", token},
	} {
		if status, _, stderr := run(t, "", args...); status != 2 {
			t.Errorf("%v: status %d, want 2:\n%s", args, status, stderr)
		}
	}
}

// A data directory that a server holds tells where the server is, and what
// proves who asks.
func TestDataDirectoryOfAServer(t *testing.T) {
	api := httptest.NewServer(adminAPI("lgp_right"))
	t.Cleanup(api.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	tests := []struct {
		name  string
		files map[string]string
		want  int
		words []string
	}{
		{"live", map[string]string{"admin.json": `{"url":"` + api.URL + `"}`, "admin-token": "lgp_right\n"}, 0, []string{"Provider  local"}},
		{"no token", map[string]string{"admin.json": `{"url":"` + api.URL + `"}`}, 2, []string{"there is no token"}},
		{"left over", map[string]string{"admin.json": `{"url":"` + gone.URL + `"}`, "admin-token": "lgp_right"}, 1, []string{
			"another legation process (pid ", "at " + gone.URL + ", which ", "nobody answers", "hint: the file may be left over",
		}},
		{"no admin API", nil, 1, []string{"does not say where it is administered", "hint: if it is a server, its admin API is off"}},
		{"damaged", map[string]string{"admin.json": `{"url":`}, 1, []string{"where it is administered can not be read"}},
		{"not of this machine", map[string]string{"admin.json": `{"url":"http://192.0.2.1:1"}`, "admin-token": "lgp_right"}, 2, []string{"in the clear"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // some wait for a server to come up
			dir := t.TempDir()
			store, err := sqlite.Open(t.Context(), dir, sqlite.Config{Sync: sqlite.Off})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			for name, text := range tt.files {
				write(t, filepath.Join(dir, name), text)
			}
			status, stdout, stderr := run(t, "", "get", "--data", dir)
			if status != tt.want {
				t.Errorf("status %d, want %d", status, tt.want)
			}
			wantIn(t, stdout+stderr, tt.words...)
		})
	}
}

// A name that leads elsewhere is no name.
func TestNamesStayInThePath(t *testing.T) {
	token := fileWith(t, "lgp_right")
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got, want := r.URL.EscapedPath(), "/base/admin/secrets/a%2F..%2Fb%3Fc"; got != want {
			t.Errorf("path %s, want %s", got, want)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer api.Close()
	for _, name := range []string{"..", ".", ""} {
		status, _, stderr := run(t, "", "secret", "delete", name, "--admin", api.URL+"/base", "--token-file", token)
		if status != 2 {
			t.Errorf("%q: status %d, want 2:\n%s", name, status, stderr)
		}
	}
	if status, _, stderr := run(t, "", "secret", "delete", "a/../b?c", "--admin", api.URL+"/base/", "--token-file", token); status != 0 {
		t.Errorf("status %d, want 0:\n%s", status, stderr)
	}
}
