package app_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// markers are texts that occur nowhere by chance, and what each stands for.
type markers struct {
	secrets map[string]string // what must be nowhere
	content map[string]string // what must be where content belongs
}

func newMarkers() *markers {
	return &markers{secrets: map[string]string{}, content: map[string]string{}}
}

// secret makes a marker for a secret.
func (m *markers) secret(what string) string {
	return m.isSecret(what, fmt.Sprintf("sEcReTmArKeR%02dxYz", len(m.secrets)))
}

// isSecret has a text that others have made be one.
func (m *markers) isSecret(what, text string) string {
	m.secrets[text] = what
	return text
}

// said makes a marker for content.
func (m *markers) said(what string) string {
	text := fmt.Sprintf("cOnTeNtMaRkEr%02dxYz", len(m.content))
	m.content[text] = what
	return text
}

// forms are what a text may have become.
func forms(text string) [][]byte {
	return [][]byte{
		[]byte(text), []byte(url.QueryEscape(text)), []byte(hex.EncodeToString([]byte(text))),
		[]byte(base64.RawStdEncoding.EncodeToString([]byte(text))), []byte(base64.RawURLEncoding.EncodeToString([]byte(text))),
	}
}

func holds(text []byte, marker string) bool {
	for _, form := range forms(marker) {
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}

// none reports every marker of a kind that a text has.
func none(t *testing.T, where string, text []byte, all map[string]string) {
	t.Helper()
	for marker, what := range all {
		if holds(text, marker) {
			t.Errorf("%s has %s: %s", where, what, around(text, marker))
		}
	}
}

// around is what stands about a marker.
func around(text []byte, marker string) string {
	at := bytes.Index(text, []byte(marker))
	if at < 0 {
		return "in another form"
	}
	return fmt.Sprintf("%q", text[max(0, at-120):min(len(text), at+len(marker)+60)])
}

// record keeps what was written, by whomever.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.text.Bytes())
}

// ownSecrets are the files of a data directory that are secrets themselves.
var ownSecrets = []string{"admin-token", "master.key"}

// files looks for secrets in all files of a data directory.
func (m *markers) files(t *testing.T, when, data string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "-shm") { // the index of the log
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(data, path)
		for _, own := range ownSecrets {
			if name == own {
				return err
			}
		}
		none(t, when+": the file "+name, text, m.secrets)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
