package cli_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/legation/legation/internal/cli"
)

// Where everything is as claimed, one screen says what was compared.
func TestConformanceSummary(t *testing.T) {
	var out, errors bytes.Buffer
	if status := cli.Main([]string{"conformance", "check", "../.."}, strings.NewReader(""), &out, &errors); status != 0 {
		t.Fatalf("exit status %d\n%s%s", status, &out, &errors)
	}
	want := regexp.MustCompile(`\n +\d+  pinned partners\n(?s:.*)\neverything is as claimed; of \d+ requirements that bind us \d+ are held by tests`)
	if lines := strings.Count(out.String(), "\n"); lines > 24 || !want.MatchString(out.String()) || errors.Len() > 0 {
		t.Errorf("the summary is %d lines and should be one screen:\n%s%s", lines, &out, &errors)
	}
}

// Versions that tools make of a revision name it; releases do not.
func TestRevisionInVersion(t *testing.T) {
	for version, want := range map[string]string{
		"11dab14":                                  "11dab14",
		"11dab14-dirty":                            "11dab14",
		"v0.2.0-14-g11dab14":                       "11dab14",
		"v0.0.0-20261130152500-11dab14c49c0":       "11dab14c49c0",
		"v0.0.0-20261130152500-11dab14c49c0+dirty": "11dab14c49c0",
		"v0.2.0":        "",
		"v0.2.0-rc.1":   "",
		"unknown":       "",
		"(development)": "",
	} {
		if got := cli.RevisionIn(version); got != want {
			t.Errorf("the revision in %q is %q, want %q", version, got, want)
		}
	}
}
