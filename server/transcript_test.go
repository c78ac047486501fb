package server_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/server"
	"github.com/legation/legation/task"
)

var update = flag.Bool("update", false, "rewrite the answers of the transcripts")

// TestTranscripts plays the conversations in testdata. A file is prose and
// exchanges; of an exchange, lines with > are the request: a method and path,
// headers, and the body, where POST / with the usual headers goes without
// saying, and a name followed by a lone colon takes a header away. Lines with < are
// the answer: status and headers where they say something, then the body.
// Ids that the server makes are numbered: $1 is the first one seen.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			clock := func() time.Time { return epoch }
			w := newWorld(t, options{
				engine: task.Config{Now: clock},
				config: func(cfg *server.Config) { cfg.MaxBody = 4 << 10 },
			})
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after := play(t, w, string(before))
			if *update {
				if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(before), after); diff != "" {
				t.Errorf("the conversation went otherwise (-file +now):\n%s", diff)
			}
		})
	}
}

// play sends the requests of a transcript and returns it with the answers it
// got.
func play(t *testing.T, w *world, file string) string {
	var out strings.Builder
	var names placeholders
	var sent []string
	flush := func() {
		if len(sent) == 0 {
			return
		}
		for line := range strings.Lines(names.hide(converse(w, names.show(strings.Join(sent, "\n"))))) {
			fmt.Fprintf(&out, "< %s\n", strings.TrimSuffix(line, "\n"))
		}
		sent = nil
	}
	lines := bufio.NewScanner(strings.NewReader(file))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "> "):
			sent = append(sent, line[2:])
			out.WriteString(line + "\n")
			continue
		case strings.HasPrefix(line, "<"):
			continue // rewritten
		}
		flush()
		out.WriteString(line + "\n")
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	flush()
	return out.String()
}

var (
	startLine  = regexp.MustCompile(`^([A-Z]+) (/\S*)$`)
	headerLine = regexp.MustCompile(`^([A-Za-z0-9-]+):(?: (.*))?$`)
)

// converse sends one request and returns the answer as lines.
func converse(w *world, text string) string {
	method, path, head := "POST", "/", http.Header{}
	var body []string
	for line := range strings.SplitSeq(text, "\n") {
		if m := startLine.FindStringSubmatch(line); m != nil && body == nil {
			method, path = m[1], m[2]
		} else if m := headerLine.FindStringSubmatch(line); m != nil && body == nil {
			head.Add(m[1], m[2])
		} else {
			body = append(body, line)
		}
	}
	r := request(method, path, strings.Join(body, "\n"))
	for name, values := range head {
		if r.Header[name] = values; values[0] == "" {
			delete(r.Header, name)
		}
	}
	rec := w.do(r)

	var out strings.Builder
	if rec.Code != http.StatusOK {
		fmt.Fprintf(&out, "HTTP %d\n", rec.Code)
	}
	for _, name := range []string{"Allow", "Content-Type", "Www-Authenticate", "Retry-After", "A2a-Extensions", "Cache-Control", "Etag", "Last-Modified"} {
		switch value := rec.Header().Get(name); {
		case value == "", value == "application/json" && method == "POST", value == "no-cache":
		default:
			fmt.Fprintf(&out, "%s: %s\n", name, value)
		}
	}
	out.Write(bytes.ReplaceAll(bytes.TrimSuffix(rec.Body.Bytes(), []byte("\n")), []byte("\n\n"), []byte("\n")))
	return strings.TrimSuffix(out.String(), "\n")
}

// placeholders number the ids that a server makes.
type placeholders struct{ made []string }

var madeID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|"nextPageToken":"[^"]+"`)

func (p *placeholders) hide(text string) string {
	return madeID.ReplaceAllStringFunc(text, func(id string) string {
		lead := ""
		if rest, ok := strings.CutPrefix(id, `"nextPageToken":`); ok {
			lead, id = `"nextPageToken":`, strings.Trim(rest, `"`)
		}
		at := -1
		for i, known := range p.made {
			if known == id {
				at = i
			}
		}
		if at < 0 {
			at = len(p.made)
			p.made = append(p.made, id)
		}
		name := fmt.Sprintf("$%d", at+1)
		if lead != "" {
			return lead + `"` + name + `"`
		}
		return name
	})
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

func (p *placeholders) show(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		var n int
		fmt.Sscanf(name, "$%d", &n)
		if n < 1 || n > len(p.made) {
			return name
		}
		return p.made[n-1]
	})
}
