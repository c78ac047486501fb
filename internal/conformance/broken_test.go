package conformance_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/conformance"
)

// Without these there is nothing to compare, and the error says which it is.
func TestWhatCannotBeCompared(t *testing.T) {
	tests := []struct {
		name, file, before, after string
		want                      string
	}{
		{"no claim", "conformance/claim.yaml", "", "", "conformance/claim.yaml is missing"},
		{"no table of requirements", "conformance/requirements.tsv", "", "", "conformance/requirements.tsv is missing"},
		{"no reasons", "conformance/pending.yaml", "", "", "conformance/pending.yaml is missing"},
		{"no wire table", "specification/wire-v1.0.1.json", "", "", "wire table specification/wire-v1.0.1.json"},
		{"unknown member", "conformance/claim.yaml", "cardPath:", "cardPaths:", `unknown field "cardPaths"`},
		{"no YAML", "conformance/claim.yaml", "cardPath:", "cardPath: [", "conformance/claim.yaml: ["},
		{"nothing said", "conformance/claim.yaml", "binding: JSONRPC", `binding: ""`, "interface.binding says nothing"},
		{"served otherwise", "conformance/claim.yaml", "GetTask, server: served", "GetTask, server: sometimes", `GetTask: server is "sometimes"`},
		{"refused without a code", "conformance/claim.yaml", "GetTask, server: served", "GetTask, server: refused", "GetTask: a code belongs to what is refused"},
		{"refused with a code of nobody", "conformance/claim.yaml", "code: -32003", "code: -32013", "CreateTaskPushNotificationConfig: -32013 is no code of A2A"},
		{"card elsewhere", "conformance/claim.yaml", "cardPath: /", "cardPath: \"@a.example/\" #", `cardPath is "@a.example/", which is no path`},
		{"reference", "conformance/claim.yaml", "locks: [interop/go.mod, bench/go.mod]", "locks: &a [go.mod]\n    language: *a", "conformance/claim.yaml:"},
		{"called otherwise", "conformance/claim.yaml", "GetTask, server: served, client: called", "GetTask, server: served, client: x", `GetTask: client is "x"`},
		{"id that is none", "conformance/requirements.tsv", "REQ-PJ-01\t", "REQ-PJ-1\t", `"REQ-PJ-1" is no id`},
		{"level that is none", "conformance/requirements.tsv", "REQ-PJ-01\tMUST", "REQ-PJ-01\tOUGHT", `REQ-PJ-01: "OUGHT" is no level`},
		{"role that does not go with it", "conformance/requirements.tsv", "REQ-PJ-01\tMUST\tboth", "REQ-PJ-01\tMUST\tnone", `the role "none" does not go with MUST`},
		{"id twice", "conformance/requirements.tsv", "REQ-PJ-02\t", "REQ-PJ-01\t", "conformance/requirements.tsv:5: REQ-PJ-01 is there twice"},
		{"cell too few", "conformance/requirements.tsv", "REQ-PJ-01\tMUST\t", "REQ-PJ-01\t", "there are 3 cells"},
		{"bar in a subject", "conformance/requirements.tsv", "members are written", "members | are written", "has a bar"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := checkout(t)
			if test.before == "" {
				delete(tree, test.file)
			} else {
				edit(t, tree, test.file, test.before, test.after)
			}
			if _, err := conformance.Check(t.Context(), tree, ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check() error = %v, want one with %q", err, test.want)
			}
			if _, err := conformance.Page(tree); err == nil && test.file != "specification/wire-v1.0.1.json" {
				t.Error("Page() made a document of it")
			}
		})
	}
}

