package partner_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// sdk is an SDK for another language: a folder with two programs written with
// it and the lock file of what they need.
//
// The client is told three addresses of the test agent, runs its cells, and
// prints a line for each: {"cell":NAME,"error":TEXT}, where the text is empty if
// all went well. At --refused requests arrive with a version nobody serves, at
// --later with members that 1.0 does not have.
//
// The server prints "Serving ADDRESS", and serves an agent that does what
// [executor] does until its standard input ends.
type sdk struct {
	name           string
	dir            string
	runtime        []string // what runs a program, from the folder
	client, server string
}

var (
	python     = sdk{"Python a2a-sdk", "python", []string{".venv/bin/python", "-u"}, "client.py", "server.py"}
	javascript = sdk{"JavaScript @a2a-js/sdk", "javascript", []string{"node"}, "client.mjs", "server.mjs"}
)

// installed skips a test where the SDK is not installed, unless all have to be.
func (s sdk) installed(t *testing.T) {
	t.Helper()
	mark := filepath.Join("..", s.dir, ".installed")
	if _, err := os.Stat(mark); err == nil {
		return
	}
	if os.Getenv("LEGATION_PARTNERS") == "all" {
		t.Fatalf("%s is not installed", s.name)
	}
	t.Skipf("%s is NOT TESTED: it is not installed here; make interop installs and tests all partners", s.name)
}

func (s sdk) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	line := slices.Concat(s.runtime, []string{program}, args)
	if strings.Contains(line[0], "/") {
		line[0] = filepath.Join("..", s.dir, line[0])
		line[0], _ = filepath.Abs(line[0])
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = filepath.Join("..", s.dir)
	// A program ends with all that it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// endGroup ends what a program that has ended left behind.
func endGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// output keeps what a program says, up to a bound, and looks for the line that
// says where it serves.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	address chan string // nil: nobody waits for one
}

const maxOutput = 1 << 20

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p[:min(len(p), maxOutput-o.text.Len())])
	if o.address != nil {
		if found := serving.FindSubmatch(o.text.Bytes()); found != nil && bytes.HasSuffix(o.text.Bytes(), []byte("\n")) {
			o.address <- string(found[1])
			o.address = nil
		}
	}
	return len(p), nil
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.text.Bytes())
}

// clientCells are what every client does.
var clientCells = []string{
	"send blocking", "returnImmediately then poll", "stream", "subscribe", "subscribe to an ended task", "list pages", "cancel",
	"input-required round trip", "message instead of task", "files and data received", "files and data sent", "unknown task",
	"version refusal", "unknown fields",
}

var streamingCells = []string{"stream", "subscribe"}

// runClient lets the SDK's client meet the test agent, and looks at some of its
// cells.
func (s sdk) runClient(t *testing.T, direction string, agent *between, names []string) {
	var reader strict
	defer reader.report(t)
	agent.answers = &reader
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := s.command(ctx, s.client,
		"--agent", agent.start(t),
		"--refused", refused(agentURL).start(t),
		"--later", withLaterRequests(agentURL).start(t))
	var said, complaints output
	cmd.Stdout, cmd.Stderr = &said, &complaints
	err := cmd.Run()
	if cmd.Process != nil {
		endGroup(cmd)
	}
	out := said.bytes()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", s.client, err, out, complaints.bytes())
	}
	results, err := readResults(out)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.client, err, out)
	}
	var cells []cell
	for _, name := range names {
		cells = append(cells, cell{name, func(context.Context) error {
			result, ok := results[name]
			if !ok {
				return errors.New("the client says nothing of it")
			}
			return result
		}})
	}
	runCells(t, s.name+direction, cells)
	for name := range results {
		if !slices.Contains(clientCells, name) {
			t.Errorf("%q is no cell", name)
		}
	}
}

// readResults reads the lines of a client. A cell that went well is nil.
func readResults(out []byte) (map[string]error, error) {
	results := map[string]error{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Cell  string `json:"cell"`
			Error string `json:"error"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		results[line.Cell] = nil
		if line.Error != "" {
			results[line.Cell] = errors.New(line.Error)
		}
	}
	return results, lines.Err()
}

// serve runs the SDK's server until the test ends, and returns its address.
func (s sdk) serve(t *testing.T) string {
	t.Helper()
	s.installed(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	cmd := s.command(ctx, s.server)
	address := make(chan string, 1)
	said, complaints := &output{address: address}, &output{}
	cmd.Stdout, cmd.Stderr = said, complaints
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	end := sync.OnceValue(func() error {
		stdin.Close()
		err := <-ended // bounded: the context kills it, and WaitDelay its pipes
		endGroup(cmd)
		cancel()
		return err
	})
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("%s did not end well: %v", s.server, err)
		}
		if t.Failed() {
			t.Logf("%s: %s", s.server, complaints.bytes())
		}
	})
	select {
	case found := <-address:
		return found
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended without saying where it serves: %v", s.server, err)
	}
	return ""
}

func TestPythonClient(t *testing.T)     { t.Parallel(); python.meetsAgent(t) }
func TestJavaScriptClient(t *testing.T) { t.Parallel(); javascript.meetsAgent(t) }

func (s sdk) meetsAgent(t *testing.T) {
	s.installed(t)
	s.runClient(t, clientDirection, &between{server: agentURL}, clientCells)
	t.Run("through nginx", func(t *testing.T) {
		s.runClient(t, nginxDirection, behindNginx(t), streamingCells)
	})
}

func TestPythonServer(t *testing.T) { t.Parallel(); runServer(t, python.name, python.serve(t)) }
func TestJavaScriptServer(t *testing.T) {
	t.Parallel()
	runServer(t, javascript.name, javascript.serve(t))
}
