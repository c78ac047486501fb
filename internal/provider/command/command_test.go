//go:build unix

package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/provider/command"
)

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		cfg  command.Config
		want string
	}{
		"no program":       {command.Config{}, "command: no program is given"},
		"an empty name":    {command.Config{Program: []string{"", "x"}}, "command: no program is given"},
		"not in the path":  {command.Config{Program: []string{"no-such-program-7c1f"}}, `command: the program "no-such-program-7c1f" is not in the PATH; give its full path`},
		"no such file":     {command.Config{Program: []string{"/no/such/file"}}, `command: the program "/no/such/file" is not there or is not executable`},
		"not executable":   {command.Config{Program: []string{plain}}, `command: the file "` + plain + `" may not be executed`},
		"no directory":     {command.Config{Program: []string{"sh"}, Dir: plain}, `command: the working directory "` + plain + `" is not there`},
		"a bad variable":   {command.Config{Program: []string{"sh"}, Env: []string{"SECRET"}}, "command: every variable of the environment is written NAME=value"},
		"a negative limit": {command.Config{Program: []string{"sh"}, Timeout: -time.Second}, "command: a limit is negative"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := command.New(test.cfg); err == nil || err.Error() != test.want {
				t.Errorf("New() error = %v, want %s", err, test.want)
			}
		})
	}
}

func TestAProgramOfTheCurrentDirectoryIsNotMeantByItsNameAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PATH", ".")
	if err := os.WriteFile("program", []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := command.New(command.Config{Program: []string{"program"}})
	if err == nil || !strings.HasSuffix(err.Error(), "write ./program") {
		t.Errorf("New() error = %v, want one that says to write ./program", err)
	}
	if _, err := command.New(command.Config{Program: []string{"./program"}}); err != nil {
		t.Errorf("New() error = %v, want nil", err)
	}
}

func TestSurroundings(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("API_TOKEN", "MARKER-7c1f")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const script = `printf '%s|%s|%s|%s' "$HOME" "$API_TOKEN" "$MINE" "$PWD"`
	tests := map[string]struct {
		cfg  command.Config
		want string
	}{
		"by default no secret":   {command.Config{Dir: dir}, "/home/x|||" + dir},
		"exactly what is given":  {command.Config{Dir: dir, Env: []string{"MINE=1", "HOME=/h"}}, "/h||1|" + dir},
		"nothing where so given": {command.Config{Dir: dir, Env: []string{}}, "|||" + dir},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out recorder
			if _, err := shell(t, test.cfg, script).Run(t.Context(), say("x"), &out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.bytes(t)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}