// A file that is gone or broken is named, and so is what it no longer says.
func TestUnreadableFilesAreNamed(t *testing.T) {
	tree := checkout(t)
	edit(t, tree, "conformance/tck/kit.go", "package main", "packages")
	edit(t, tree, "interop/javascript/package-lock.json", "{", "{{")
	tree["conformance/evidence/tck.json"] = &fstest.MapFile{Data: []byte("{")}
	delete(tree, "a2a/version.go")
	got := news(t, tree)
	for _, want := range []string{
		"source: conformance/tck/kit.go: claimed Go that can be parsed, found ",
		"source: a2a/version.go: claimed a file, found nothing ",
		"version header: a2a/version.go HeaderVersion: claimed A2A-Version, found nothing ",
		"kit: conformance/evidence/tck.json: claimed evidence, found a file that cannot be read ",
		"partner @a2a-js/sdk: interop/javascript/package-lock.json: claimed 1.3.0, found nothing ",
	} {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no difference begins with %q among\n%s", want, strings.Join(got, "\n"))
		}
	}
	delete(tree, "conformance/evidence/tck.json")
	tree["README.md"] = &fstest.MapFile{Data: []byte("# Legation\n")}
	got = news(t, tree)
	for _, want := range []string{
		"kit: conformance/evidence/tck.json: claimed evidence, found no such file (run make tck on the claimed revision)",
		"version literal: README.md: claimed A2A 1.0, found nothing (say it there)",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no difference is %q among\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// A generated document that has lost lines, or has many that are stale, is one
// difference and not a hundred.
func TestStaleDocumentIsShort(t *testing.T) {
	tree := checkout(t)
	document := tree[conformance.PageFile]
	tree[conformance.PageFile] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(document.Data), "MUST", "must"))}
	if got := news(t, tree); len(got) != 4 || !strings.HasPrefix(got[3], "document: and ") || !strings.Contains(got[3], " more stale lines (run make generate") {
		t.Errorf("differences are\n%s\nwant three lines and how many more", strings.Join(got, "\n"))
	}
	delete(tree, conformance.PageFile)
	if got := news(t, tree); len(got) != 1 || !strings.HasPrefix(got[0], "document: docs/conformance.md is missing (") {
		t.Errorf("differences are\n%s\nwant one about the missing document", strings.Join(got, "\n"))
	}
}

// Writing the document makes it fresh again.
func TestPageIsWhatCheckWants(t *testing.T) {
	tree := checkout(t)
	edit(t, tree, "conformance/requirements.tsv", "members are written in lowerCamelCase only", "members are written in camels")
	page, err := conformance.Page(tree)
	if err != nil {
		t.Fatal(err)
	}
	tree[conformance.PageFile] = &fstest.MapFile{Data: page}
	if got := news(t, tree); len(got) > 0 {
		t.Errorf("differences with a new document: %q", got)
	}
}

func TestCheckEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := conformance.Check(ctx, checkout(t), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Check() error = %v, want context.Canceled", err)
	}
}

