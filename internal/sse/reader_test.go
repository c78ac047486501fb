package sse_test

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/sse"
)

// packets gives its strings one read at a time.
type packets []string

func (p *packets) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	if (*p)[0] = (*p)[0][n:]; (*p)[0] == "" {
		*p = (*p)[1:]
	}
	return n, nil
}

func collect(events iter.Seq2[[]byte, error]) (data []string, err error) {
	for event, e := range events {
		if e != nil {
			return data, e
		}
		data = append(data, string(event))
	}
	return data, nil
}

// chunkings are ways for the same bytes to arrive.
var chunkings = map[string]func(string) io.Reader{
	"at once":      func(s string) io.Reader { return strings.NewReader(s) },
	"byte by byte": func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) },
	"in halves":    func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) },
	"end with EOF": func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) },
	"in threes": func(s string) io.Reader {
		var p packets
		for len(s) > 3 {
			p, s = append(p, s[:3]), s[3:]
		}
		p = append(p, s)
		return &p
	},
}

// REQ-RPC-11.
func TestEvents(t *testing.T) {
	mib := strings.Repeat("x", 1<<20)
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"one event", "data: {}\n\n", []string{"{}"}},
		{"comments", ": ping\n\ndata: 1\n: ping\n\n:\n\n: ping\ndata: 2\n\n", []string{"1", "2"}},
		{"no space", "data:{\"a\":1}\n\n", []string{`{"a":1}`}},
		{"only the first space goes", "data:  a \n\n", []string{" a "}},
		{"three lines", "data: {\ndata: \"a\":1\ndata: }\n\n", []string{"{\n\"a\":1\n}"}},
		{"an empty line of data", "data: a\ndata\ndata:\ndata: b\n\n", []string{"a\n\n\nb"}},
		{"CRLF", "data: 1\r\n\r\ndata: 2\r\ndata: 3\r\n\r\n", []string{"1", "2\n3"}},
		{"CR", "data: 1\r\rdata: 2\rdata: 3\r\r", []string{"1", "2\n3"}},
		{"mixed ends", "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\n\rdata: 4\n\r", []string{"1", "2", "3", "4"}},
		{"byte order mark", "\ufeffdata: 1\n\n", []string{"1"}},
		{"byte order mark and comment", "\ufeff: ping\n\ndata: 1\n\n", []string{"1"}},
		{"a second mark is not one", "data: 1\n\n\ufeffdata: 2\n\n", []string{"1"}},
		{"other fields", "event: x\nid: 7\nretry: 10\nfoo: bar\nfoo\ndata: 1\n\n", []string{"1"}},
		{"fields without data", "event: x\n\nid: 7\n\ndata: 1\n\n", []string{"1"}},
		{"empty data", "data\n\ndata:\n\ndata: 1\n\n", []string{"1"}},
		{"names are exact", "Data: 1\ndata : 2\n data: 3\ndatas: 4\ndata: 5\n\n", []string{"5"}},
		{"colons and breaks in data", "data: a:b: c\u2028\u0085\x00\n\n", []string{"a:b: c\u2028\u0085\x00"}},
		{"blank lines", "\n\r\n\r\n\n\ndata: 1\n\n\n\n\r\rdata: 2\n\n", []string{"1", "2"}},
		{"letters of several bytes", "data: Ω😀\n\n", []string{"Ω😀"}},
		{"last event without its blank line", "data: 1\n\ndata: 2\n", []string{"1"}},
		{"last line without its end", "data: 1\n\ndata: 2", []string{"1"}},
		{"last line without its end, and blank", "data: 1\n\ndata: 2\n\n: p", []string{"1", "2"}},
		{"a line of 1 MiB", "data: " + mib + "\n\ndata: 1\n\n", []string{mib, "1"}},
	}
	for _, tt := range tests {
		for how, chunked := range chunkings {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				got, err := collect(sse.Events(chunked(tt.stream), sse.Limits{}))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%.300s", diff)
				}
			})
		}
	}
}

func TestALetterCutBetweenTwoPackets(t *testing.T) {
	got, err := collect(sse.Events(&packets{"data: \xf0\x9f", "\x98\x80\n\n"}, sse.Limits{}))
	if diff := cmp.Diff([]string{"😀"}, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
}

func TestEventsDoNotWaitForWhatFollows(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		r, w := io.Pipe()
		next, stop := iter.Pull2(sse.Events(r, sse.Limits{}))
		for i := range 3 {
			go fmt.Fprintf(w, ": ping\ndata: %d%s", i, end)
			if data, err, ok := next(); !ok || err != nil || string(data) != fmt.Sprint(i) {
				t.Errorf("end %q: event %q, %v, %t", end, data, err, ok)
			}
		}
		r.Close()
		stop()
	}
}

