package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
)

// F29: a text that nearly fills a request comes back as it was, character by
// character, in every form of answer.
func TestLargeTextComesBack(t *testing.T) {
	w := newWorld(t, options{})
	const piece = `<b>&"Ω😀` + "\u2028\\"
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(piece)
	n := (4<<20 - 10<<10) / len(quoted) // it is stored twice, as sent and as echoed
	want, text := strings.Repeat(piece, n), strings.Repeat(quoted, n)
	check := func(what, got string) {
		t.Helper()
		if got != want {
			t.Errorf("%s has %d bytes of text that are not the %d sent", what, len(got), len(want))
		}
	}
	whole := func(what string, body []byte) a2a.Task {
		t.Helper()
		got := taskOf(t, body)
		if got.Status.State != a2a.TaskStateCompleted || len(got.Artifacts) != 1 || len(got.History) == 0 {
			t.Fatalf("%s: task is %v with %d artifacts", what, got.Status.State, len(got.Artifacts))
		}
		check(what, got.Artifacts[0].Text())
		check(what+" (history)", got.History[0].Text())
		return got
	}

	sent := rpc("SendMessage", say("m-1", text))
	if len(sent) > 4<<20 || len(sent) < 4<<20-12<<10 {
		t.Fatalf("the request has %d bytes, which is not nearly the limit", len(sent))
	}
	made := whole("SendMessage", w.post("/", sent).Body.Bytes())
	whole("GetTask", w.post("/", rpc("GetTask", `{"id":"`+string(made.ID)+`"}`)).Body.Bytes())
	var streamed strings.Builder
	for _, event := range events(w.post("/", rpc("SendStreamingMessage", say("m-2", text))).Body).rest() {
		streamed.WriteString(pieceOf(t, event))
	}
	check("SendStreamingMessage", streamed.String())
}

// F29: a body up to the limit is served, one above it refused without reading
// it all, whether or not it says how long it is. (REQ-GEN-01)
func TestBodySize(t *testing.T) {
	w := newWorld(t, options{})
	const limit = 4 << 20
	frame := rpc("SendMessage", say("m-1", "", background))
	full := strings.Replace(frame, `"text":""`, `"text":"`+strings.Repeat("x", limit-len(frame))+`"`, 1)
	if rec := w.post("/", full); len(full) != limit || rec.Code != http.StatusOK || codeOf(t, rec.Body.Bytes()) != 0 {
		t.Errorf("a body of %d bytes: %d %.200s", len(full), rec.Code, rec.Body)
	}
	for _, size := range []int{limit + 1, 64 << 20} {
		for _, announced := range []bool{true, false} {
			text := &counter{left: size}
			r := request("POST", "/", "")
			r.Body, r.ContentLength = text, int64(size)
			if !announced {
				r.ContentLength = -1
			}
			rec := w.do(r)
			if rec.Code != http.StatusRequestEntityTooLarge || codeOf(t, rec.Body.Bytes()) != a2a.CodeInvalidRequest {
				t.Errorf("%d bytes, announced %v: %d %s", size, announced, rec.Code, rec.Body)
			}
			if most := limit + 1<<20; text.n > most || announced && text.n > 0 {
				t.Errorf("%d bytes, announced %v: %d were read", size, announced, text.n)
			}
		}
	}
}

// counter is a body of so many bytes, and counts those that are read.
type counter struct{ left, n int }

func (c *counter) Read(p []byte) (int, error) {
	n := min(len(p), c.left)
	if n == 0 {
		return 0, io.EOF
	}
	c.left, c.n = c.left-n, c.n+n
	return n, nil
}

func (c *counter) Close() error { return nil }

// REQ-LIST-09: pages of large tasks end early, so that every answer is one that
// clients read, and together they have every task with all its artifacts.
func TestPagesOfLargeTasks(t *testing.T) {
	const answer = 8 << 20
	w := newWorld(t, options{})
	n := serve(t, w)
	want := map[a2a.TaskID]string{}
	for i, kibibytes := range []int{1500, 1500, 3900, 1, 1000, 10} {
		text := strings.Repeat(fmt.Sprint(i), kibibytes<<10)
		made := taskOf(t, w.post("/", rpc("SendMessage", say(fmt.Sprint("m-", i), text))).Body.Bytes())
		want[made.ID] = text
	}
	total, pages, token := len(want), 0, ""
	for ; ; pages++ {
		resp := n.open(t, t.Context(), "/", rpc("ListTasks", fmt.Sprintf(`{"includeArtifacts":true,"pageSize":100,"pageToken":%q}`, token)))
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(body) > answer {
			t.Errorf("page %d has %d bytes", pages, len(body))
		}
		_, result, _ := strings.Cut(string(body), `"result":`)
		page, violations, err := a2a.Decode[a2a.ListTasksResponse]([]byte(strings.TrimSuffix(result, "}")))
		if err != nil || len(violations) > 0 || len(page.Tasks) == 0 || int(page.TotalSize) != total {
			t.Fatalf("page %d: %v %v %.200s", pages, err, violations, body)
		}
		for _, listed := range page.Tasks {
			if len(listed.Artifacts) != 1 || listed.Artifacts[0].Text() != want[listed.ID] {
				t.Errorf("task %s came twice, or without all of its artifact", listed.ID)
			}
			delete(want, listed.ID)
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	if len(want) != 0 {
		t.Errorf("%d tasks were not listed", len(want))
	}
	if pages+1 >= total {
		t.Errorf("%d pages for %d tasks: the room was not used", pages+1, total)
	}
}
