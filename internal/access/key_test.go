package access_test

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"testing"

	"github.com/legation/legation/internal/access"
)

func TestIssuedKeysAreParsed(t *testing.T) {
	form := regexp.MustCompile(`^lgn_[a-z2-7]{12}_[a-z2-7]{59}$`) // 52 of them secret: 260 bits
	seen := map[string]bool{}
	for range 100 {
		text, key := access.Issue()
		if !form.MatchString(text) {
			t.Fatalf("a key has another form than %v", form)
		}
		if seen[text] || seen[key.ID] {
			t.Fatal("a key or its id was issued twice")
		}
		seen[text], seen[key.ID] = true, true
		if key.SHA256 != sha256.Sum256([]byte(text)) {
			t.Error("SHA256 is not that of the text")
		}
		parsed, err := access.ParseKey(text)
		if err != nil || parsed != key {
			t.Errorf("ParseKey() = %+v, %v, want %+v", parsed, err, key)
		}
	}
}

func TestKeysThatWereNotIssuedAreMalformed(t *testing.T) {
	text, _ := access.Issue()
	swap := func(i int) string {
		other := byte('a')
		if text[i] == other {
			other = 'b'
		}
		return text[:i] + string(other) + text[i+1:]
	}
	malformed := map[string]string{
		"empty":      "",
		"prefix":     "lgn_",
		"cut off":    text[:len(text)-1],
		"longer":     text + "a",
		"upper case": strings.ToUpper(text),
		"spaces":     " " + text[:len(text)-1],
		"no id":      "lgn__" + text[5:],
		"other":      "ghp_" + text[4:],
		"not base32": text[:20] + "1" + text[21:],
	}
	for i := range len(text) { // one letter mistyped, wherever
		if text[i] != '_' {
			malformed["letter "+string(rune('a'+i%26))+strings.Repeat("'", i/26)] = swap(i)
		}
	}
	for name, bad := range malformed {
		t.Run(name, func(t *testing.T) {
			_, err := access.ParseKey(bad)
			if err == nil {
				t.Fatal("ParseKey() succeeded")
			}
			noTrace(t, err.Error(), bad)
		})
	}
}

// noTrace makes sure that no part of a credential that is worth anything is in
// a text: REQ-GEN-04, REQ-GEN-09.
func noTrace(t *testing.T, text, credential string) {
	t.Helper()
	const worth = 10
	for i := 0; i+worth <= len(credential); i++ {
		if strings.Contains(text, credential[i:i+worth]) {
			t.Fatalf("part of the credential is in %q", text[:min(len(text), 100)])
		}
	}
}

func FuzzParseKey(f *testing.F) {
	text, _ := access.Issue()
	f.Add(text)
	f.Add("lgn_")
	f.Add(text[:40])
	f.Fuzz(func(t *testing.T, text string) {
		key, err := access.ParseKey(text)
		if err != nil {
			noTrace(t, err.Error(), text)
			return
		}
		if key.SHA256 != sha256.Sum256([]byte(text)) || text[4:16] != key.ID {
			t.Error("a key was parsed as another")
		}
	})
}