func TestLimits(t *testing.T) {
	limits := sse.Limits{MaxEventBytes: 100, MaxTotalBytes: 1000}
	fits := "data: " + strings.Repeat("x", 94)
	tests := []struct {
		name, stream string
		want         int
		wantErr      error
	}{
		{"an event that just fits", fits + "\n\ndata: 1\n\n", 2, nil},
		{"an event one byte over", "data: 1\n\n" + fits + "x\n\n", 1, sse.ErrEventTooLarge},
		{"an event of many lines", "data: 1\n\n" + strings.Repeat("data: x\n", 14) + "\n", 1, sse.ErrEventTooLarge},
		{"a line that never ends", "data: 1\n\ndata: " + strings.Repeat("x", 900), 1, sse.ErrEventTooLarge},
		{"a comment that never ends", "data: 1\n\n:" + strings.Repeat("x", 900), 1, sse.ErrEventTooLarge},
		{"comments before an event", strings.Repeat(": ping\n", 100) + "data: 1\n\n", 1, nil},
		{"too much of everything", strings.Repeat("data: 1\n\n", 112), 111, sse.ErrStreamTooLarge},
		{"too many comments", strings.Repeat(": ping\n", 200), 0, sse.ErrStreamTooLarge},
		{"too many blank lines", strings.Repeat("\n", 1001), 0, sse.ErrStreamTooLarge},
	}
	for _, tt := range tests {
		for how, chunked := range chunkings {
			t.Run(tt.name+" "+how, func(t *testing.T) {
				got, err := collect(sse.Events(chunked(tt.stream), limits))
				if !errors.Is(err, tt.wantErr) || len(got) != tt.want {
					t.Errorf("%d events, error %v, want %d, %v", len(got), err, tt.want, tt.wantErr)
				}
			})
		}
	}
}

// endless gives the same bytes for ever.
type endless string

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e[i%len(e)]
	}
	return len(b), nil
}

func TestAnEndlessLineEndsWithinItsCap(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := collect(sse.Events(io.MultiReader(strings.NewReader("data: 1\n\ndata: "), endless("x")), sse.Limits{}))
	runtime.ReadMemStats(&after)
	if len(got) != 1 || !errors.Is(err, sse.ErrEventTooLarge) {
		t.Errorf("%d events, error %v", len(got), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("took %d MiB for a cap of 8", used>>20)
	}
}

func TestEndlessCommentsEnd(t *testing.T) {
	_, err := collect(sse.Events(endless(": p\n"), sse.Limits{MaxTotalBytes: 1 << 20}))
	if !errors.Is(err, sse.ErrStreamTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestTheReadersErrorIsPassedOn(t *testing.T) {
	broken := errors.New("broken")
	for _, tail := range []string{"", "data: 2\n", "data: 2", ": p"} {
		got, err := collect(sse.Events(io.MultiReader(strings.NewReader("data: 1\n\n"+tail), iotest.ErrReader(broken)), sse.Limits{}))
		if !errors.Is(err, broken) || len(got) != 1 {
			t.Errorf("after %q: %d events, error %v", tail, len(got), err)
		}
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatGivesNothingIsGivenUp(t *testing.T) {
	if _, err := collect(sse.Events(idle{}, sse.Limits{})); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error %v", err)
	}
}

func TestTheLoopMayBeLeft(t *testing.T) {
	for data := range sse.Events(strings.NewReader("data: 1\n\ndata: 2\n\n"), sse.Limits{}) {
		if string(data) != "1" {
			t.Errorf("event %q", data)
		}
		break
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"data: {}\n\n", "data: 1\r\n\r\ndata: 2\r\r", "\ufeffdata: a\ndata:b\n\n", ": ping\n\ndata: 1\n",
		"event: x\nid: 1\nretry: 5\ndata\n\n", "data: " + strings.Repeat("x", 300) + "\n\n", "\n\r\n\r", ":", "data: \xff\x00\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		limits := sse.Limits{MaxEventBytes: 256, MaxTotalBytes: 4096}
		want, wantErr := collect(sse.Events(strings.NewReader(stream), limits))
		for _, data := range want {
			if len(data) > limits.MaxEventBytes || strings.Contains(data, "\r") {
				t.Errorf("event %q", data)
			}
		}
		for how, chunked := range chunkings {
			got, err := collect(sse.Events(chunked(stream), limits))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-at once +so):\n%s", how, diff)
			}
			if (wantErr == nil) != (err == nil) {
				t.Errorf("%s: error %v, want %v", how, err, wantErr)
			}
		}
	})
}
