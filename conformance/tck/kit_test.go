package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a git repository with one commit of one file.
func repository(t *testing.T, file, text string) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, file), text)
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", file},
		{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message=x"},
	} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	commit, err := git(t.Context(), dir, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return dir, commit
}

func TestRevision(t *testing.T) {
	kit, commit := repository(t, "pyproject.toml", someProject)
	other, _ := repository(t, "pyproject.toml", "[project]\nname = \"a2a-tck-fork\"\n")
	none, _ := repository(t, "README", "nothing\n")

	_, err := revision(t.Context(), kit, false)
	if !errors.Is(err, errOtherRevision) {
		t.Fatalf("revision() error = %v, want errOtherRevision", err)
	}
	for _, want := range []string{kitCommit, commit} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal %q is without %s", err, want)
		}
	}
	if hint := hintOf(err); !strings.Contains(hint, "--any-revision") || !strings.HasSuffix(hint, "checkout "+kitCommit) {
		t.Errorf("the hint %q is without --any-revision or the pinned revision at its end", hint)
	}
	if got, err := revision(t.Context(), kit, true); got != commit || err != nil {
		t.Errorf("revision() with any = %q, %v, want %s", got, err, commit)
	}
	for name, dir := range map[string]string{
		"another project": other, "no project": none, "no repository": t.TempDir(), "no directory": filepath.Join(kit, "x"),
	} {
		for _, anyRevision := range []bool{false, true} {
			if _, err := revision(t.Context(), dir, anyRevision); !errors.Is(err, errNoKit) {
				t.Errorf("%s: revision() error = %v, want errNoKit", name, err)
			} else if strings.Contains(err.Error(), "fatal") || strings.Contains(err.Error(), "exit status") {
				t.Errorf("%s: revision() error = %v repeats what git said", name, err)
			} else if hint := hintOf(err); !strings.HasSuffix(hint, "git -C DIR checkout "+kitCommit) {
				t.Errorf("%s: the hint %q does not end with the pinned revision", name, hint)
			}
		}
	}
}

// What runs is what was committed, whatever lies in the checkout.
func TestClone(t *testing.T) {
	kit, commit := repository(t, "pyproject.toml", someProject)
	write(t, filepath.Join(kit, "pyproject.toml"), "changed")
	write(t, filepath.Join(kit, "conftest.py"), "added")
	to := filepath.Join(t.TempDir(), "kit")
	if err := clone(t.Context(), kit, commit, to); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "pyproject.toml")); string(text) != someProject || err != nil {
		t.Errorf("the clone has %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(to, "conftest.py")); !os.IsNotExist(err) {
		t.Errorf("the clone has what was not committed: %v", err)
	}
	if err := clone(t.Context(), kit, strings.Repeat("0", 40), filepath.Join(t.TempDir(), "kit")); err == nil {
		t.Error("a commit that is not there was cloned")
	}
}
