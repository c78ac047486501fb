package repotest

import (
	"bytes"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Patterns are put together from pieces so that this file does not match them.
var forbidden = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{
		"an operation name of an older protocol revision",
		regexp.MustCompile(`\b(message/` + `(send|stream)|tasks/` + `(get|list|send|cancel|resubscribe|sendSubscribe|pushNotification)|agent/` + `(getAuthenticated|authenticatedExtended))`),
	},
	{
		"a note of unfinished work; open an issue, or finish it",
		regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`),
	},
	{
		"an absolute path of somebody's machine",
		regexp.MustCompile(`(^|[^\w.~/-])/(work|home|Users|root)` + `/\w\w`),
	},
}

func TestForbiddenWords(t *testing.T) {
	for _, name := range allFiles(t) {
		data := read(t, name)
		if path.Base(name) == "go.sum" || !utf8.Valid(data) {
			continue
		}
		for number, line := range bytes.Split(data, []byte("\n")) {
			for _, f := range forbidden {
				if found := f.pattern.Find(line); found != nil {
					t.Errorf("%s:%d: %q is %s", name, number+1, found, f.what)
				}
			}
		}
	}
}

func TestForbiddenWordsAreSeen(t *testing.T) {
	lines := map[string]bool{
		`{"method":"message` + `/send"}`:    true,
		`tasks` + `/pushNotificationConfig`: true,
		`// TO` + `DO later`:                true,
		`open("/home` + `/someone/x")`:      true,
		`see /work` + `/here`:               true,
		`internal/` + `work/claimer.go`:     false,
		`"method":"SendMessage"`:            false,
		`store/sqlite/tasks.go`:             false,
		`~/home/x`:                          false,
	}
	for line, want := range lines {
		got := false
		for _, f := range forbidden {
			got = got || f.pattern.MatchString(line)
		}
		if got != want {
			t.Errorf("%q is refused: %v, want %v", line, got, want)
		}
	}
}

const maxLines = 600

func TestFilesAreSmall(t *testing.T) {
	for _, name := range allFiles(t) {
		ext := path.Ext(name)
		if ext != ".go" && ext != ".md" && ext != ".sql" || strings.HasSuffix(name, "_gen.go") || strings.Contains(name, "testdata/") {
			continue
		}
		if lines := bytes.Count(read(t, name), []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: look for the second noun and split it", name, lines, maxLines)
		}
	}
}

// timers are what a test could wait for real time with.
var timers = []string{"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// realTime says which test files may use them outside a bubble, and why. None
// may sleep.
var realTime = map[string]string{
	"client/http_test.go":             "gives up on a connection of the kernel's that should close",
	"cmd/legation/crash_test.go":      "kills a real process at a time by chance, and asks the next one until it has settled",
	"cmd/legation/stop_linux_test.go": "watches real processes end",
	"internal/app/app_test.go":        "asks a whole server until it has come to a state that nothing announces",
	"internal/cli/script_test.go":     "asks a real process until it is ready",
}

// Tests wait for what they need, or let virtual time pass in a bubble.
func TestTestsDoNotSleep(t *testing.T) {
	needed := make(map[string]bool)
	for _, src := range sources(t) {
		if !src.test || slices.Contains(src.imports(), "testing/synctest") {
			continue
		}
		ast.Inspect(src.file, func(node ast.Node) bool {
			timer := timerCall(node)
			switch {
			case timer == "":
			case timer != "Sleep" && realTime[src.path] != "":
				needed[src.path] = true
			default:
				t.Errorf("%s waits in real time with time.%s: wait for a channel, or use a testing/synctest bubble", src.fset.Position(node.Pos()), timer)
			}
			return true
		})
	}
	for name := range realTime {
		if !needed[name] {
			t.Errorf("%s has leave to use timers and does not: take it from the list", name)
		}
	}
}

// timerCall is the name of the function of package time that a call waits with,
// or nothing.
func timerCall(node ast.Node) string {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(timers, sel.Sel.Name) {
		return ""
	}
	if pkg, ok := sel.X.(*ast.Ident); !ok || pkg.Name != "time" {
		return ""
	}
	return sel.Sel.Name
}

// The library promises to build with this version of Go and no newer one.
const goVersion = "1.26.0"

func TestGoVersion(t *testing.T) {
	mod := string(read(t, "go.mod"))
	if !regexp.MustCompile(`(?m)^go ` + regexp.QuoteMeta(goVersion) + `$`).MatchString(mod) {
		t.Errorf("go.mod does not say go %s", goVersion)
	}
	if regexp.MustCompile(`(?m)^(toolchain|replace|exclude)\b`).MatchString(mod) {
		t.Error("go.mod has a toolchain, replace or exclude line, which users of the library would not see")
	}
}
