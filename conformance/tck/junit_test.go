package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseReport(t *testing.T) {
	const head, foot = `<?xml version="1.0" encoding="utf-8"?><testsuites name="x"><testsuite name="pytest" tests="1">`, `</testsuite></testsuites>`
	for _, test := range []struct {
		name, cases string
		want        []result
	}{
		{"passed", `<testcase classname="tests.compatibility.core.TestA" name="test_b[jsonrpc]" time="0.1" />`, []result{{test: "core.TestA.test_b[jsonrpc]"}}},
		{"another place", `<testcase classname="tests.unit.a" name="b"/>`, []result{{test: "tests.unit.a.b"}}},
		{
			"skipped", `<testcase classname="a" name="b"><skipped type="pytest.skip" message="no &lt;stream&gt;">file.py:3: no stream</skipped></testcase>`,
			[]result{{"a.b", skipped, "no <stream>"}},
		},
		{
			"a wish not met", `<testcase classname="a" name="b"><skipped type="pytest.xfail" message="SHOULD"/></testcase>`,
			[]result{{"a.b", failed, "SHOULD"}},
		},
		{
			"failed", `<testcase classname="a" name="b"><failure message="no">trace</failure></testcase>`,
			[]result{{"a.b", failed, "no"}},
		},
		{
			"broken", `<testcase classname="a" name="b"><error message="no fixture"/></testcase>`,
			[]result{{"a.b", failed, "no fixture"}},
		},
		{
			"skipped and broken", `<testcase classname="a" name="b"><skipped type="pytest.skip" message="s"/><error message="e"/></testcase>`,
			[]result{{"a.b", failed, "e"}},
		},
		{
			"twice", `<testcase classname="a" name="b"/><testcase classname="a" name="c"/><testcase classname="a" name="b"><error message="torn down"/></testcase>`,
			[]result{{"a.b", failed, "torn down"}, {test: "a.c"}},
		},
		{
			"twice, the worse first", `<testcase classname="a" name="b"><failure message="f"/></testcase><testcase classname="a" name="b"/>`,
			[]result{{"a.b", failed, "f"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseReport(strings.NewReader(head + test.cases + foot))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("results differ (-want +got):\n%s", diff)
			}
		})
	}
	for name, text := range map[string]string{
		"no test":        head + foot,
		"nothing":        "",
		"cut off":        head + `<testcase classname="a" name="b"/>`,
		"something else": `<html><testsuite><testcase classname="a" name="b"/></testsuite></html>`,
	} {
		if got, err := parseReport(strings.NewReader(text)); err == nil {
			t.Errorf("%s: parseReport() = %v, want an error", name, got)
		}
	}
}

func TestReadReport(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.xml")
	if _, err := readReport(name); !os.IsNotExist(err) {
		t.Errorf("readReport() of no file: error = %v", err)
	}
}
