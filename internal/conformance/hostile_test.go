package conformance_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/conformance"
)

// What is read is bounded, whatever a tree holds.
func TestLargeTreesAreRefused(t *testing.T) {
	many := fstest.MapFS{}
	for i := range 50_001 {
		many[fmt.Sprintf("a/%d", i)] = &fstest.MapFile{}
	}
	large := fstest.MapFS{}
	text := &fstest.MapFile{Data: bytes.Repeat([]byte("text\n"), 800_000)}
	for i := range 17 {
		large[fmt.Sprintf("a/%d", i)] = text
	}
	for name, tree := range map[string]fs.FS{"entries": many, "bytes": large} {
		if _, err := conformance.ReadTree(tree); err == nil || !strings.Contains(err.Error(), "too large to be a checkout") {
			t.Errorf("%s: ReadTree() error = %v, want one that says it is too large", name, err)
		}
	}
}

func TestWhatIsNoTextIsNotRead(t *testing.T) {
	binary := append([]byte("head\x00"), bytes.Repeat([]byte("x"), 1<<20)...)
	files, err := conformance.ReadTree(endless{fstest.MapFS{
		"text":         {Data: []byte("x")},
		"long":         {Data: bytes.Repeat([]byte("x\n"), 10_000)},
		"binary":       {Data: binary},
		"late binary":  {Data: append(bytes.Repeat([]byte("x"), 10_000), 0)},
		"latin":        {Data: []byte("\xff")},
		"too long":     {Data: make([]byte, 4<<20+1)},
		"endless":      {Data: []byte("x")},
		"link":         {Data: []byte("text"), Mode: fs.ModeSymlink},
		"pipe":         {Mode: fs.ModeNamedPipe},
		".ci/run":      {Data: []byte("x")},
		".git/config":  {Data: []byte("x")},
		"dist/program": {Data: []byte("x")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for name, data := range files {
		names[name] = len(data)
	}
	if diff := cmp.Diff(map[string]int{"text": 1, "long": 20_000, ".ci/run": 1}, names); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
}

// endless is a tree one file of which has no end, whatever its size says.
type endless struct{ fstest.MapFS }

func (e endless) Open(name string) (fs.File, error) {
	file, err := e.MapFS.Open(name)
	if name == "endless" {
		file = zeal{file}
	}
	return file, err
}

type zeal struct{ fs.File }

func (zeal) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Neither files nor go.mod are read through a link.
func TestLinksAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no endless device")
	}
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "README.md"} {
		if err := os.Symlink("/dev/zero", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(dir, "docs")); err != nil {
		t.Fatal(err)
	}
	if files, err := conformance.ReadTree(os.DirFS(dir)); err != nil || len(files) > 0 {
		t.Errorf("ReadTree() = %d files, %v, want none", len(files), err)
	}
	if _, err := conformance.Root(dir); err == nil {
		t.Error("Root() took a link for the module's go.mod")
	}
}

// Many differences are cut short, and the last one says so.
func TestManyDifferencesEnd(t *testing.T) {
	tree := checkout(t)
	tree["docs/more.md"] = &fstest.MapFile{Data: []byte(strings.Repeat("A2A 0.9\n", 20_000))}
	got := news(t, tree)
	if last := got[len(got)-1]; len(got) > 1001 || !strings.HasPrefix(last, "differences: the tree: claimed none, found 19") {
		t.Errorf("there are %d differences, and the last one is %s", len(got), last)
	}
}

// Source that would make much of little is not parsed.
func TestLargeSourceIsNotParsed(t *testing.T) {
	tree := checkout(t)
	large := append([]byte("package a2a\n\n"), bytes.Repeat([]byte("// x\n"), 250_000)...)
	tree["a2a/version.go"] = &fstest.MapFile{Data: large}
	tree["a2a/large_test.go"] = &fstest.MapFile{Data: append(large, "// REQ-PJ-01\nfunc TestLarge(t *testing.T) { t.Log() }\n"...)}
	got := strings.Join(news(t, tree), "\n")
	for _, want := range []string{
		"source: a2a/version.go: claimed Go of at most 1 MiB, found more (split the file)",
		"citation of REQ-PJ-01: a2a/large_test.go: claimed a test that runs, found a file that is too large to be read",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no difference is %q among\n%s", want, got)
		}
	}
}

// The YAML library would take gigabytes for these.
func TestDeepTextsAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"flow":  strings.Repeat("[", 100_000),
		"maps":  strings.Repeat("{a: ", 50_000),
		"block": strings.Repeat("- ", 100_000),
		"keys":  strings.Repeat("? ", 100_000),
	} {
		tree := checkout(t)
		tree["conformance/claim.yaml"] = &fstest.MapFile{Data: []byte(text)}
		if _, err := conformance.Page(tree); err == nil || !strings.Contains(err.Error(), "conformance/claim.yaml is nested deeper") {
			t.Errorf("%s: Page() error = %.200v", name, err)
		}
	}
}

func TestLongListsAreRefused(t *testing.T) {
	var table, ids strings.Builder
	for i := range 101 {
		for j := range 51 {
			fmt.Fprintf(&table, "REQ-%c%c%c-%02d\tMAY\tboth\tx\n", 'A'+i/26, 'A'+i%26, 'Z', j)
			fmt.Fprintf(&ids, "REQ-PJ-01, ")
		}
	}
	for name, test := range map[string]struct{ text, want string }{
		"conformance/requirements.tsv": {table.String(), "more than 5000 requirements"},
		"conformance/pending.yaml":     {"- {ids: [" + ids.String() + "], reason: x}", "more than 5000 ids"},
		"conformance/claim.yaml":       {strings.Repeat("# x\n", 70_000), "longer than 262144 bytes"},
	} {
		tree := checkout(t)
		tree[name] = &fstest.MapFile{Data: []byte(test.text)}
		if _, err := conformance.Page(tree); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Page() error = %v, want one with %q", name, err, test.want)
		}
	}
}
