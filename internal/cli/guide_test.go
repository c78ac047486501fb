package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/legation/legation/internal/cli"
	"github.com/legation/legation/internal/config"
)

// The commands that the guide shows are commands.
func TestTheGuidesCommands(t *testing.T) {
	text, err := os.ReadFile("../../docs/administration.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(text, -1) {
		for line := range strings.Lines(string(block[1])) {
			at := strings.LastIndex("| "+line, "| legation ")
			if at < 0 {
				continue
			}
			command, _, _ := strings.Cut(("| " + line)[at+len("| legation "):], " > ")
			command, _, _ = strings.Cut(command, " <<")
			args := regexp.MustCompile(`'[^']*'|[^\s']+`).FindAllString(command, -1)
			for i, arg := range args {
				args[i] = strings.Trim(arg, "'")
				if i > 0 && args[i-1] == "--client-proxy" {
					if _, err := config.ParseClientProxy(args[i]); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
			if err := cli.Parses(args...); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			commands++
		}
	}
	if commands < 8 {
		t.Errorf("%d commands were found", commands)
	}
}
