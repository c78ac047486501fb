package partner_test

import (
	"bufio"
	"fmt"
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
	stop, err := startAgent(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "test agent:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

var serving = regexp.MustCompile(`Serving (http://\S+)`)

func startAgent(dir string) (stop func(), err error) {
	program := filepath.Join(dir, "testagent")
	build := exec.Command("go", "build", "-o", program, "./conformance/testagent")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	agent := exec.Command(program, "--listen", "127.0.0.1:0", "--set", "on")
	agent.Stderr = os.Stderr
	stdout, err := agent.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := agent.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = agent.Process.Signal(syscall.SIGTERM)
		_ = agent.Wait()
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if found := serving.FindStringSubmatch(lines.Text()); found != nil {
			agentURL = strings.TrimSuffix(found[1], "/")
			return stop, nil
		}
	}
	stop()
	return nil, fmt.Errorf("it did not say where it serves")
}
