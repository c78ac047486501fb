package cli_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/cli"
)

var clock = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d  `)

// What is told of a connection that does not come back, and of one that does.
func TestLostConnections(t *testing.T) {
	broken := &client.InvalidResponseError{Method: "GetTask", Why: "it is about another task"}
	busy := &client.HTTPError{Method: "GetTask", Status: 502}
	tests := []struct {
		name  string
		first error
		last  error // nil: it comes back
		want  string
	}{
		{"comes back", io.ErrUnexpectedEOF, nil, "… connection lost; trying again (Ctrl-C leaves the task running)\n… connected again\n"},
		{"stays away", io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, "… connection lost; trying again (Ctrl-C leaves the task running)\n… gave up after 1m1s\n"},
		{"stays busy", busy, busy, "… the agent is not available; trying again (Ctrl-C leaves the task running)\n… gave up after 1m1s\n"},
		{"is no use", broken, broken, "… the agent's answer can not be used; trying again (Ctrl-C leaves the task running)\n… gave up after 1m1s\n"},
		{"is refused", io.ErrUnexpectedEOF, &client.HTTPError{Method: "GetTask", Status: 403}, "… connection lost; trying again (Ctrl-C leaves the task running)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stderr bytes.Buffer
				interrupted, resumed, left := cli.Listen(&stderr)
				interrupted(tt.first)
				time.Sleep(61 * time.Second)
				if tt.last == nil {
					resumed()
				} else if err := left(tt.last); !errors.Is(err, tt.last) || !strings.Contains(cli.HintFor(err), "legation task watch http://agent.test t-1") {
					t.Errorf("error = %v, hint %q", err, cli.HintFor(err))
				}
				if diff := cmp.Diff(tt.want, clock.ReplaceAllString(stderr.String(), "… ")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1s", 400 * time.Millisecond: "1s", 3 * time.Second: "3s", time.Minute: "1m", 61 * time.Second: "1m1s", 10 * time.Minute: "10m",
		time.Hour: "1h", 10 * time.Hour: "10h", time.Hour + time.Minute: "1h1m", time.Hour + time.Second: "1h0m1s",
	} {
		if got := cli.Spoken(d); got != want {
			t.Errorf("Spoken(%v) = %q, want %q", d, got, want)
		}
	}
}