// Only what a test reaches counts, whatever kind of file it is in.
func TestCitations(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"a/a_test.go": file(`package a_test

// TestOne holds REQ-PJ-01.
func TestOne(t *testing.T) {
	check(t, "REQ-PJ-02 a case") // REQ-PJ-03
}

// Testing is none: REQ-PJ-04.
func Testing(t *testing.T) {}

func check(t *testing.T, name string) { _ = wants /* PVP-01 */ }

func FuzzTwo(f *testing.F) { check(nil, "PVX-02") }

// REQ-MOD-01
func TestEmpty(t *testing.T) {
	// Later.
}

func TestSkipped(t *testing.T) {
	t.Skip("later")
	_ = "REQ-MOD-02" + skippedOnly
}

const skippedOnly = "REQ-MOD-03"

// REQ-MOD-04 is measured and not tested.
func BenchmarkThree(b *testing.B) { check(nil, "") }

func TestSome(t *testing.T) {
	if testing.Short() {
		t.Skip("REQ-MOD-05")
	}
}
`),
		"a/cases_test.go": file(`package a_test

var (
	wants = []string{"REQ-PJ-05"}
	more  = "REQ-PJ-06"
)

var unused = "REQ-PJ-07"
`),
		"a/a_windows_test.go":           file("package a_test\n\n// REQ-MOD-06\nfunc TestWindows(t *testing.T) { t.Log() }\n"),
		"a/a_linux_test.go":             file("package a_test\n\n// REQ-MOD-07\nfunc TestLinux(t *testing.T) { t.Log() }\n"),
		"a/tag_test.go":                 file("//go:build never\n\npackage a_test\n\n// REQ-MOD-08\nfunc TestNever(t *testing.T) { t.Log() }\n"),
		"a/race_test.go":                file("//go:build race && unix\n\npackage a_test\n\n// REQ-MOD-09\nfunc TestRace(t *testing.T) { t.Log() }\n"),
		"_b/b_test.go":                  file("package b_test\n\n// REQ-MOD-10\nfunc TestB(t *testing.T) { t.Log() }\n"),
		"a/testdata/mute.txt":           file("REQ-MOD-11: words\n"),
		"a/testdata/script/none.txtar":  file("# REQ-MOD-12\n\n-- file --\nexec x\n"),
		"a/testdata/script/skip.txtar":  file("# REQ-MOD-13\nskip 'later'\nexec x\n"),
		"a/a.go":                        file("package a // REQ-PJ-08\n"),
		"a/testdata/talk.txt":           file("F01, REQ-RPC-01: words\n-- exchange --\n> REQ-RPC-02\n< REQ-RPC-03\n"),
		"a/testdata/script/do.txtar":    file("# REQ-RPC-04\nexec x REQ-RPC-05\n"),
		"a/testdata/other.json":         file(`"REQ-RPC-06"`),
		"store/storetest/storetest.go":  file("package storetest\n\nfunc Run(t *testing.T) { _ = tests }\n"),
		"store/storetest/list.go":       file("package storetest\n\nvar tests = 1 // REQ-LIST-01\n"),
		"store/storetest/more.go":       file("package storetest\n\nvar tests2 = `REQ-LIST-02`\n"),
		"node_modules/x/testdata/a.txt": file("REQ-RPC-07\n"),
		"venv/pyvenv.cfg":               file("x"),
		"venv/testdata/a.txt":           file("REQ-RPC-08\n"),
		"b/testdata/binary.txt":         file("\x00REQ-RPC-09\n"),
	}
	tests, strays, err := conformance.Citations(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"REQ-PJ-01": {"a.TestOne"}, "REQ-PJ-02": {"a.TestOne"}, "REQ-PJ-03": {"a.TestOne"},
		"PVP-01": {"a.FuzzTwo"}, "PVX-02": {"a.FuzzTwo"}, "REQ-PJ-05": {"a.FuzzTwo"}, "REQ-PJ-06": {"a.FuzzTwo"},
		"REQ-RPC-01": {"a/testdata/talk"}, "REQ-RPC-04": {"a/testdata/script/do"},
		"REQ-LIST-01": {"store/storetest.Run"},
		"REQ-MOD-05":  {"a.TestSome"}, "REQ-MOD-07": {"a.TestLinux"}, "REQ-MOD-09": {"a.TestRace"},
	}
	if diff := cmp.Diff(want, tests); diff != "" {
		t.Errorf("tests differ (-want +got):\n%s", diff)
	}
	wantStrays := []string{
		"REQ-MOD-11 in a/testdata/mute.txt: a transcript without a request",
		"REQ-MOD-12 in a/testdata/script/none.txtar: a script that does nothing",
		"REQ-MOD-13 in a/testdata/script/skip.txtar: a test that begins with a skip",
		"REQ-MOD-10 in _b/b_test.go: a file that is not built on linux",
		"REQ-MOD-06 in a/a_windows_test.go: a file that is not built on linux",
		"REQ-MOD-08 in a/tag_test.go: a file that is not built on linux",
		"REQ-MOD-04 in a/a_test.go",
		"REQ-MOD-01 in a.TestEmpty: a test that is empty",
		"REQ-MOD-02 in a.TestSkipped: a test that begins with a skip",
		"REQ-PJ-04 in a/a_test.go",
		"REQ-MOD-03 in a/a_test.go",
		"REQ-PJ-07 in a/cases_test.go",
		"REQ-LIST-02 in store/storetest/more.go",
	}
	if diff := cmp.Diff(wantStrays, strays); diff != "" {
		t.Errorf("strays differ (-want +got):\n%s", diff)
	}
}

func TestRoot(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(dir, "go.mod"):      "module github.com/legation/legation\n",
		filepath.Join(dir, "a", "go.mod"): "module github.com/legation/legation/a\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := conformance.Root(below); err != nil || got != dir {
		t.Errorf("Root() = %q, %v, want %q", got, err, dir)
	}
	if _, err := conformance.Root(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not in a checkout of Legation") {
		t.Errorf("Root() error = %v, want one that says it is no checkout", err)
	}
	if _, err := conformance.Root(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) || !strings.HasSuffix(err.Error(), "; give the directory of a checkout") {
		t.Errorf("Root() error = %v, want os.ErrNotExist", err)
	}
}
