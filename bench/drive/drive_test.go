package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The smallest run there is: every load, against every server.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	bin, dir := t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "../ours", "../peer", "../floor")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the servers: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := settings{dir: dir, rounds: 1, time: time.Millisecond, tasks: 100, subscriptions: 100, limit: time.Minute}
	var out bytes.Buffer
	if err := run(ctx, bin, s, &out); err != nil {
		t.Fatalf("run: %v\n%s", err, out.String())
	}
	for _, stage := range stages(s) {
		for _, l := range stage.loads {
			if !strings.Contains(out.String(), "| "+l.name+" | ") {
				t.Errorf("no row of %q in\n%s", l.name, out.String())
			}
		}
	}
	if _, called, found := strings.Cut(out.String(), "| Open, per second |"); !found || strings.Count(called, " calls | ") != 4 {
		t.Errorf("not four rows of servers that know their callers in\n%s", out.String())
	}
	if !strings.Contains(out.String(), "a2a-go v2.") {
		t.Errorf("the peer's version is missing in\n%s", out.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestSettings(t *testing.T) {
	good := settings{rounds: 3, time: time.Second, tasks: 10_000, subscriptions: 2_000, limit: time.Minute}
	if err := good.check(); err != nil {
		t.Errorf("defaults are refused: %v", err)
	}
	for _, spoil := range []func(*settings){
		func(s *settings) { s.rounds = 0 }, func(s *settings) { s.time = time.Hour },
		func(s *settings) { s.only = "x" }, func(s *settings) { s.tasks = 1 }, func(s *settings) { s.subscriptions = 1 << 20 }, func(s *settings) { s.limit = 0 },
	} {
		bad := good
		spoil(&bad)
		if bad.check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestStream(t *testing.T) {
	tests := []struct {
		name, body string
		events     int
		fails      bool
	}{
		{"whole", ": hello\n\ndata: {}\n\nid: 1\ndata: TASK_STATE_COMPLETED\n\n", 2, false},
		{"long line", "data: " + strings.Repeat("x", 200_000) + "TASK_STATE\n\ndata: TASK_STATE_COMPLETED\n\n", 2, false},
		{"cut short", "data: {}\n\n", 1, true},
		{"empty", "", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Write([]byte(tt.body))
			}))
			defer web.Close()
			c, err := dial(web.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 2 { // the connection is good for more than one
				events, _, err := c.stream(request("POST", &server{address: "x"}, "/", []byte("{}")))
				if events != tt.events || (err != nil) != tt.fails {
					t.Fatalf("stream() = %d, %v", events, err)
				}
			}
		})
	}
}

func TestFreshRequestsDiffer(t *testing.T) {
	f := newFresh(&server{address: "127.0.0.1:1"}, "/", "SendMessage", "hello", "")
	seen := make(map[string]bool)
	for range 1000 {
		seen[string(f.next())] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d different requests of 1000", len(seen))
	}
}

// Rounds are compared one by one: that the machine was slow in one of them does
// not count.
func TestRatiosInTurns(t *testing.T) {
	r := row{rates: map[string][]float64{open: {100, 10, 1000}, key: {90, 9, 800}}}
	if got := r.inTurns(key, open); got != 0.9 {
		t.Errorf("inTurns() = %v, want 0.9", got)
	}
}

func TestRequestsCarryTheCredential(t *testing.T) {
	for authorization, want := range map[string]int{"": 0, "Bearer x": 1} {
		req := request("POST", &server{address: "127.0.0.1:1", authorization: authorization}, "/", []byte("{}"))
		if got := bytes.Count(req, []byte("\r\nAuthorization: Bearer x\r\n")); got != want {
			t.Errorf("%q: %d credentials in %q, want %d", authorization, got, req, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		in   []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 3}, 2}} {
		if got := median(tt.in); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}
