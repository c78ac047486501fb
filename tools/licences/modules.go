package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// module is a module that packages of ours link.
type module struct {
	Path      string
	Version   string
	Dir       string
	Main      bool
	TestsOnly bool `json:"-"`
}

// platforms are those whose dependencies are judged: the first two are the
// ones binaries are made for, and Windows has dependencies of its own.
var platforms = []string{"linux", "darwin", "windows"}

// linked lists the modules that a module's packages and tests link, sorted.
func linked(dir string) ([]module, error) {
	found := make(map[string]module)
	for _, goos := range platforms {
		for _, tests := range []bool{false, true} {
			linked, err := dependencies(dir, goos, tests)
			if err != nil {
				return nil, err
			}
			for _, m := range linked {
				if before, known := found[m.Path]; !known || before.TestsOnly && !tests {
					m.TestsOnly = tests
					found[m.Path] = m
				}
			}
		}
	}
	modules := make([]module, 0, len(found))
	for _, m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	return modules, nil
}

// forTests are the packages that only tests import: they are in no binary.
var forTests = []string{"/store/storetest", "/internal/testkit"}

func dependencies(dir, goos string, tests bool) ([]module, error) {
	args := []string{"-deps", "-json=Module"}
	if tests {
		args = append(args, "-test", "./...")
	} else {
		all, err := list(dir, goos, "./...")
		if err != nil {
			return nil, err
		}
		args = append(args, slices.DeleteFunc(strings.Fields(string(all)), isForTests)...)
	}
	out, err := list(dir, goos, args...)
	if err != nil {
		return nil, err
	}
	var modules []module
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var pkg struct{ Module *module }
		switch err := decoder.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return modules, nil
		case err != nil:
			return nil, err
		}
		if pkg.Module != nil && !pkg.Module.Main {
			modules = append(modules, *pkg.Module)
		}
	}
}

func isForTests(pkg string) bool {
	return slices.ContainsFunc(forTests, func(suffix string) bool { return strings.HasSuffix(pkg, suffix) })
}

// list runs go list for a platform.
func list(dir, goos string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", goos, err)
	}
	return out, nil
}
