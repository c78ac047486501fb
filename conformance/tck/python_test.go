package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// playPython plays as much of Python as making an environment needs. What it
// installs it writes into a file, line by line.
func playPython() {
	switch args := os.Args[1:]; {
	case args[0] == "-c":
		fmt.Println(os.Getenv(versionEnv))
		if os.Getenv(versionEnv) < "3.11" {
			os.Exit(1)
		}
	case args[1] == "venv":
		self, err := os.Executable()
		if err == nil {
			err = os.RemoveAll(args[3])
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(args[3], "bin"), 0o700)
		}
		if err == nil {
			err = os.Symlink(self, filepath.Join(args[3], "bin", "python"))
		}
		if err != nil {
			panic(err)
		}
	case args[1] == "pip":
		file, err := os.OpenFile(os.Getenv(installedEnv), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintln(os.Stderr, "no such package")
			os.Exit(1)
		}
		fmt.Fprintln(file, strings.Join(args, " "))
		file.Close()
	}
	os.Exit(0)
}

const (
	versionEnv   = "LEGATION_TCK_TEST_VERSION"
	installedEnv = "LEGATION_TCK_TEST_INSTALLED"
)

func TestEnvironment(t *testing.T) {
	kit, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(kit, "pyproject.toml"), someProject)
	write(t, filepath.Join(kit, "uv.lock"), someLock)
	installed := filepath.Join(t.TempDir(), "installed")
	self := plays(t, "python")
	t.Setenv(installedEnv, installed)
	own := settings{python: self}
	venv := filepath.Join(work, "venv")

	// How often anything was installed after each step.
	for _, step := range []struct {
		name, version, lock string
		installs            int
	}{
		{"the first time", "3.11.7", someLock, 1},
		{"nothing changed", "3.11.7", someLock, 1},
		{"another Python", "3.12.0", someLock, 2},
		{"other versions", "3.12.0", strings.Replace(someLock, "1.2.3", "1.2.4", 1), 3},
		{"nothing changed again", "3.12.0", strings.Replace(someLock, "1.2.3", "1.2.4", 1), 3},
	} {
		t.Setenv(versionEnv, step.version)
		write(t, filepath.Join(kit, "uv.lock"), step.lock)
		python, err := environment(t.Context(), own, kit, work)
		if want := filepath.Join(venv, "bin", "python"); python != want || err != nil {
			t.Fatalf("%s: environment() = %q, %v, want %s", step.name, python, err, want)
		}
		said, err := os.ReadFile(installed)
		if got := strings.Count(string(said), "\n"); got != step.installs || err != nil {
			t.Errorf("%s: installed %d times, %v, want %d", step.name, got, err, step.installs)
		}
	}
	for file, want := range map[string]string{"requirements.txt": "runner>=1.0\n", "constraints.txt": "runner==1.2.4\n"} {
		if text, err := os.ReadFile(filepath.Join(venv, file)); !strings.Contains(string(text), want) || err != nil {
			t.Errorf("%s has %q, %v, want %q", file, text, err, want)
		}
	}

	// A given environment is used as it is.
	given := settings{python: "none", venv: venv}
	if python, err := environment(t.Context(), given, t.TempDir(), t.TempDir()); python != filepath.Join(venv, "bin", "python") || err != nil {
		t.Errorf("environment() of a given one = %q, %v", python, err)
	}
	t.Setenv(versionEnv, "3.10.2")
	for name, s := range map[string]settings{"own": own, "given": given} {
		if _, err := environment(t.Context(), s, kit, work); err == nil || !strings.Contains(err.Error(), "Python 3.11 or later") {
			t.Errorf("%s, too old: error = %v", name, err)
		}
	}
}

// What was not installed to the end is not used the next time.
func TestEnvironmentIsWholeOrMissing(t *testing.T) {
	kit, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(kit, "pyproject.toml"), someProject)
	write(t, filepath.Join(kit, "uv.lock"), someLock)
	self := plays(t, "python")
	t.Setenv(versionEnv, "3.11.0")
	t.Setenv(installedEnv, filepath.Join(work, "missing", "installed"))
	for range 2 {
		_, err := environment(t.Context(), settings{python: self}, kit, work)
		if err == nil || !strings.Contains(err.Error(), "no such package") {
			t.Errorf("environment() error = %v, want what pip said", err)
		}
	}
}
