package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/cli"
)

// Chunks are joined without touching the parts they came in.
func TestChunksAreJoined(t *testing.T) {
	raw := func(content, name, kind string) a2a.Part { return a2a.RawPart([]byte(content), name, kind) }
	shared := []byte("one.two.")
	parts := []a2a.Part{
		a2a.RawPart(shared[:4], "", "x/y"), raw("TWO.", "", "x/y"), raw("THREE", "", "x/y"),
		raw("named", "n", "x/y"), raw("apart", "", "x/y"), raw("other kind", "", "x/z"), raw("!", "", "x/z"),
		a2a.TextPart("text"), raw("after a text", "", "x/z"),
	}
	want := [][]byte{[]byte("one.TWO.THREE"), []byte("named"), []byte("apart"), []byte("other kind!"), []byte("after a text")}
	if diff := cmp.Diff(want, cli.FilesOf(parts)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if string(shared) != "one.two." {
		t.Errorf("the content of a part became %q", shared)
	}
}

// A file in very many chunks is not copied once for each.
func TestManyChunks(t *testing.T) {
	const chunks = 20_000
	parts := make([]a2a.Part, chunks)
	for i := range parts {
		parts[i] = a2a.RawPart([]byte("chunk"), "", "x/y")
	}
	var files [][]byte
	allocations := testing.AllocsPerRun(1, func() { files = cli.FilesOf(parts) })
	if allocations > 200 {
		t.Errorf("%v allocations for %d chunks", allocations, chunks)
	}
	if len(files) != 1 || !bytes.Equal(files[0], bytes.Repeat([]byte("chunk"), chunks)) {
		t.Errorf("there are %d files, want the chunks as one", len(files))
	}
}

// Ctrl-C ends the writing of files between two of them.
func TestWritingFilesEndsWithTheCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	paths, err := cli.WriteFiles(ctx, dir, []byte("one"), []byte("two"))
	if !errors.Is(err, context.Canceled) || len(paths) > 0 {
		t.Errorf("wrote %q, error = %v; want nothing and a cancellation", paths, err)
	}
	if got, err := os.ReadDir(dir); err != nil || len(got) > 0 {
		t.Errorf("%d files were written, %v", len(got), err)
	}
	if paths, err := cli.WriteFiles(t.Context(), dir, []byte("one"), []byte("two")); err != nil || len(paths) != 2 {
		t.Errorf("wrote %q, error = %v", paths, err)
	}
}
