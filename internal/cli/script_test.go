package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/legation/legation/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"legation": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs what users type. Beside the usual commands a script has
//
//	freeport NAME                put the number of a free port into $NAME
//	await PORT                   wait until the server at the port is ready
//	peer KIND NAME               start a misbehaving peer, its URL in $NAME
//	exits STATUS COMMAND …       run a command that ends with this status
//	interrupt STATUS TEXT COMMAND …  send Ctrl-C once TEXT was put out
//	field NAME PATTERN           put what the pattern's group matches in the
//	                             last standard output into $NAME
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values["test"] = env.T().(testing.TB)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command lasts a second
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/share")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"freeport":  freeport,
			"await":     await,
			"peer":      peer,
			"exits":     exits,
			"interrupt": interrupt,
			"field":     field,
		},
	})
}

// patience bounds every wait of a script. It is long: a wait that is over is a
// failure, and machines that test are slow.
const patience = 30 * time.Second

func usage(ts *testscript.TestScript, neg bool, args []string, least int, text string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", text)
	}
}

func freeport(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "freeport NAME")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	ts.Check(l.Close())
}

func await(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "await PORT")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := ready(ctx, "http://127.0.0.1:"+args[0]+"/readyz")
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			ts.Fatalf("no server is ready at port %s: %v", args[0], err)
		}
	}
}

func ready(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	return nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "exits STATUS COMMAND …")
	checkStatus(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkStatus(ts *testscript.TestScript, want string, err error) {
	got := 0
	if err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("the command did not run: %v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, want %s", got, want)
	}
}

func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 3, "interrupt STATUS TEXT COMMAND …")
	path, err := exec.LookPath(args[2])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "GORACE="+ts.Getenv("GORACE"))
	trigger := &trigger{text: args[1], pull: func() { _ = cmd.Process.Signal(os.Interrupt) }}
	cmd.Stdout, cmd.Stderr = trigger.on(ts.Stdout()), trigger.on(ts.Stderr())
	err = cmd.Run()
	if !trigger.pulled {
		ts.Fatalf("%q was never put out", args[1])
	}
	checkStatus(ts, args[0], err)
}

// trigger is pulled once, when a text has come by on one of its writers.
type trigger struct {
	text string
	pull func()

	mu     sync.Mutex
	pulled bool
}

type triggerWriter struct {
	*trigger
	to   io.Writer
	seen strings.Builder
}

func (t *trigger) on(w io.Writer) io.Writer { return &triggerWriter{trigger: t, to: w} }

func (w *triggerWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Write(b)
	if !w.pulled && strings.Contains(w.seen.String(), w.text) {
		w.pulled = true
		w.pull()
	}
	return w.to.Write(b)
}

func field(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "field NAME PATTERN")
	text := ts.ReadFile("stdout")
	match := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(text)
	if len(match) != 2 {
		ts.Fatalf("standard output does not match %q with one group:\n%s", args[1], text)
	}
	ts.Setenv(args[0], match[1])
}
