// Command licences is a gate: every module that a package of ours links must
// come under a licence that we may ship, and every module that our tests link
// under one that we may use.
//
// It reads the licence files of the modules in the module cache and judges them
// by their text, not by what somebody says about them. It is no legal advice.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Licences by the identifiers of SPDX. What tests alone link is not shipped, so
// the file-level copyleft of MPL-2.0 reaches nothing of ours.
var (
	shipped = []string{
		"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD-0-Clause", "0BSD", "ISC", "MIT", "MIT-0",
		"Unlicense", "CC0-1.0", "blessing",
	}
	testsOnly = []string{"MPL-2.0", "MPL-2.0-no-copyleft-exception"}
)

func main() {
	dir := flag.String("module", ".", "directory of the module to judge")
	flag.Parse()
	if err := run(os.Stdout, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "licences: error:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, dir string) error {
	modules, err := linked(dir)
	if err != nil {
		return err
	}
	bad := 0
	for _, m := range modules {
		found, err := licencesOf(m.Dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		why := judge(found, m.TestsOnly)
		use := "product"
		if m.TestsOnly {
			use = "tests"
		}
		fmt.Fprintf(out, "%-8s %-46s %-14s %s\n", use, m.Path, m.Version, strings.Join(found, " + "))
		if why != "" {
			bad++
			fmt.Fprintf(out, "         refused: %s\n", why)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d modules come under terms that we cannot accept", bad, len(modules))
	}
	return nil
}

// judge says why a module's licences are not good enough, or nothing. All of
// them must be.
func judge(found []string, tests bool) string {
	if len(found) == 0 {
		return "no licence text was recognised"
	}
	for _, id := range found {
		switch {
		case slices.Contains(shipped, id):
		case tests && slices.Contains(testsOnly, id):
		case slices.Contains(testsOnly, id):
			return id + " is for what only tests link"
		default:
			return id + " is not on the list"
		}
	}
	return ""
}
