package conformance

import (
	"bytes"
	"go/ast"
	"go/build"
	"io"
	"path"
	"slices"
	"strings"
)

// Why something that looks like a test holds nothing.
const (
	notBuilt  = "a file that is not built on linux"
	notRead   = "a file that is too large to be read"
	noBody    = "a test that is empty"
	alwaysOff = "a test that begins with a skip"
	noScript  = "a script that does nothing"
	noTalk    = "a transcript without a request"
)

// idleFile says why no test of a Go file runs, or nothing.
func idleFile(name string, data []byte) string {
	if len(data) > maxParsed {
		return notRead
	}
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
			return notBuilt
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, tags := range [][]string{nil, {"race"}} {
			on := build.Default
			on.GOOS, on.GOARCH, on.BuildTags, on.CgoEnabled = "linux", arch, tags, true
			on.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
			if built, err := on.MatchFile(path.Dir(name), path.Base(name)); built || err != nil {
				return "" // what cannot be read is told by go vet
			}
		}
	}
	return notBuilt
}

// idleTest says why a test function tests nothing, or nothing.
func idleTest(fn *ast.FuncDecl) string {
	if fn.Body == nil || !slices.ContainsFunc(fn.Body.List, func(s ast.Stmt) bool { _, empty := s.(*ast.EmptyStmt); return !empty }) {
		return noBody
	}
	first, ok := fn.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return ""
	}
	call, ok := first.X.(*ast.CallExpr)
	if !ok {
		return ""
	}
	callee, ok := call.Fun.(*ast.SelectorExpr)
	if ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, callee.Sel.Name) {
		return alwaysOff
	}
	return ""
}

// idleDocument says why a transcript or a script tests nothing, or nothing.
func idleDocument(name string, data []byte) string {
	if path.Ext(name) == ".txt" {
		if bytes.HasPrefix(data, []byte(">")) || bytes.Contains(data, []byte("\n>")) {
			return ""
		}
		return noTalk
	}
	for text := range strings.Lines(string(data)) {
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		switch first, _, _ := strings.Cut(text, " "); first {
		case "skip", "stop":
			return alwaysOff
		case "--":
			return noScript
		}
		return ""
	}
	return noScript
}
