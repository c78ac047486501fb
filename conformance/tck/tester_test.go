package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// ownTester uses this program for the test agent and for Python.
func ownTester(t *testing.T, role string) tester {
	t.Helper()
	self := plays(t, role)
	return tester{kit: t.TempDir(), agent: self, python: self, work: t.TempDir()}
}

// allKnown is every fault and every reason to skip that the lists name.
func allKnown(t *testing.T, set string) string {
	t.Helper()
	var cases strings.Builder
	for _, known := range faults {
		cases.WriteString(`<testcase classname="tests.compatibility" name="` + known.Test + `"><failure message="f"/></testcase>`)
	}
	for _, known := range skips {
		for _, words := range known.words {
			if known.covers(set, words) {
				cases.WriteString(`<testcase classname="s" name="` + words + `"><skipped type="pytest.skip" message="` + words + `"/></testcase>`)
			}
		}
	}
	return cases.String()
}

func TestSets(t *testing.T) {
	for _, set := range []string{"on", "off"} {
		var out bytes.Buffer
		verdicts, err := ownTester(t, allKnown(t, set)).testAll(t.Context(), []string{set}, &out)
		if err != nil {
			t.Fatalf("set %s: %v\n%s", set, err, &out)
		}
		if got := verdicts[0]; got.Set != set || got.Executed != 1+len(faults) || got.Failed != len(faults) {
			t.Errorf("set %s: verdict %+v", set, got)
		}
		for _, want := range []string{"set " + set + ": ", "known fault of the kit: CORE-SEND-003", "skipped: push notifications"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it says %q, without %q", &out, want)
			}
		}
	}
}

func TestFindingsFailTheRun(t *testing.T) {
	var out bytes.Buffer
	bad := allKnown(t, "on") + `<testcase classname="tests.compatibility.b" name="bad"><failure message="500"/></testcase>`
	_, err := ownTester(t, bad).testAll(t.Context(), []string{"on"}, &out)
	if err == nil || !strings.Contains(err.Error(), "1 findings") {
		t.Errorf("testAll() error = %v, want 1 finding", err)
	}
	if !strings.Contains(out.String(), `WRONG: FAILED b.bad: "500"`) {
		t.Errorf("it says %q", &out)
	}
}

func TestWhatGoesWrongIsSaid(t *testing.T) {
	for role, want := range map[string]string{
		"broken agent":         "the test agent does not serve",
		"broken kit":           "exit status 4",
		"silent kit":           "on.xml",
		"agent with a bad end": "the test agent did not end as it should: exit status 5",
	} {
		t.Run(role, func(t *testing.T) {
			b := ownTester(t, role)
			write(t, filepath.Join(b.work, "on.xml"), "<testsuites/>") // of the last run
			_, err := b.testAll(t.Context(), []string{"on"}, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "on.log") {
				t.Errorf("testAll() error = %v, want %q and the log's name", err, want)
			}
		})
	}
}

func TestProcessesForgetWhatMisleads(t *testing.T) {
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "x"))
	t.Setenv("PYTEST_ADDOPTS", "--exitfirst")
	t.Setenv("GIT_AUTHOR_NAME", "kept")
	env := strings.Join(process(t.Context(), "git").Env, "\n")
	for _, gone := range []string{"GIT_DIR=", "PYTEST_ADDOPTS="} {
		if strings.Contains(env, gone) {
			t.Errorf("%s is handed on", gone)
		}
	}
	for _, there := range []string{"GIT_AUTHOR_NAME=kept", "NO_PROXY=127.0.0.1"} {
		if !strings.Contains(env, there) {
			t.Errorf("%s is missing", there)
		}
	}
}
