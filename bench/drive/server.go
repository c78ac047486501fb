package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/bench/child"
)

// The servers, by the names of their commands.
const (
	ours  = "ours"
	peer  = "peer"
	floor = "floor"
)

var all = []string{ours, peer, floor}

// Ours by what it asks of its callers, as its flag has it.
const (
	open = "open"
	key  = "key"
	jwt  = "jwt"
)

var callers = []string{open, key, jwt}

// server is a child process.
type server struct {
	name          string
	address       string
	authorization string // empty: none is sent
	cmd           *exec.Cmd
	stdin         io.Closer
}

// maxAnnouncement bounds what a server says first; a token is most of it.
const maxAnnouncement = 4 << 10

// start starts a server and returns once it listens. Each one of ours has a
// database of its own.
func (b *bench) start(ctx context.Context, name string, args ...string) (s *server, err error) {
	b.servers++
	command := name
	if slices.Contains(callers, name) {
		command = ours
		args = append(args, "--callers", name)
	}
	if command == ours {
		args = append(args, "--data", filepath.Join(b.dir, fmt.Sprintf("data-%d", b.servers)))
		if b.profiles != "" {
			args = append(args, "--profile", filepath.Join(b.profiles, fmt.Sprintf("cpu-%d-%s.prof", b.servers, name)))
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, command), args...) //nolint:gosec // Runs the servers that lie beside it.
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w; build the servers into one directory with the driver", name, err)
	}
	s = &server{name: name, cmd: cmd, stdin: stdin}
	line, err := bufio.NewReader(io.LimitReader(stdout, maxAnnouncement)).ReadString('\n')
	said, found := strings.CutPrefix(strings.TrimSpace(line), child.Announcement)
	if err != nil || !found {
		s.stop()
		return nil, fmt.Errorf("%s did not say where it listens: %w", name, errors.Join(err, ctx.Err()))
	}
	s.address, s.authorization, _ = strings.Cut(said, " ")
	return s, nil
}

// stop ends the server: by its standard input, and by force if that takes too
// long.
func (s *server) stop() {
	s.stdin.Close()
	timer := time.AfterFunc(10*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	_ = s.cmd.Wait()
}

// startAll starts servers. On error none is left.
func (b *bench) startAll(ctx context.Context, names []string) (map[string]*server, func(), error) {
	started := make(map[string]*server)
	stop := func() {
		for _, s := range started {
			s.stop()
		}
	}
	for _, name := range names {
		s, err := b.start(ctx, name)
		if err != nil {
			stop()
			return nil, nil, err
		}
		started[name] = s
	}
	return started, stop, nil
}
