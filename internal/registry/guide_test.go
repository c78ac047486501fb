package registry_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/legation/legation/internal/registry"
)

// What the guide shows is what can be applied: each example by itself, and all
// of them together.
func TestTheGuidesDocuments(t *testing.T) {
	const guide = "../../docs/administration.md"
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var all []registry.Document
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```|<<'EOD'\n(.*?)EOD\n").FindAllSubmatch(text, -1)
	if len(examples) != 6 {
		t.Fatalf("%d examples, want 6", len(examples))
	}
	for _, example := range examples {
		docs, err := registry.Decode(guide, append(example[1], example[2]...))
		if err != nil {
			t.Errorf("%v in:\n%s", err, example[0])
		}
		all = append(all, docs...)
	}
	if err := registry.Resolve(all, registry.Host{}); err != nil {
		t.Error(err)
	}
}
