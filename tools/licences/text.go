package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/google/licensecheck"
)

// licenceFile matches the names under which modules keep their terms.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|unlicense)([-.].*)?$`)

const (
	// least is how much of a file must be the text of known licences, in
	// percent. The rest is names, years and headings.
	least = 70

	maxFile = 1 << 20
)

// licencesOf recognises the licences in the root of a module, by SPDX
// identifier. A file that is mostly something else counts as "unknown".
func licencesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() > maxFile {
			found = append(found, "unknown ("+entry.Name()+")")
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, recognise(entry.Name(), text)...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func recognise(name string, text []byte) []string {
	if known, ok := reviewed[fmt.Sprintf("%x", sha256.Sum256(text))]; ok {
		return known.terms
	}
	coverage := licensecheck.Scan(text)
	if coverage.Percent < least {
		return []string{"unknown (" + name + ")"}
	}
	var found []string
	for _, match := range coverage.Match {
		if !match.IsURL {
			found = append(found, match.ID)
		}
	}
	return found
}
