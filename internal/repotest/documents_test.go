package repotest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	fence      = regexp.MustCompile("(?s)```.*?\\n\\s*```")
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	makeCall   = regexp.MustCompile("(?m)(?:`|^\\s*\\$? ?)make ([a-z][a-z-]*)")
	makeRule   = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	testName   = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*`)
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	transcript = regexp.MustCompile(`(?:TestTranscripts/|server/testdata/)([a-z][\w-]*)`)
	goFile     = regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]+\\.(?:go|md|sql|json|yml|txt))`")
	directory  = regexp.MustCompile("`((?:agent|a2a|client|cmd|docs|guard|internal|server|specification|store|task|tools)(?:/[\\w.-]+)*)/?`")
)

func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range allFiles(t) {
		if path.Ext(name) == ".md" && !strings.Contains(name, "testdata/") {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		t.Fatal("no documents found")
	}
	return found
}

func TestLinksResolve(t *testing.T) {
	for _, name := range documents(t) {
		text := fence.ReplaceAllString(string(read(t, name)), "")
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if !exists(to) {
				t.Errorf("%s links to %s, which does not exist", name, match[1])
				continue
			}
			if anchor != "" && path.Ext(to) == ".md" && !anchors(string(read(t, to)))[anchor] {
				t.Errorf("%s links to %s, but %s has no such heading", name, match[1], to)
			}
		}
	}
}

// Files and packages that a document names in code style exist.
func TestNamedPathsExist(t *testing.T) {
	for _, name := range documents(t) {
		text := fence.ReplaceAllString(string(read(t, name)), "")
		for _, pattern := range []*regexp.Regexp{goFile, directory} {
			for _, match := range pattern.FindAllStringSubmatch(text, -1) {
				if !exists(match[1]) && !exists(path.Join(path.Dir(name), match[1])) && !planned(match[1]) {
					t.Errorf("%s names %s, which does not exist", name, match[1])
				}
			}
		}
	}
}

// planned reports whether a name is that of a package the table already knows.
func planned(name string) bool {
	_, known := rooms[name]
	return known
}

func TestMakeTargetsExist(t *testing.T) {
	rules := make(map[string]bool)
	for _, match := range makeRule.FindAllStringSubmatch(string(read(t, "Makefile")), -1) {
		rules[match[1]] = true
	}
	for _, name := range append(documents(t), ".ci/run") {
		for _, match := range makeCall.FindAllStringSubmatch(string(read(t, name)), -1) {
			if !rules[match[1]] {
				t.Errorf("%s says make %s, which the Makefile does not know", name, match[1])
			}
		}
	}
}

// A test or transcript that a document refers to exists under that name, and no
// table says "-" instead of naming one.
func TestNamedTestsExist(t *testing.T) {
	known := make(map[string]bool)
	for _, name := range allFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			for _, match := range testFunc.FindAllStringSubmatch(string(read(t, name)), -1) {
				known[match[1]] = true
			}
		}
	}
	for _, name := range documents(t) {
		for _, row := range tableRows(string(read(t, name))) {
			if slices.Contains(row, "-") {
				t.Errorf("%s has a row with - instead of a word: %q", name, row[0])
			}
		}
		for _, test := range testName.FindAllString(string(read(t, name)), -1) {
			if !known[test] {
				t.Errorf("%s names %s, but there is no such test", name, test)
			}
		}
		for _, match := range transcript.FindAllStringSubmatch(string(read(t, name)), -1) {
			if !exists("server/testdata/" + match[1] + ".txt") {
				t.Errorf("%s names %s, but there is no such transcript", name, match[0])
			}
		}
	}
}

// Every divergence is held by something: the last cell of each row says by what.
func TestDivergencesAreHeld(t *testing.T) {
	const name, heading = "docs/divergences.md", "Held by"
	rows := tableRows(string(read(t, name)))
	held := 0
	for _, row := range rows {
		last := row[len(row)-1]
		switch {
		case last == heading:
		case !testName.MatchString(last) && !transcript.MatchString(last):
			t.Errorf("%s: the row %q names no test and no transcript", name, row[0])
		default:
			held++
		}
	}
	if held == 0 {
		t.Errorf("%s has no rows that begin a table with %q", name, heading)
	}
}

// tableRows are the cells of all tables in a text, headings included, without
// what separates these from the rest.
func tableRows(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// anchors are the names under which the headings of a document can be reached.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, match[1])] = true
	}
	return found
}

// Whoever looks for a package, or asks why a module is there, finds it.
func TestArchitectureIsComplete(t *testing.T) {
	text := string(read(t, "docs/architecture.md"))
	modules := slices.Clone(testModules)
	for name, room := range rooms {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not say what %s is", name)
		}
		modules = append(modules, room.modules...)
	}
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		if !strings.Contains(text, "`"+module+"`") {
			t.Errorf("docs/architecture.md does not say why we build on %s", module)
		}
	}
}

// What the architecture says of who uses a module is what the table of packages
// says. Rows that name no package, for tests or for everybody, say it in words.
func TestModulesAreUsedAsTold(t *testing.T) {
	compared := 0
	for _, row := range tableRows(string(read(t, "docs/architecture.md"))) {
		told := names(row[min(1, len(row)-1)])
		if !slices.ContainsFunc(names(row[0]), isModule) || len(told) == 0 {
			continue
		}
		for _, module := range names(row[0]) {
			var users []string
			for name, room := range rooms {
				if slices.Contains(room.modules, module) {
					users = append(users, name)
				}
			}
			slices.Sort(users)
			if slices.Sort(told); !slices.Equal(told, users) {
				t.Errorf("docs/architecture.md says that %s is used by %q, but it is used by %q", module, told, users)
			}
			compared++
		}
	}
	if compared < 5 {
		t.Errorf("only %d modules compared: the table was not found", compared)
	}
}

func isModule(name string) bool { return strings.Contains(strings.Split(name, "/")[0], ".") }

var code = regexp.MustCompile("`([^`]+)`")

// names are what a cell has in code style.
func names(cell string) []string {
	var found []string
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		found = append(found, match[1])
	}
	return found
}
