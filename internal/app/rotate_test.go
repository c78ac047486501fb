package app_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/vault"
)

// REQ-GEN-05: a master key that is put into the file is taken into use by the
// server that runs, and the one before it can be taken away, without a restart.
func TestMasterKeysAreRotatedInARunningServer(t *testing.T) {
	cfg := settings(t)
	a, stop := serve(t, cfg, app.Options{})
	admin := openOffice(t, a, cfg.Data)
	file := filepath.Join(cfg.Data, "master.key")

	sealedWith := func(name string) string {
		t.Helper()
		return member(t, admin.do(http.MethodPut, "/admin/secrets/"+name, "value of "+name), "masterKey")
	}
	first := sealedWith("one")
	if _, err := vault.AddKey(file); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	// What cannot be used is refused in words, and those before go on.
	for what, test := range map[string]struct {
		text string
		want string
	}{
		"no key":                     {"# nothing\n", "there is no master key"},
		"half a key":                 {"legmk1_c2hvcnQ\n", "32 bytes"},
		"the present one taken away": {lastLines(t, whole, 2, 1), first},
	} {
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		status, text := admin.ask(http.MethodPost, "/admin/secrets/rotate", "")
		if status != http.StatusConflict || !strings.Contains(text, test.want) {
			t.Errorf("%s: %d %s, want 409 with %q", what, status, text, test.want)
		}
		if got := sealedWith("two"); got != first {
			t.Errorf("%s: sealed with %s, want %s still", what, got, first)
		}
	}

	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	done := admin.do(http.MethodPost, "/admin/secrets/rotate", "")
	second := member(t, done, "primary")
	if second == first || !strings.Contains(done, `"rewrapped":4`) || !strings.Contains(done, `"left":[]`) {
		t.Errorf("rotated: %s", done)
	}
	if err := os.WriteFile(file, []byte(lastLines(t, whole, 2, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	admin.do(http.MethodPost, "/admin/secrets/rotate", "")
	if got := sealedWith("three"); got != second {
		t.Errorf("sealed with %s, want %s", got, second)
	}

	stop() // and what is stored can be read with the new one alone
	if keys, err := vault.ReadKeys(file); err != nil || len(keys.IDs()) != 1 {
		t.Fatalf("the file has %v, %v", keys, err)
	}
	serve(t, cfg, app.Options{})
}

// lastLines is the first so many of the last lines of a text.
func lastLines(t *testing.T, text []byte, of, n int) string {
	t.Helper()
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	if len(lines) < of {
		t.Fatalf("%d lines, want %d at least", len(lines), of)
	}
	return string(bytes.Join(lines[len(lines)-of:][:n], nil))
}
