package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const profile = `mode: atomic
github.com/legation/legation/task/a.go:1.1,2.2 8 1
github.com/legation/legation/task/a.go:3.1,4.2 2 0
github.com/legation/legation/task/b_gen.go:3.1,4.2 90 0
github.com/legation/legation/a2a/a.go:1.1,2.2 1 0
github.com/legation/legation/a2a/a.go:1.1,2.2 1 5
`

func TestRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cover.out")
	if err := os.WriteFile(name, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		floor    float64
		packages []string
		want     string // part of the error; empty: none
	}{
		{"reached", 80, []string{"task", "a2a"}, ""},
		{"missed", 81, []string{"task", "a2a"}, "too little of task is covered"},
		{"no such package", 1, []string{"server"}, "too little of server is covered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			err := run(&out, name, tt.floor, tt.packages)
			if got := message(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
				t.Errorf("run() error = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	if _, err := read(strings.NewReader("hello\n")); err == nil {
		t.Error("read() of a text file gives no error")
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
