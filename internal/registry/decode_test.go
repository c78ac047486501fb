package registry_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/legation/legation/internal/registry"
)

// updating reports whether expected texts are to be written anew.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// golden compares what is told about the files of an archive with its section
// named problems.
func golden(t *testing.T, pattern string, told func(*testing.T, *txtar.Archive) string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no files like %s: %v", pattern, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := &archive.Files[len(archive.Files)-1]
			got := told(t, archive)
			if updating() {
				last.Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(last.Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProblemsOfATextAreTold(t *testing.T) {
	golden(t, "testdata/problems/*.txt", func(t *testing.T, archive *txtar.Archive) string {
		file := archive.Files[0]
		docs, err := registry.Decode(file.Name, file.Data)
		var problems registry.Problems
		if !errors.As(err, &problems) || docs != nil {
			t.Fatalf("Decode() = %d documents, %v, want problems", len(docs), err)
		}
		// REQ-GEN-04: what may be a secret is not repeated.
		for _, marker := range []string{"hunter2", "marker", "unfinished"} {
			if strings.Contains(err.Error(), marker) {
				t.Errorf("a problem repeats %s", marker)
			}
		}
		return err.Error() + "\n"
	})
}

func TestAnEmptyTextHasNoDocuments(t *testing.T) {
	for _, text := range []string{"", "\n\n", "---\n", "# nothing\n---\n---\n", "null", "\uFEFF", "---\n...\n"} {
		docs, err := registry.Decode("x", []byte(text))
		if err != nil || len(docs) != 0 {
			t.Errorf("Decode(%q) = %v, %v", text, docs, err)
		}
	}
}

func TestLineBreaksOfWindows(t *testing.T) {
	doc := decode(t, "kind: Secret\r\nname: a\r\nspec:\r\n  description: |\r\n    one\r\n    two\r\n")[0]
	if got := doc.Spec.(*registry.Secret).Description; got != "one\ntwo\n" {
		t.Errorf("description = %q", got)
	}
}

func TestBothNotationsSayTheSame(t *testing.T) {
	fromYAML := decode(t, "---\nkind: Configuration\nname: c\nspec: {provider: p, limits: {cost: 0.5, rounds: 3}}\n")
	fromJSON := decode(t, `  {"spec":{"limits":{"rounds":3,"cost":0.50},"provider":"p"},"name":"c","kind":"Configuration"}`)
	if diff := cmp.Diff(fromYAML, fromJSON); diff != "" {
		t.Error(diff)
	}
	const want = `{"kind":"Configuration","name":"c","spec":{"provider":"p","limits":{"rounds":3,"cost":0.5}}}`
	if got := string(registry.EncodeJSON(fromJSON[0])); got != want {
		t.Errorf("EncodeJSON() = %s, want %s", got, want)
	}
}

func TestTextsAreBounded(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"size":         {strings.Repeat("#", 4<<20+1), "the text is longer than 4 MiB"},
		"encoding":     {"kind: Secret\nname: \xff", "x:2:1: the text is not UTF-8"},
		"documents":    {strings.Repeat("{\"kind\":\"Secret\"}", 10_001), "there are more than 10,000 documents"},
		"parts":        {strings.Repeat("---\n", 10_002), "there are more than 10,000 documents"},
		"flow":         {strings.Repeat("[", 5_000), "nested deeper than 32"},
		"flow objects": {strings.Repeat("{a: ", 2_000), "nested deeper than 32"},
		"block":        {strings.Repeat("- ", 5_000), "nested deeper than 32"},
		"indentation":  {indented(200), "nested deeper than 32"},
		"json":         {`{"a":` + strings.Repeat("[", 5_000), "nested deeper than 32"},
		"tokens":       {strings.Repeat("a: b\n", 20_000), "x:1:1: the text has too many parts"},
		"effort":       {strings.Repeat(strings.Repeat("- a\n", 4_900)+"---\n", 18), "the text has too many parts"},
		"document":     {"kind: Secret\nname: a # " + strings.Repeat("x", 1<<20), "x:1:1: the document is larger than 1 MiB"},
		"values":       {`{"kind":"RemoteAgent","name":"a","spec":{"url":"https://a.example","credential":{"none":true}}}` + many, "Agent/many: the document is larger than 1 MiB or has more than 2,500 values"},
		"line breaks":  {"kind: Secret\r\nname: a\rb", "x:2:1: there is a carriage return that ends no line"},
		"empty lines":  {"kind: Secret\nname: a\nspec:\n  description: |\n    a\n" + strings.Repeat(" \n", 101), "x:106:1: there are more than 100 empty lines in a row"},
		"laughs":       {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "anchors, aliases and merges are not used here"},
		"tags":         {strings.Repeat("!a ", 2_000), "tags and directives are not used here"},
		"problems":     {"kind: Secret\nname: a\nspec:\n" + keys(150), "and more problems (mend these first)"},
		"text":         {"kind: Secret\nname: a\nspec: {description: " + strings.Repeat("x", 1025) + "}", "is longer than 1024 bytes"},
		"list":         {"kind: Provider\nname: a\nspec: {type: echo, exceptions: [" + strings.Repeat("a,", 65) + "]}", "has more than 64 items"},
		"control":      {"{\"kind\":\"Secret\",\"name\":\"a\",\"spec\":{\"description\":\"\\u0007\"}}", "has a control character"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := registry.Decode("x", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Decode() = %.300v, want %q", err, test.want)
			}
		})
	}
}

// many is an agent with more values than there may be.
var many = `{"kind":"Agent","name":"many","spec":{"card":{"description":"d"},"skills":[` + strings.TrimSuffix(strings.Repeat(skill, 250), ",") + `]}}`

const skill = `{"id":"s","configuration":"c","description":"d","tags":["a","b","c","d","e","f","g"]},`

func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func keys(n int) string {
	var b bytes.Buffer
	for range n {
		b.WriteString("  unknown: 1\n")
	}
	return b.String()
}

func decode(t *testing.T, text string) []registry.Document {
	t.Helper()
	docs, err := registry.Decode("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}
