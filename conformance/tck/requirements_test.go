package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	someProject = `[project]
name = "a2a-tck"
dependencies = [
    "runner>=1.0",
    "wires[all]>=2,<3"
]

[project.optional-dependencies]
dev = [
    "linter>=0.3",
]
`
	someLock = `version = 1

[[package]]
name = "a2a-tck"
version = "1.0.0"
source = { editable = "." }
dependencies = [
    { name = "runner" },
]

[[package]]
name = "runner"
version = "1.2.3"
source = { registry = "https://packages.example/simple" }

[[package]]
name = "split"
version = "1.0"
source = { registry = "https://packages.example/simple" }

[[package]]
name = "split"
version = "2.0"
source = { registry = "https://packages.example/simple" }

[[package]]
name = "wires"
version = "2.9"
source = { registry = "https://packages.example/simple" }
`
)

func TestRequirements(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pyproject.toml"), someProject)
	if _, err := readRequirements(dir); !os.IsNotExist(err) {
		t.Errorf("without a lock file: error = %v", err)
	}
	write(t, filepath.Join(dir, "uv.lock"), someLock)
	got, err := readRequirements(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"runner>=1.0\nwires[all]>=2,<3\n", "runner==1.2.3\nwires==2.9\n"}
	if diff := cmp.Diff(want, []string{got.lines(), got.constraints()}); diff != "" {
		t.Errorf("requirements differ (-want +got):\n%s", diff)
	}
	for name, files := range map[string][2]string{
		"no list":    {"[project]\n", someLock},
		"empty list": {"dependencies = [\n]\n", someLock},
		"no lock":    {someProject, "version = 1\n"},
	} {
		if got, err := parseRequirements(files[0], files[1]); err == nil {
			t.Errorf("%s: parseRequirements() = %v, want an error", name, got)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
