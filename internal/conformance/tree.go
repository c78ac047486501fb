package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const modulePath = "github.com/legation/legation"

// What is read of a tree is bounded, as it may be anybody's. Larger files hold
// nothing that is compared.
const (
	maxFile    = 4 << 20
	maxTree    = 64 << 20
	maxEntries = 50_000  // files and directories
	maxParsed  = 1 << 20 // of Go, whose syntax tree takes up far more
	maxYAML    = 256 << 10
	maxList    = 5_000   // requirements, and reasons for them
	prefix     = 8 << 10 // tells a binary file
)

var errTooLarge = errors.New("the tree is too large to be a checkout of Legation")

// tree is the text files of a checkout by their path from its root.
type tree struct {
	files map[string][]byte
	names []string // sorted
}

// reader fills a tree.
type reader struct {
	root    fs.FS
	files   map[string][]byte
	entries int
	bytes   int
}

// readTree reads every text file, without what tools put beside them. Links are
// not followed.
func readTree(root fs.FS) (tree, error) {
	r := reader{root: root, files: make(map[string][]byte)}
	if err := r.dir("."); err != nil {
		return tree{}, err
	}
	return tree{files: r.files, names: slices.Sorted(maps.Keys(r.files))}, nil
}

// dir reads a directory piece by piece, so that a huge one ends early.
func (r *reader) dir(name string) error {
	dir, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	list, ok := dir.(fs.ReadDirFile)
	if !ok {
		return &fs.PathError{Op: "readdir", Path: name, Err: errors.ErrUnsupported}
	}
	for {
		entries, err := list.ReadDir(256)
		for _, entry := range entries {
			if r.entries++; r.entries > maxEntries {
				return errTooLarge
			}
			if err := r.entry(path.Join(name, entry.Name()), entry); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err // or gone since it was listed
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) entry(name string, entry fs.DirEntry) error {
	if entry.IsDir() {
		if foreign(r.root, name) {
			return nil
		}
		return r.dir(name)
	}
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return err
	}
	file, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := readText(file)
	if err != nil || data == nil {
		return err
	}
	if r.bytes += len(data); r.bytes > maxTree {
		return errTooLarge
	}
	r.files[name] = data
	return nil
}

// readText returns what a file holds if that is text of a bounded size, and
// else nothing.
func readText(file io.Reader) ([]byte, error) {
	text := bytes.NewBuffer(make([]byte, 0, prefix))
	for _, most := range []int64{prefix, maxFile - prefix + 1} {
		if _, err := io.Copy(text, io.LimitReader(file, most)); err != nil {
			return nil, err
		}
		if text.Len() > maxFile || bytes.IndexByte(text.Bytes(), 0) >= 0 {
			return nil, nil
		}
	}
	if !utf8.Valid(text.Bytes()) {
		return nil, nil
	}
	return text.Bytes(), nil
}

// foreign tells directories that tools fill from those of the repository.
func foreign(root fs.FS, dir string) bool {
	switch path.Base(dir) {
	case ".git", ".bin", "dist", "node_modules", "__pycache__":
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "pyvenv.cfg"))
	return err == nil
}

var moduleLine = regexp.MustCompile(`(?m)^module ` + regexp.QuoteMeta(modulePath) + `\r?$`)

// Root finds the checkout that a directory lies in.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(start); err != nil {
		return "", fmt.Errorf("%w; give the directory of a checkout", err)
	}
	for at := start; ; at = filepath.Dir(at) {
		if ours(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a checkout of Legation: there is no go.mod of %s in it or above; give the directory of one", start, modulePath)
		}
	}
}

// ours reports whether a directory has the module's go.mod.
func ours(dir string) bool {
	name := filepath.Join(dir, "go.mod")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	data, err := readText(file)
	return err == nil && moduleLine.Match(data)
}

// under are the files below a directory whose name ends so, in order.
func (t tree) under(dir, suffix string) []string {
	var found []string
	for _, name := range t.names {
		if strings.HasSuffix(name, suffix) && (dir == "" || strings.HasPrefix(name, dir+"/")) {
			found = append(found, name)
		}
	}
	return found
}

// lines tells which line a byte of a file is on.
type lines []int

func linesOf(data []byte) lines {
	var ends lines
	for i, b := range data {
		if b == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// line is the number of the line that a byte is on.
func (l lines) line(offset int) int {
	before, _ := slices.BinarySearch(l, offset)
	return before + 1
}
