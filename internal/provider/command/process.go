package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

var errNotStarted = errors.New("the program did not start")

const (
	// settle is how long, once the program has ended, its output may stay
	// silent before it counts as read.
	settle = 50 * time.Millisecond
	// residue bounds what is read after the program has ended: more than a
	// pipe holds.
	residue = 1 << 20
)

// execute runs the program to its end. It returns once its output was read and
// all that is left of its group was killed.
func (a *Agent) execute(ctx context.Context, input string, stdout io.Writer, log *slog.Logger) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p, err := a.start()
	if err != nil {
		return err
	}
	defer p.close()

	var group sync.WaitGroup
	begin := func(step func() error) {
		group.Go(func() {
			if err := guarded(step); err != nil {
				stop(err)
			}
		})
	}
	begin(func() error { return p.feed(input) })
	begin(func() error { return p.stdout.copyTo(&limited{w: stdout, left: a.cfg.MaxOutput}) })
	begin(func() error {
		said := &lines{log: log, left: maxStderr}
		defer said.end()
		return p.stderr.copyTo(said)
	})
	err = p.wait(ctx, a.cfg.StopGrace)
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// guarded turns a panic, of a log handler for one, into an error.
func guarded(step func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic with a %T", r)
		}
	}()
	return step()
}

// process is a started program and our ends of its pipes.
type process struct {
	cmd     *exec.Cmd
	release func() // once the program has ended, on the goroutine that started it
	stdin   *os.File
	stdout  reader
	stderr  reader
}

// start starts the program in a process group of its own. The pipes are ours
// and not those of os/exec, which stops reading a fixed time after the end and
// so would lose output that a slow store had held up.
func (a *Agent) start() (_ *process, err error) {
	var files [6]*os.File // read end, write end; three times
	defer func() {
		for i, file := range files {
			theirs := i == 0 || i == 3 || i == 5
			if file != nil && (theirs || err != nil) {
				file.Close()
			}
		}
	}()
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotStarted, err)
		}
	}
	cmd := &exec.Cmd{
		Path: a.path, Args: a.cfg.Program, Dir: a.cfg.Dir, Env: a.cfg.Env,
		Stdin: files[0], Stdout: files[3], Stderr: files[5],
	}
	ownGroup(cmd)
	release := endWithUs(cmd)
	if err := cmd.Start(); err != nil {
		release()
		return nil, fmt.Errorf("%w: %w", errNotStarted, err)
	}
	return &process{cmd: cmd, release: release, stdin: files[1], stdout: reader{files[2]}, stderr: reader{files[4]}}, nil
}

func (p *process) close() {
	p.release()
	p.stdin.Close()
	p.stdout.file.Close()
	p.stderr.file.Close()
}

// feed writes the program's input. A program that does not want to read it may
// leave it.
func (p *process) feed(input string) error {
	_, err := io.WriteString(p.stdin, input)
	closed := p.stdin.Close()
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return errors.Join(err, closed)
}

// wait returns once the program has ended, by itself or because ctx has. The
// error is that of [exec.Cmd.Wait].
func (p *process) wait(ctx context.Context, grace time.Duration) error {
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = p.cmd.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		terminate(p.cmd)
		timer := time.NewTimer(grace)
		select {
		case <-ended:
		case <-timer.C:
		}
		timer.Stop()
	}
	// Also what the program left behind: the turn has ended for all of them.
	kill(p.cmd)
	<-ended

	// A process that left the group may still hold the pipes.
	now := time.Now()
	p.stdin.SetWriteDeadline(now)
	p.stdout.file.SetReadDeadline(now)
	p.stderr.file.SetReadDeadline(now)
	return err
}

// reader is the read end of a pipe. A deadline that passes tells it that the
// program has ended.
type reader struct{ file *os.File }

// copyTo passes on what comes until nobody can write any more or, once the
// program has ended, until nothing more is there. It goes on reading for as
// long as w takes it.
func (r reader) copyTo(w io.Writer) error {
	buffer := make([]byte, 16<<10)
	ended := false
	for left := residue; left > 0; {
		n, err := r.file.Read(buffer)
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), ended && errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			ended = true
		case err != nil:
			return err
		}
		if ended {
			left -= n
			r.file.SetReadDeadline(time.Now().Add(settle))
		}
	}
	return nil
}

// limited passes on what fits and then fails.
type limited struct {
	w    io.Writer
	left int64
}

func (l *limited) Write(p []byte) (int, error) {
	fits := p[:min(int64(len(p)), l.left)]
	n, err := l.w.Write(fits)
	l.left -= int64(n)
	if err == nil && len(fits) < len(p) {
		err = errTooMuch
	}
	return n, err
}
