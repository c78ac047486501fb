package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// starting is how long the test agent may take until it serves.
const starting = 30 * time.Second

// testAgent is the test agent as a process of its own.
type testAgent struct {
	url  string
	cmd  *exec.Cmd
	stop context.CancelFunc
}

var serving = regexp.MustCompile(`^Serving (http://127\.0\.0\.1:\d+)/ `)

// startAgent starts the test agent on a free port and returns once it serves.
func startAgent(ctx context.Context, program, set string, log *os.File) (_ *testAgent, err error) {
	ctx, stop := context.WithCancel(ctx)
	a := &testAgent{cmd: process(ctx, program, "--listen", "127.0.0.1:0", "--set", set), stop: stop}
	a.cmd.Stderr = log
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, err
	}
	late := time.AfterFunc(starting, stop)
	defer late.Stop()
	// It says one line, which fits the buffer, and no other.
	line, err := bufio.NewReader(io.LimitReader(out, 4<<10)).ReadString('\n')
	found := serving.FindStringSubmatch(line)
	if err != nil || found == nil {
		return nil, errors.Join(fmt.Errorf("the test agent does not serve (it says %q)", line), err, a.end())
	}
	a.url = found[1]
	return a, nil
}

// end stops the test agent. One that ended by itself, or could not end as it
// should, is an error.
func (a *testAgent) end() error {
	a.stop()
	err := a.cmd.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("the test agent did not end as it should: %w", cmp.Or(err, errors.New("it was gone before")))
}
