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
