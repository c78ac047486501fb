package cli_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/cli"
)

// sealed makes lines of evidence: so many seals of a node, of two entries each.
func sealed(t *testing.T, node string, seals int) (lines []string, last audit.Seal) {
	t.Helper()
	for n := range seals {
		entries := [][]byte{fmt.Appendf(nil, `{"operation":"apply","who":"%d"}`, n), []byte(`{"operation":"delete"}`)}
		last = audit.NewSeal(node, last, int64(1+2*n), entries, time.UnixMilli(1_800_000_000_000))
		lines = append(lines, evidence(t, last, entries))
	}
	return lines, last
}

func evidence(t *testing.T, s audit.Seal, entries [][]byte) string {
	t.Helper()
	text, err := json.Marshal(admin.Evidence{Seal: admin.Seal{
		Node: s.Node, Number: s.Number, First: s.First, Count: s.Count, At: s.At,
		Previous: hex.EncodeToString(s.Previous[:]), Hash: hex.EncodeToString(s.Hash[:]),
	}, Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// REQ-GEN-08: what was exported is verified without a server, and what does not
// fit is named.
func TestVerifyAFile(t *testing.T) {
	lines, last := sealed(t, "n1", 4)
	other, _ := sealed(t, "n2", 2)
	hash := hex.EncodeToString(last.Hash[:])
	anchor := strings.NewReplacer(`"entries":`, `"entries":[],"were":`).Replace(lines[1])
	tests := []struct {
		name   string
		lines  []string
		args   []string
		status int
		want   []string
	}{
		{"whole", lines, nil, 0, []string{"The audit is what was written: 8 entries under 4 seals.", "node n1: seals 1 to 4, the last of 2027-01-15T08:00:00Z, " + hash}},
		{"whole, with what to note", lines, nil, 0, []string{"note the last one, and name it later with --holds"}},
		{"one seal", lines[:1], nil, 0, []string{"2 entries under 1 seal."}},
		{"two nodes", []string{lines[0], other[0], lines[1], other[1]}, nil, 0, []string{"8 entries under 4 seals", "node n1: seals 1 to 2", "node n2: seals 1 to 2"}},
		{"from the middle", lines[2:], nil, 0, []string{"4 entries under 2 seals", "what seals 1 to 2 cover is not here"}},
		{"behind an anchor", append([]string{anchor}, lines[2:]...), nil, 0, []string{"4 entries under 2 seals", "node n1: seals 3 to 4"}},
		{"holds", lines, []string{"--holds", strings.ToUpper(hash)}, 0, nil},
		{"the end is gone", lines[:3], []string{"--holds", hash}, 3, []string{"the audit is not what was written: no seal has the hash " + hash, "Good up to there: 6 entries under 3 seals."}},
		{"changed", []string{lines[0], strings.Replace(lines[1], `["eyJv`, `["eyJw`, 1), lines[2]}, nil, 3, []string{"line 2: the audit is not what was written: an entry from 3 to 4, or seal 2 over them, was changed", "Good up to there: 2 entries under 1 seal."}},
		{"taken out", slices.Delete(slices.Clone(lines), 1, 2), nil, 3, []string{"seal 3 follows seal 1"}},
		{"no hash", []string{strings.Replace(lines[0], `"hash":"`, `"hash":"x`, 1)}, nil, 3, []string{"line 1: ", "not 64 hexadecimal digits"}},
		{"under no seal", append(slices.Clone(lines), `{"unsealed":[-3]}`+"\n"), nil, 3, []string{"line 5: the audit is not what was written: no seal covers entry -3", "Good up to there: 8 entries under 4 seals."}},
		{"much under no seal", append(slices.Clone(lines), `{"unsealed":[-3,0,1,2,3,4,5,6,7,8,9]}`+"\n"), nil, 3, []string{"no seal covers the entries -3, 0, 1, 2, 3, 4, 5, 6, 7, 8 and more"}},
		{"something else", []string{"{\n"}, nil, 3, []string{"line 1 is not evidence as it is exported"}},
		{"programs", lines, []string{"-o", "json"}, 0, []string{`"ok": true`, `"entries": 8`, `"lastHash": "` + hash + `"`}},
		{"programs, broken", lines[:3], []string{"-o", "json", "--holds", hash}, 3, []string{`"ok": false`, `"broken": "the audit is not`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, stdout, stderr := run(t, "", append([]string{"audit", "verify", fileWith(t, strings.Join(tt.lines, ""))}, tt.args...)...)
			if status != tt.status || stderr != "" {
				t.Errorf("status %d, want %d:\n%s", status, tt.status, stderr)
			}
			wantIn(t, stdout, tt.want...)
		})
	}
	if status, stdout, _ := run(t, strings.Join(lines, ""), "audit", "verify", "-"); status != 0 || !strings.Contains(stdout, "8 entries") {
		t.Errorf("standard input: status %d, stdout %q", status, stdout)
	}
	if status, _, stderr := run(t, "", "audit", "verify", "-"); status != 1 || !strings.Contains(stderr, "holds no evidence") {
		t.Errorf("nothing: status %d, want 1:\n%s", status, stderr)
	}
	if status, _, _ := run(t, "", "audit", "verify", "missing.ndjson"); status != 2 {
		t.Errorf("missing: status %d, want 2", status)
	}
}

// What a server sends is verified here, page by page, and exported as it came.
func TestVerifyAServer(t *testing.T) {
	token := fileWith(t, "lgp_right")
	lines, _ := sealed(t, "n1", 5)
	serve := func(lines []string) string {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			after, err := strconv.Atoi(r.URL.Query().Get("after"))
			if err != nil || r.URL.Path != "/admin/audit/evidence" {
				t.Errorf("asked for %s", r.URL)
			}
			for _, line := range lines[min(after, len(lines)):min(after+2, len(lines))] {
				fmt.Fprint(w, line)
			}
		}))
		t.Cleanup(api.Close)
		return api.URL
	}
	status, stdout, stderr := run(t, "", "audit", "verify", "--admin", serve(lines), "--token-file", token)
	if status != 0 {
		t.Errorf("status %d, want 0:\n%s", status, stderr)
	}
	wantIn(t, stdout, "10 entries under 5 seals")
	status, stdout, stderr = run(t, "", "audit", "export", "--after", "1", "--admin", serve(lines), "--token-file", token)
	if status != 0 || stdout != strings.Join(lines[1:], "") {
		t.Errorf("export: status %d, stdout:\n%s", status, stdout)
	}
	wantIn(t, stderr, "4 seals; go on later with --after 5")
	strange := append(slices.Clone(lines[:4]), `{"unsealed":[17,18]}`+"\n")
	status, stdout, _ = run(t, "", "audit", "verify", "--admin", serve(strange), "--token-file", token)
	if status != 3 {
		t.Errorf("under no seal: status %d, want 3", status)
	}
	wantIn(t, stdout, "no seal covers the entries 17, 18", "Good up to there: 8 entries under 4 seals.")
	status, stdout, stderr = run(t, "", "audit", "export", "--admin", serve(strange), "--token-file", token)
	if status != 0 || stdout != strings.Join(strange, "") {
		t.Errorf("export: status %d, stdout:\n%s", status, stdout)
	}
	wantIn(t, stderr, "4 seals; go on later with --after 4")
	for name, broken := range map[string][]string{
		"the beginning is gone": append([]string{lines[1]}, lines[1:]...),
		"one again and again":   {lines[0], lines[0], lines[0], lines[0]},
	} {
		if status, stdout, _ := run(t, "", "audit", "verify", "--admin", serve(broken), "--token-file", token); status != 3 {
			t.Errorf("%s: status %d, want 3:\n%s", name, status, stdout)
		}
	}
	if status, _, stderr := run(t, "", "audit", "export", "--after=-1", "--admin", serve(nil), "--token-file", token); status != 2 {
		t.Errorf("status %d, want 2:\n%s", status, stderr)
	}
}

func TestParseNotAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 500, time.UTC)
	tests := map[string]string{
		"":                          "0001-01-01T00:00:00Z",
		"90d":                       "2027-03-01T12:00:00Z",
		"12h":                       "2026-12-02T00:00:00Z",
		"2027-01-31T12:00:00+02:00": "2027-01-31T10:00:00Z",
	}
	for text, want := range tests {
		got, err := cli.ParseNotAfter(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("ParseNotAfter(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "0d", "-5h", "2020-01-01T00:00:00Z", "99999999d", "d"} {
		if got, err := cli.ParseNotAfter(text, now); err == nil {
			t.Errorf("ParseNotAfter(%q) = %v, want an error", text, got)
		}
	}
}
