package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A whole run, but for what the kit and the test agent do. Evidence is written of
// both sets at the pinned revision only, and never of a run that failed.
func TestRunCommit(t *testing.T) {
	kit, commit := repository(t, "pyproject.toml", someProject)
	self := plays(t, "")
	venv := t.TempDir()
	if err := os.Mkdir(filepath.Join(venv, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(venv, "bin", "python")); err != nil {
		t.Fatal(err)
	}
	link := func(_ context.Context, _, program string) error { return os.Symlink(self, program) }

	for _, test := range []struct {
		name, cases string
		sets        []string
		pass        bool
		want        string
	}{
		{"another revision", allKnown(t, "on"), []string{"on"}, true, "passed; no evidence is written"},
		{"a test fails", allKnown(t, "off") + `<testcase classname="a" name="b"><error message="e"/></testcase>`, []string{"off"}, false, "WRONG: FAILED a.b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, _ := repository(t, "README", "x")
			t.Setenv(playEnv, test.cases)
			var out bytes.Buffer
			err := runCommit(t.Context(), settings{kit: kit, venv: venv, sets: test.sets}, commit, root, link, &out)
			if (err == nil) != test.pass {
				t.Errorf("runCommit() error = %v", err)
			}
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("it says %q, without %q", &out, test.want)
			}
			if _, err := os.Stat(filepath.Join(root, evidenceFile)); !os.IsNotExist(err) {
				t.Errorf("there is evidence: %v", err)
			}
			if _, err := os.Stat(filepath.Join(root, workDir, test.sets[0]+".log")); err != nil {
				t.Errorf("no log is left: %v", err)
			}
		})
	}
}
