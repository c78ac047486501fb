package conformance_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/legation/legation/internal/conformance"
)

// repository is this checkout's files in memory, for tests to change. Of the
// tests it has those of one package, which is enough and quicker, and a document
// that tells so.
var repository = sync.OnceValues(func() (fstest.MapFS, error) {
	files, err := conformance.ReadTree(os.DirFS("../.."))
	if err != nil {
		return nil, err
	}
	tree := make(fstest.MapFS, len(files))
	for name, data := range files {
		if strings.HasPrefix(name, "a2a/") || !strings.HasSuffix(name, "_test.go") {
			tree[name] = &fstest.MapFile{Data: data}
		}
	}
	page, err := conformance.Page(tree)
	tree[conformance.PageFile] = &fstest.MapFile{Data: page}
	return tree, err
})

func checkout(t *testing.T) fstest.MapFS {
	t.Helper()
	tree, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	return maps.Clone(tree)
}

// edit replaces text in a file that has it.
func edit(t *testing.T, tree fstest.MapFS, name, before, after string) {
	t.Helper()
	file := tree[name]
	if file == nil || !strings.Contains(string(file.Data), before) {
		t.Fatalf("%s has no %q to change", name, before)
	}
	tree[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(file.Data), before, after, 1))}
}

// seen is what the server of this checkout shows.
var seen = sync.OnceValues(func() (*conformance.Seen, error) {
	tree, err := repository()
	if err != nil {
		return nil, err
	}
	return conformance.Show(context.Background(), tree)
})

// asItIs are the differences of the checkout before a test changes it.
var asItIs = sync.OnceValues(func() ([]string, error) {
	tree, err := repository()
	if err != nil {
		return nil, err
	}
	server, err := seen()
	if err != nil {
		return nil, err
	}
	return lines(conformance.Compare(tree, server))
})

// lines are the differences of a report.
func lines(report *conformance.Report, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	lines := make([]string, 0, len(report.Differences))
	for _, difference := range report.Differences {
		lines = append(lines, difference.String())
	}
	return lines, nil
}

// news are the differences of a changed tree that the tree as it is has not,
// and those of the same server with another card, if there is one.
func news(t *testing.T, changed fs.FS, card ...string) []string {
	t.Helper()
	before, err := asItIs()
	if err != nil {
		t.Fatal(err)
	}
	server, err := seen()
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range card {
		server = server.WithCard(other)
	}
	after, err := lines(conformance.Compare(changed, server))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) })
}

// What is claimed is so: the check of this checkout names nothing.
func TestTheTreeIsAsClaimed(t *testing.T) {
	report, err := conformance.Check(t.Context(), os.DirFS("../.."), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, difference := range report.Differences {
		t.Error(difference)
	}
	for _, compared := range report.Compared {
		if compared.Count == 0 {
			t.Errorf("nothing was compared of: %s", compared.What)
		}
	}
	const requirements, binding = 398 + 62, 450
	if got := report.Coverage; got.Total != requirements || got.Binding != binding {
		t.Errorf("%d requirements of which %d bind us, want %d and %d", got.Total, got.Binding, requirements, binding)
	}
}
