package partner_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// agentURL is where the scripted test agent serves: the product's server,
// engine and store as a process of its own.
var agentURL string

func TestMain(m *testing.M) { os.Exit(runWithAgent(m)) }

func runWithAgent(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interop")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, err := build(dir, "./conformance/testagent")
	if err == nil {
		var stop func()
		agentURL, stop, err = startServing(program, "--listen", "127.0.0.1:0", "--set", "on")
		if err == nil {
			defer stop()
			status := m.Run()
			if missing := unmet(); os.Getenv("LEGATION_PARTNERS") == "all" && status == 0 && len(missing) > 0 && wholeRun() {
				fmt.Fprintf(os.Stderr, "no cell was run for: %s\n", strings.Join(missing, ", "))
				status = 1
			}
			if path := os.Getenv("LEGATION_MATRIX"); path != "" {
				err = writeMatrix(path)
			}
			if err == nil {
				return status
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// build builds a program of the product's module.
func build(dir, pkg string) (program string, err error) {
	program = filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
}

var serving = regexp.MustCompile(`(?i)serving .*?(http://[^/\s]+)`)

// startServing starts a program that says where it serves.
func startServing(program string, args ...string) (at string, stop func(), err error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if found := serving.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return found[1], stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("%s did not say where it serves", filepath.Base(program))
}

// wholeRun reports whether no test was left out on the command line.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
