package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// requirements are the Python packages that the kit declares, and the versions
// that its lock file holds them and theirs to.
type requirements struct {
	declared []string // as in "pytest>=8.0"
	locked   []string // as in "pytest==9.0.2"
}

func (r requirements) lines() string       { return strings.Join(r.declared, "\n") + "\n" }
func (r requirements) constraints() string { return strings.Join(r.locked, "\n") + "\n" }

func readRequirements(kit string) (requirements, error) {
	project, err := os.ReadFile(filepath.Join(kit, "pyproject.toml"))
	if err != nil {
		return requirements{}, err
	}
	lock, err := os.ReadFile(filepath.Join(kit, "uv.lock"))
	if err != nil {
		return requirements{}, err
	}
	return parseRequirements(string(project), string(lock))
}

// The two files are written by tools, in one form each: all that is read here
// is one list of strings, and pairs of lines.
var (
	dependencyList = regexp.MustCompile(`(?m)^dependencies = \[\n((?:\s*"[^"\n]+",?\n)*)\]$`)
	quoted         = regexp.MustCompile(`"([^"]+)"`)
	lockedPackage  = regexp.MustCompile(`(?m)^\[\[package\]\]\nname = "([^"]+)"\nversion = "([^"]+)"\nsource = \{ registry = `)
)

// parseRequirements reads pyproject.toml and uv.lock. A package that the lock
// file has in several versions, for different machines, is not held to one.
func parseRequirements(project, lock string) (requirements, error) {
	var need requirements
	list := dependencyList.FindStringSubmatch(project)
	if list == nil {
		return need, errors.New("pyproject.toml has no list of dependencies")
	}
	for _, found := range quoted.FindAllStringSubmatch(list[1], -1) {
		need.declared = append(need.declared, found[1])
	}
	packages := lockedPackage.FindAllStringSubmatch(lock, -1)
	versions := make(map[string]int)
	for _, found := range packages {
		versions[found[1]]++
	}
	for _, found := range packages {
		if versions[found[1]] == 1 {
			need.locked = append(need.locked, found[1]+"=="+found[2])
		}
	}
	if len(need.declared) == 0 || len(need.locked) == 0 {
		return need, fmt.Errorf("pyproject.toml declares %d packages and uv.lock locks %d: neither may be none",
			len(need.declared), len(need.locked))
	}
	return need, nil
}
