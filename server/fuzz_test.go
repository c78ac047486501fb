package server_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/legation/legation/internal/jsonrpc"
)

// Whatever is posted is answered, in JSON-RPC, and never by a fault of ours.
func FuzzPost(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if body, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> {"); ok && len(body) < 1000 {
				f.Add([]byte("{" + body))
			}
		}
	}
	w, stop := startWorld(f, options{config: silent})
	f.Cleanup(stop)
	f.Fuzz(func(t *testing.T, body []byte) {
		rec := w.post("/", string(body))
		switch {
		case rec.Code == 204 && rec.Body.Len() == 0:
			return
		case rec.Code == 200 && rec.Header().Get("Content-Type") == "application/json":
			checkAnswer(t, rec.Body.Bytes())
		case rec.Code == 200 && rec.Header().Get("Content-Type") == "text/event-stream":
			for event := range bytes.SplitSeq(bytes.TrimSuffix(rec.Body.Bytes(), []byte("\n\n")), []byte("\n\n")) {
				data, ok := bytes.CutPrefix(event, []byte("data: "))
				if !ok {
					t.Errorf("event %q", event)
				}
				checkAnswer(t, data)
			}
		default:
			t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
		}
	})
}

func checkAnswer(t *testing.T, body []byte) {
	t.Helper()
	resp, err := jsonrpc.ParseResponse(body)
	if err != nil || resp.HasResult == (resp.Error != nil) || bytes.Contains(resp.Error, []byte("-32603")) {
		t.Errorf("answer %s: %v", body, err)
	}
}
