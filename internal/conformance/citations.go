package conformance

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// citation is the id of a requirement beside what holds it.
var citation = regexp.MustCompile(`\b(?:REQ-[A-Z]+|PVP|PVX)-\d+\b`)

// cited are the ids in a text.
func cited(text []byte) []string {
	if !bytes.Contains(text, []byte("REQ-")) && !bytes.Contains(text, []byte("PV")) {
		return nil
	}
	return citation.FindAllString(string(text), -1)
}

// Directories whose code is tests that others run, and where the tests speak of
// ids without holding what they stand for.
var (
	suites  = []string{"store/storetest"}
	speaker = "internal/conformance"
)

// citations are the tests that say which requirement they hold.
type citations struct {
	tests map[string][]string // by id, sorted
	stray []stray
	been  map[[2]string]bool // id and test
}

// stray is a citation in something that no test reaches, or in a test that
// tests nothing, and then why.
type stray struct{ id, place, idle string }

func (c *citations) add(id, test string) {
	if one := [2]string{id, test}; !c.been[one] {
		c.been[one] = true
		c.tests[id] = append(c.tests[id], test)
	}
}

func (c *citations) ids() []string { return slices.Sorted(maps.Keys(c.tests)) }

// readCitations looks into test functions and what they use, transcripts
// (outside of what is sent and answered) and comments of command scripts.
func readCitations(t tree) *citations {
	c := &citations{tests: make(map[string][]string), been: make(map[[2]string]bool)}
	packages := make(map[string]*testPackage)
	for _, name := range t.names {
		dir := path.Dir(name)
		switch {
		case dir == speaker:
		case strings.Contains("/"+dir+"/", "/testdata/"):
			c.document(name, t.files[name])
		case strings.HasSuffix(name, "_test.go"), path.Ext(name) == ".go" && slices.Contains(suites, dir):
			if packages[dir] == nil {
				packages[dir] = newTestPackage(dir)
			}
			packages[dir].files = append(packages[dir].files, name)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		packages[dir].cite(t, c)
		delete(packages, dir) // it is large
	}
	for _, tests := range c.tests {
		slices.Sort(tests)
	}
	return c
}

// document reads a transcript or a script.
func (c *citations) document(name string, data []byte) {
	if cited(data) == nil {
		return
	}
	idle := idleDocument(name, data)
	for text := range strings.Lines(string(data)) {
		switch path.Ext(name) {
		case ".txt":
			if strings.HasPrefix(text, ">") || strings.HasPrefix(text, "<") {
				continue
			}
		case ".txtar":
			if !strings.HasPrefix(text, "#") {
				continue
			}
		default:
			return
		}
		for _, id := range cited([]byte(text)) {
			if idle != "" {
				c.stray = append(c.stray, stray{id: id, place: name, idle: idle})
				continue
			}
			c.add(id, strings.TrimSuffix(name, path.Ext(name)))
		}
	}
}

// testPackage is the test files of one directory.
type testPackage struct {
	dir   string
	files []string
	decls map[string][]*testDecl // by name
}

// testDecl is one declaration outside of functions.
type testDecl struct {
	place string
	test  bool   // is run by go test, or by others
	idle  string // why it is not, although it looks like a test
	uses  []string
	cites []string
}

func newTestPackage(dir string) *testPackage {
	return &testPackage{dir: dir, decls: make(map[string][]*testDecl)}
}

// cite gives every citation to the test that it is in, or to the first test
// that uses what it is in.
func (p *testPackage) cite(t tree, c *citations) {
	if !slices.ContainsFunc(p.files, func(name string) bool { return cited(t.files[name]) != nil }) {
		return
	}
	for _, name := range p.files {
		p.read(name, t.files[name])
	}
	given := make(map[*testDecl]bool)
	for _, name := range slices.Sorted(maps.Keys(p.decls)) {
		for _, decl := range p.decls[name] {
			if decl.test {
				p.give(decl, p.dir+"."+name, c, given, true)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.decls)) {
		for _, decl := range p.decls[name] {
			if decl.test {
				p.give(decl, p.dir+"."+name, c, given, false)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.decls)) {
		for _, decl := range p.decls[name] {
			if given[decl] {
				continue
			}
			given[decl] = true
			for _, id := range decl.cites {
				c.stray = append(c.stray, stray{id: id, place: decl.place, idle: decl.idle})
			}
		}
	}
}

// give gives what a declaration cites to a test, and unless it is the only one
// meant, what the declarations cite that it uses and nobody has yet.
func (p *testPackage) give(decl *testDecl, test string, c *citations, given map[*testDecl]bool, only bool) {
	if !given[decl] {
		given[decl] = true
		for _, id := range decl.cites {
			c.add(id, test)
		}
	} else if !decl.test {
		return
	}
	if only {
		return
	}
	for _, name := range decl.uses {
		for _, used := range p.decls[name] {
			if !used.test && used.idle == "" {
				p.give(used, test, c, given, false)
			}
		}
	}
}

// read adds the declarations of a file. Comments between two belong to none,
// and are strays when they cite.
func (p *testPackage) read(name string, data []byte) {
	if idle := idleFile(name, data); idle != "" {
		if cites := cited(data); cites != nil {
			p.decls[""] = append(p.decls[""], &testDecl{place: name, idle: idle, cites: cites})
		}
		return
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return // go vet says so
	}
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset }
	before := 0
	for _, decl := range file.Decls {
		from, to := offset(decl.Pos()), offset(decl.End())
		if end := bytes.IndexByte(data[to:], '\n'); end > 0 {
			to += end // a comment behind it is about it
		}
		names, doc, test := declared(decl)
		if doc != nil {
			from = offset(doc.Pos())
		}
		p.between(name, data[before:from])
		one := &testDecl{place: name, test: test, uses: uses(decl), cites: cited(data[from:to])}
		for _, name := range names {
			one.test = one.test || name == "Run" && slices.Contains(suites, p.dir)
			p.decls[name] = append(p.decls[name], one)
		}
		if fn, ok := decl.(*ast.FuncDecl); ok && one.test {
			if one.idle = idleTest(fn); one.idle != "" {
				one.test, one.place = false, p.dir+"."+fn.Name.Name
			}
		}
		before = to
	}
	p.between(name, data[before:])
}

// between keeps citations that are in no declaration.
func (p *testPackage) between(file string, text []byte) {
	if cites := cited(text); cites != nil {
		p.decls[""] = append(p.decls[""], &testDecl{place: file, cites: cites})
	}
}

// testName is how the functions are called that go test runs without being told
// to measure.
var testName = regexp.MustCompile(`^(?:Test|Fuzz|Example)(?:[^a-z]|$)`)

// declared are the names that a declaration gives to something, its comment,
// and whether it is a test.
func declared(decl ast.Decl) (names []string, doc *ast.CommentGroup, test bool) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{decl.Name.Name}, decl.Doc, decl.Recv == nil && testName.MatchString(decl.Name.Name)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			}
		}
		return names, decl.Doc, false
	}
	return nil, nil, false
}

// uses are all names in a declaration, sorted.
func uses(decl ast.Decl) []string {
	found := make(map[string]bool)
	ast.Inspect(decl, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok {
			found[name.Name] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}
