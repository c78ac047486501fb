package extension_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/extension"
)

func TestKnown(t *testing.T) {
	var acted, seen []string
	for _, e := range extension.Known() {
		if slices.Contains(seen, e.URI) {
			t.Errorf("%s is there twice", e.URI)
		}
		seen = append(seen, e.URI)
		if e.Acted {
			acted = append(acted, e.URI)
		}
		if e.Stability == "" || len(e.Places) == 0 || e.NotRequested == "" || e.NotAnnounced == "" || !strings.HasSuffix(e.Description, ".") {
			t.Errorf("%s is not described: %+v", e.URI, e)
		}
		if e.Stability == extension.Experimental && e.Acted {
			t.Errorf("%s is acted on while it may still change", e.URI)
		}
		found, ok := extension.Lookup(e.URI)
		if diff := cmp.Diff(e, found); diff != "" || !ok {
			t.Errorf("Lookup(%s) (-want +got)\n%s", e.URI, diff)
		}
	}
	if diff := cmp.Diff([]string{extension.Skill, extension.Retry, extension.TokenBudget}, acted); diff != "" {
		t.Errorf("acted on (-want +got)\n%s", diff)
	}
	for _, uri := range []string{"", "urn:legation:skill:v2", "URN:legation:skill:v1", extension.TokenBudget + "/"} {
		if _, ok := extension.Lookup(uri); ok {
			t.Errorf("%q is known", uri)
		}
	}
}

// The page that people read says what the table says.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/extensions.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range extension.Known() {
		acted, places := "by name only", []string{}
		if e.Acted {
			acted = "yes"
		}
		for _, place := range e.Places {
			places = append(places, string(place))
		}
		want = append(want, "| `"+e.URI+"` | "+string(e.Stability)+" | "+strings.Join(places, ", ")+" | "+acted+" | "+e.NotRequested+" | "+e.NotAnnounced+" |")
	}
	for _, rule := range extension.Rules() {
		want = append(want, "| "+rule.Case+" | "+rule.Server+" | "+rule.Client+" |")
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| URI ") && !strings.HasPrefix(line, "| Case ") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/extensions.md (-table +page)\n%s", diff)
	}
}
