package conformance_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/legation/legation/internal/conformance"
)

// A program that was built from another revision says so, where both are known.
func TestProgramOfAnotherRevision(t *testing.T) {
	server, err := seen()
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	const told = "program: this program: claimed built from this tree, which is at aaaaaaaaaaaa, found built from "
	for _, test := range []struct {
		name     string
		git      map[string]string
		revision string
		want     bool
	}{
		{"same", map[string]string{"HEAD": a + "\n"}, a, false},
		{"same, cut short", map[string]string{"HEAD": a + "\n"}, a[:7], false},
		{"other", map[string]string{"HEAD": a + "\n"}, b, true},
		{"branch", map[string]string{"HEAD": "ref: refs/heads/x\n", "refs/heads/x": a + "\n"}, b[:7], true},
		{"packed branch", map[string]string{"HEAD": "ref: refs/heads/x\n", "packed-refs": "# x\n" + b + " refs/heads/y\n" + a + " refs/heads/x\n"}, b, true},
		{"unknown program", map[string]string{"HEAD": a + "\n"}, "", false},
		{"unknown tree", nil, b, false},
		{"foreign reference", map[string]string{"HEAD": "ref: x\n", "x": a + "\n"}, b, false},
		{"reference that leads out", map[string]string{"HEAD": "ref: ../x\n"}, b, false},
		{"no commit", map[string]string{"HEAD": "x\n"}, b, false},
	} {
		tree := checkout(t)
		for name, text := range test.git {
			tree[".git/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		got, err := lines(conformance.CompareBuiltFrom(test.revision, tree, server))
		if err != nil {
			t.Fatal(err)
		}
		if found := slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, told+test.revision) }); found != test.want {
			t.Errorf("%s: told is %v, want %v, in\n%s", test.name, found, test.want, strings.Join(got, "\n"))
		}
	}
}

// A refusal is one by a code of the protocol, and an error in the server is no
// service.
func TestAnswersOfTheServer(t *testing.T) {
	server, err := seen()
	if err != nil {
		t.Fatal(err)
	}
	tree := checkout(t)
	before, err := asItIs()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		operation string
		code      int
		want      string
	}{
		{"GetTask", -32013, "claimed served, found refused with -32013, which is no code of A2A "},
		{"GetTask", -32603, "claimed served, found answered with -32603 "},
		{"GetTask", -32601, "claimed served, found refused with -32601 "},
		{"GetTask", -32602, ""},
		{"GetTask", 0, ""},
		{"CreateTaskPushNotificationConfig", -32013, "claimed refused with -32003, found refused with -32013, which is no code of A2A "},
		{"CreateTaskPushNotificationConfig", -32004, "claimed refused with -32003, found refused with -32004 "},
		{"CreateTaskPushNotificationConfig", 0, "claimed refused with -32003, found served "},
	} {
		after, err := lines(conformance.Compare(tree, server.WithAnswer(test.operation, test.code)))
		if err != nil {
			t.Fatal(err)
		}
		after = slices.DeleteFunc(after, func(line string) bool { return slices.Contains(before, line) })
		want := []string{"operation " + test.operation + ": running server: " + test.want + toServe}
		if test.want == "" {
			want = nil
		}
		if !slices.Equal(after, want) {
			t.Errorf("%s answered with %d: differences are %q, want %q", test.operation, test.code, after, want)
		}
	}
}
