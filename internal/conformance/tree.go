package conformance

import (
	"bytes"
	"errors"
	"fmt"
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

// What is read of a tree is bounded. Larger files hold nothing that is compared.
const (
	maxFile  = 4 << 20
	maxFiles = 50_000
	maxTree  = 256 << 20
)

// tree is the text files of a checkout by their path from its root.
type tree struct {
	files map[string][]byte
	names []string // sorted
}

// readTree reads every text file, without what tools put beside them.
func readTree(root fs.FS) (tree, error) {
	t := tree{files: make(map[string][]byte)}
	total := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if foreign(root, name) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone since it was listed
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !isText(data) {
			return err
		}
		if total += len(data); total > maxTree || len(t.files) >= maxFiles {
			return errors.New("the tree is too large to be a checkout of Legation")
		}
		t.files[name] = data
		return nil
	})
	if err != nil {
		return tree{}, err
	}
	t.names = slices.Sorted(maps.Keys(t.files))
	return t, nil
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

func isText(data []byte) bool {
	return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
}

var moduleLine = regexp.MustCompile(`(?m)^module ` + regexp.QuoteMeta(modulePath) + `\r?$`)

// Root finds the checkout that a directory lies in.
func Root(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(start); err != nil {
		return "", err
	}
	for at := start; ; at = filepath.Dir(at) {
		if data, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && moduleLine.Match(data) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a checkout of Legation: there is no go.mod of %s in it or above; give the directory of one", start, modulePath)
		}
	}
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

// line is the number of the line that a byte of a file is on.
func line(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }
