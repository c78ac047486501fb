package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
)

func TestFlags(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, test := range []struct {
		args string
		want settings
		err  string
	}{
		{"", settings{listen: "127.0.0.1:9999", on: true}, ""},
		{"--listen localhost:0 --set off --data d", settings{listen: "localhost:0", data: "d"}, ""},
		{"-set on --listen [::1]:80", settings{listen: "[::1]:80", on: true}, ""},
		{"--set maybe", settings{}, `--set "maybe": it is on or off`},
		{"--listen 127.0.0.1", settings{}, "HOST:PORT"},
		{"--listen :9999", settings{}, "only the loopback"},
		{"--listen 0.0.0.0:9999", settings{}, "only the loopback"},
		{"--listen example.com:9999", settings{}, "only the loopback"},
		{"--push", settings{}, "flag provided but not defined"},
		{"more", settings{}, `"more" is not a flag`},
	} {
		got, err := parse(strings.Fields(test.args), io.Discard, io.Discard)
		if test.err != "" {
			var stderr bytes.Buffer
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, want %s", test.args, err, test.err)
			} else if code := command(t.Context(), strings.Fields(test.args), io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), test.err) {
				t.Errorf("%s: code %d, %s", test.args, code, &stderr)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.args, got, err)
		}
	}
}

func TestHelp(t *testing.T) {
	var stdout bytes.Buffer
	if _, err := parse([]string{"--help"}, &stdout, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("parse() error = %v", err)
	}
	for _, word := range []string{"Usage: testagent", "-listen", "-set", "-data"} {
		if !strings.Contains(stdout.String(), word) {
			t.Errorf("no %s in\n%s", word, &stdout)
		}
	}
	for _, s := range scripts {
		if !strings.Contains(stdout.String(), "\n  "+s.prefix+"\n") {
			t.Errorf("no script %s in\n%s", s.prefix, &stdout)
		}
	}
	if code := command(t.Context(), []string{"-h"}, io.Discard, io.Discard); code != 0 {
		t.Errorf("command() = %d", code)
	}
}

// launch runs the command until stop and returns the URL that it announces.
func launch(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- command(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), in, t.Output())
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("it says nothing: %v", err)
	}
	return strings.Fields(line)[1], func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("command() = %d", code)
		}
	}
}

func send(t *testing.T, url, method, params string) []byte {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Without a directory nothing is left behind, and both forms of the URL are
// served over real connections.
func TestThrowAway(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, set := range []string{"on", "off"} {
		url, stop := launch(t, "--set", set)
		if !strings.HasSuffix(url, "/") {
			t.Errorf("announced as %s", url)
		}
		for _, at := range []string{url, strings.TrimSuffix(url, "/")} {
			response := decode[a2a.SendMessageResponse](t, send(t, at, "SendMessage", say("tck-artifact-text", "x")))
			task, ok := response.Payload.(*a2a.Task)
			if !ok || task.Status.State != a2a.TaskStateCompleted {
				t.Errorf("%s: %+v", at, response.Payload)
			}
		}
		stop()
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// With a directory tasks are found again, and one under way goes on.
func TestData(t *testing.T) {
	data := t.TempDir()
	url, stop := launch(t, "--data", data)
	now := strings.TrimSuffix(say("m-1", "tck-cancel"), "}") + `,"configuration":{"returnImmediately":true}}`
	response := decode[a2a.SendMessageResponse](t, send(t, url, "SendMessage", now))
	id := `{"id":"` + string(response.Payload.(*a2a.Task).ID) + `"}`
	stop()
	url, stop = launch(t, "--data", data, "--set", "off")
	defer stop()
	if task := decode[a2a.Task](t, send(t, url, "GetTask", id)); task.Status.State.Terminal() {
		t.Errorf("after a restart: %+v", task.Status)
	}
	task := decode[a2a.Task](t, send(t, url, "CancelTask", id))
	if diff := cmp.Diff(a2a.TaskStateCanceled, task.Status.State); diff != "" {
		t.Errorf("canceled (-want +got):\n%s", diff)
	}
}

func TestFailures(t *testing.T) {
	url, stop := launch(t)
	defer stop()
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	var stderr bytes.Buffer
	if code := command(t.Context(), []string{"--listen", taken}, io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), taken) {
		t.Errorf("an address that is taken: code %d, %s", code, &stderr)
	}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	stderr.Reset()
	if code := command(t.Context(), []string{"--listen", "127.0.0.1:0", "--data", file}, io.Discard, &stderr); code != 1 || stderr.Len() == 0 {
		t.Errorf("a file as directory: code %d, %s", code, &stderr)
	}
}
