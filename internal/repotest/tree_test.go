package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/legation/legation"

// source is one Go file of the module.
type source struct {
	path string // from the root, with slashes
	dir  string // its package, from the root
	test bool
	file *ast.File
	fset *token.FileSet
}

func (s source) imports() []string {
	paths := make([]string, 0, len(s.file.Imports))
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// root is the module's directory.
const root = "../.."

// files lists every file that is part of the repository, Go or not, including
// those of nested modules. Directories that tools write into are left out.
var files = sync.OnceValues(func() ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			switch path.Base(rel) {
			case ".git", ".bin", "dist", "node_modules", ".venv", "__pycache__":
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || rel == "legation" || strings.HasSuffix(rel, ".test") || strings.HasSuffix(rel, ".prof") {
			return nil
		}
		found = append(found, rel)
		return nil
	})
	return found, err
})

func allFiles(t *testing.T) []string {
	t.Helper()
	list, err := files()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("found only %d files: this is not the repository", len(list))
	}
	return list
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sources parses the module's own Go files, for every platform, without those
// of nested modules and test data.
func sources(t *testing.T) []source {
	t.Helper()
	list := allFiles(t)
	nested := make(map[string]bool)
	for _, name := range list {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			nested[path.Dir(name)] = true
		}
	}
	var found []source
	for _, name := range list {
		if path.Ext(name) != ".go" || inside(nested, name) || strings.Contains(name, "testdata/") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, read(t, name), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, source{
			path: name, dir: path.Dir(name), file: file, fset: fset,
			test: strings.HasSuffix(name, "_test.go"),
		})
	}
	return found
}

func inside(dirs map[string]bool, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}
