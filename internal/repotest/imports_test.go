package repotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The two roles share protocol code and nothing else.
var roles = []string{"server", "client"}

func TestImports(t *testing.T) {
	for _, src := range sources(t) {
		room, known := rooms[src.dir]
		if !known {
			t.Errorf("package %s is in no ring: add it to the table in internal/repotest/rooms_test.go, with the least it needs to import", src.dir)
			continue
		}
		for _, imported := range src.imports() {
			if why := refused(src, room, imported); why != "" {
				t.Errorf("%s imports %s: %s", src.path, imported, why)
			}
		}
	}
}

// refused says why a file may not import a package, or nothing.
func refused(src source, room room, imported string) string {
	forTests := src.test || room.forTests
	inner, ours := strings.CutPrefix(imported, modulePath+"/")
	switch {
	case !ours && !strings.Contains(strings.Split(imported, "/")[0], "."):
		return "" // the standard library
	case !ours && (within(room.modules, imported) || forTests && within(testModules, imported)):
		return ""
	case !ours:
		return fmt.Sprintf("%s has no leave to use this module; a dependency is a decision, see internal/repotest/rooms_test.go", src.dir)
	case slices.Contains(room.imports, inner) || src.test && (inner == src.dir || slices.Contains(room.tests, inner)):
		return ""
	case rooms[inner].forTests && !forTests:
		return inner + " is for tests only"
	}
	return fmt.Sprintf("%s has no leave to import it, see internal/repotest/rooms_test.go and the rings in docs/architecture.md", src.dir)
}

func within(modules []string, imported string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		return imported == module || strings.HasPrefix(imported, module+"/")
	})
}

// The table cannot allow what the rings forbid.
func TestRingsAreKept(t *testing.T) {
	for name, from := range rooms {
		for _, inner := range from.imports {
			to, known := rooms[inner]
			switch {
			case !known:
				t.Errorf("%s may import %s, which is not in the table", name, inner)
			case to.ring > from.ring:
				t.Errorf("%s may import %s, which lies further out", name, inner)
			case from.ring == edge && to.ring == edge:
				t.Errorf("%s may import %s, but edges do not import each other", name, inner)
			case to.forTests && !from.forTests:
				t.Errorf("%s may import %s, which is for tests only", name, inner)
			}
		}
		for _, inner := range from.tests {
			if _, known := rooms[inner]; !known {
				t.Errorf("tests of %s may import %s, which is not in the table", name, inner)
			}
			if slices.Contains(roles, name) && slices.Contains(roles, inner) {
				t.Errorf("tests of %s may import %s, but the roles share protocol code and nothing else", name, inner)
			}
		}
		if path := cycle(name, nil); path != nil {
			t.Errorf("the table allows the cycle %s", strings.Join(path, " -> "))
		}
	}
}

// cycle follows the table from a package and returns the way back to where it
// has been, or nil.
func cycle(name string, been []string) []string {
	if slices.Contains(been, name) {
		return append(been, name)
	}
	been = append(slices.Clone(been), name)
	for _, inner := range rooms[name].imports {
		if path := cycle(inner, been); path != nil {
			return path
		}
	}
	return nil
}

// What nobody uses is not allowed either: leave is given when it is needed.
func TestTableIsNoWiderThanTheTree(t *testing.T) {
	used, inTests := make(map[string][]string), make(map[string][]string) // by package
	var byTests []string
	for _, src := range sources(t) {
		into := used
		if src.test {
			into = inTests
		}
		into[src.dir] = append(into[src.dir], src.imports()...)
		if src.test || rooms[src.dir].forTests {
			byTests = append(byTests, src.imports()...)
		}
	}
	for name, room := range rooms {
		if used[name] == nil && inTests[name] == nil {
			t.Errorf("%s is in the table, but there is no such package", name)
			continue
		}
		for _, inner := range room.imports {
			if !slices.Contains(used[name], modulePath+"/"+inner) {
				t.Errorf("%s may import %s, but does not", name, inner)
			}
		}
		for _, module := range room.modules {
			if !uses(used[name], module) {
				t.Errorf("%s may import %s, but does not", name, module)
			}
		}
		for _, inner := range room.tests {
			if !slices.Contains(inTests[name], modulePath+"/"+inner) {
				t.Errorf("tests of %s may import %s, but do not", name, inner)
			}
		}
	}
	for _, module := range testModules {
		if !uses(byTests, module) {
			t.Errorf("tests may import %s, but none does", module)
		}
	}
}

func uses(imported []string, module string) bool {
	return slices.ContainsFunc(imported, func(one string) bool { return within([]string{module}, one) })
}

// What the graph must refuse, whatever the table grows into.
func TestImportsAreRefused(t *testing.T) {
	tests := []struct {
		name     string
		dir      string
		test     bool
		imported string
	}{
		{"server never uses the client", "server", false, modulePath + "/client"},
		{"nor in its tests", "server", true, modulePath + "/client"},
		{"client never uses the server", "client", false, modulePath + "/server"},
		{"nor in its tests", "client", true, modulePath + "/server"},
		{"rules know no store", "task", false, modulePath + "/store/sqlite"},
		{"rules know no HTTP role", "task", false, modulePath + "/server"},
		{"vocabulary knows no rules", "a2a", false, modulePath + "/task"},
		{"a store knows no server", "store/sqlite", false, modulePath + "/server"},
		{"SQL is for stores", "task", false, modSQLite},
		{"commands are for the command line", "internal/app", false, modCobra},
		{"fakes are for tests", "client", false, modulePath + "/internal/testkit"},
		{"test modules are for tests", "task", false, "github.com/google/go-cmp/cmp"},
		{"an unknown module is a decision", "server", false, "example.com/router"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := source{path: tt.dir + "/x.go", dir: tt.dir, test: tt.test}
			if refused(src, rooms[tt.dir], tt.imported) == "" {
				t.Errorf("%s may import %s (in a test: %v), want a refusal", tt.dir, tt.imported, tt.test)
			}
		})
	}
}

func TestPackageComments(t *testing.T) {
	commented := make(map[string]bool)
	for _, src := range sources(t) {
		if src.test {
			continue
		}
		commented[src.dir] = commented[src.dir] || src.file.Doc != nil
	}
	for dir, ok := range commented {
		if !ok {
			t.Errorf("package %s has no package comment: say what it is, what it is not, its one invariant, and where to start reading", dir)
		}
	}
}
