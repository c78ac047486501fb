package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
)

// TestProgramsEndWithTheServer ends a server that runs a program, in every way
// that does not wait for the program.
func TestProgramsEndWithTheServer(t *testing.T) {
	for name, signals := range map[string][]syscall.Signal{
		"kill -9":         {syscall.SIGKILL},
		"Ctrl-C twice":    {syscall.SIGINT, syscall.SIGINT},
		"SIGTERM twice":   {syscall.SIGTERM, syscall.SIGTERM},
		"closed terminal": {syscall.SIGHUP, syscall.SIGHUP},
	} {
		t.Run(name, func(t *testing.T) {
			s := launch(t, t.TempDir(), "--publish", "hang=sleep 300")
			c := dial(t, s.url)
			message := a2a.NewMessage(a2a.RoleUser, a2a.TextPart("x"))
			message.Metadata = a2a.Struct(`{"urn:legation:skill:v1":{"skillId":"hang"}}`)
			if _, err := c.SendMessage(t.Context(), &a2a.SendMessageRequest{
				Message: *message, Configuration: &a2a.SendMessageConfiguration{ReturnImmediately: true},
			}); err != nil {
				t.Fatal(err)
			}
			var program string
			await(t, "the program starts", func() bool {
				program = childOf(s.cmd.Process.Pid)
				return program != ""
			})
			for i, signal := range signals {
				if i > 0 { // the first one is seen when nothing new is taken
					await(t, "the server stops", func() bool {
						resp, err := http.Get(s.url + "readyz")
						if err != nil {
							return false
						}
						resp.Body.Close()
						return resp.StatusCode == http.StatusServiceUnavailable
					})
				}
				if err := s.cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			s.cmd.Wait()
			await(t, "the program is gone", func() bool {
				_, err := os.Stat("/proc/" + program)
				return err != nil
			})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v, as if the drain had been waited for", took)
			}
		})
	}
}

// childOf is the id of a child process, or empty.
func childOf(pid int) string {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return ""
	}
	for _, thread := range threads {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		if err == nil && len(children) > 0 {
			return strings.Fields(string(children))[0]
		}
	}
	return ""
}

// await asks again and again until the answer is yes.
func await(t *testing.T, what string, yes func() bool) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !yes() {
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatalf("it does not come to pass that %s", what)
		}
	}
}
