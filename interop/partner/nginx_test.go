package partner_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

// What nginx does unless told otherwise: it buffers answers, speaks HTTP/1.0 to
// what is behind it, and gives up on an answer that is silent for 60 seconds.
const nginxConfig = `
pid %[1]s/pid;
error_log stderr warn;
daemon off;
worker_processes 1;
%[4]s
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server {
		listen %[2]s;
		location / { proxy_pass %[3]s; }
	}
}
`

// startNginx puts nginx in front of a server until the test ends, and returns
// its address.
func startNginx(t *testing.T, server string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if os.Getenv("LEGATION_PARTNERS") == "all" {
			t.Fatal("nginx is not installed")
		}
		t.Skip("nginx is NOT TESTED: it is not installed here; Debian's package is nginx-light")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	var user string
	if os.Getuid() == 0 {
		user = "user root;"
	}
	for range 5 { // another process may take the port first
		at := freeAddress(t)
		if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, at, server, user), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-p", dir, "-c", config)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := poll(ctx, func() (bool, error) {
			select {
			case err := <-ended:
				return false, errors.Join(errors.New("nginx ended"), err)
			default:
			}
			return answers(at), nil
		})
		cancel()
		if err != nil {
			t.Logf("nginx on %s: %v: %s", at, err, said.String())
			continue
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			<-ended
		})
		return "http://" + at
	}
	t.Fatal("nginx does not start")
	return ""
}

func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	return err == nil && conn.Close() == nil
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// behindNginx passes to the test agent through nginx.
func behindNginx(t *testing.T) *between {
	return &between{server: startNginx(t, agentURL), named: agentURL}
}

// F26: events pass through nginx as they happen, to our client and others.
func TestStreamsThroughNginx(t *testing.T) {
	t.Parallel()
	var reader strict
	defer reader.report(t)
	agent := behindNginx(t)
	agent.answers = &reader
	c, err := dialGo(t.Context(), agent.start(t))
	if err != nil {
		t.Fatal(err)
	}
	runCells(t, goSDK+nginxDirection, []cell{{"stream", c.stream}, {"subscribe", c.subscribe}})
}

// F26: a program that waits for a word from outside between two lines has its
// first line seen by then, and one that is silent for longer than nginx allows
// keeps its stream.
func TestServeThroughNginx(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	goOn := filepath.Join(dir, "go-on")
	if err := syscall.Mkfifo(goOn, 0o600); err != nil {
		t.Fatal(err)
	}
	slow, silent := filepath.Join(dir, "slow"), filepath.Join(dir, "silent")
	for path, script := range map[string]string{
		slow:   "#!/bin/sh\necho first\nread -r word <'" + goOn + "'\necho \"$word\"\n",
		silent: "#!/bin/sh\nsleep 65\necho late\n",
	} {
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program, err := build(dir, "./cmd/legation")
	if err != nil {
		t.Fatal(err)
	}
	server, stop, err := startServing(program, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--log-level", "warn",
		"--publish", "slow/slow="+slow, "--publish", "silent/silent="+silent)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	proxy := &between{server: startNginx(t, server), named: server}
	front := proxy.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	t.Run("as they happen", func(t *testing.T) {
		text, err := streamed(ctx, front+"/agents/slow/", func(text string) error {
			if text != "first\n" {
				return nil
			}
			return os.WriteFile(goOn, []byte("second\n"), 0)
		})
		if err := errors.Join(err, expect("text", "first\nsecond\n", text)); err != nil {
			t.Error(err)
		}
	})
	t.Run("silent for 65 s", func(t *testing.T) {
		text, err := streamed(ctx, front+"/agents/silent/", func(string) error { return nil })
		if err := errors.Join(err, expect("text", "late\n", text)); err != nil {
			t.Error(err)
		}
	})
}

// streamed reads the answer of an agent as it comes, and fails if the stream
// has to be taken up again. What came so far is told to seen.
func streamed(ctx context.Context, agent string, seen func(text string) error) (string, error) {
	var broken []error
	c, err := dial(ctx, agent, func(err error) { broken = append(broken, err) })
	if err != nil {
		return "", err
	}
	defer c.Close()
	stream, err := c.SendStreamingMessage(ctx, say("go"))
	if err != nil {
		return "", err
	}
	defer stream.Close()
	var whole client.Assembly
	for event, err := range stream.All() {
		if err == nil {
			err = whole.Apply(event)
		}
		if err != nil {
			return "", err
		}
		if _, ok := event.Payload.(*a2a.TaskArtifactUpdateEvent); ok {
			if err := seen(whole.Task().Artifacts[0].Text()); err != nil {
				return "", err
			}
		}
	}
	task := whole.Task()
	if task == nil || task.Status.State != a2a.TaskStateCompleted {
		return "", errors.New("the stream ended without an end of the task")
	}
	return task.Artifacts[0].Text(), errors.Join(broken...)
}
