package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// playEnv makes this program play another one: what a test of one set starts.
const playEnv = "LEGATION_TCK_TEST_PLAYS"

// plays makes this program play another one from now on, and returns its name.
func plays(t *testing.T, role string) (self string) {
	t.Helper()
	t.Setenv(playEnv, role)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's second at each exit
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

func TestMain(m *testing.M) {
	switch os.Getenv(playEnv) {
	case "":
		os.Exit(m.Run())
	case "broken agent":
		fmt.Fprintln(os.Stderr, "the store is locked")
		os.Exit(3)
	case "silent kit":
		if isAgent() {
			playAgent()
		}
		os.Exit(0)
	case "broken kit":
		if isAgent() {
			playAgent()
		}
		fmt.Println("no such option")
		os.Exit(4)
	case "agent with a bad end":
		if isAgent() {
			waitForStop("on")
			os.Exit(5)
		}
		playKit()
	case "python":
		playPython()
	default:
		switch {
		case isAgent():
			playAgent()
		case os.Args[1] == "-c": // Python, asked for its version
			os.Exit(0)
		}
		playKit()
	}
}

func isAgent() bool { return len(os.Args) > 1 && os.Args[1] == "--listen" }

func playAgent() {
	waitForStop(os.Args[4])
	os.Exit(0)
}

// waitForStop says that the agent serves, until it is interrupted.
func waitForStop(set string) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	fmt.Printf("Serving http://127.0.0.1:1/ (set %s). Ctrl-C stops it.\n", set)
	<-stop
}

// playKit writes the report it is asked for, with one test that passed and what
// the environment adds.
func playKit() {
	for _, arg := range os.Args {
		if name, ok := strings.CutPrefix(arg, "--junitxml="); ok {
			text := `<testsuites><testsuite><testcase classname="tests.compatibility.a" name="passes"/>` + os.Getenv(playEnv) + `</testsuite></testsuites>`
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(1) // as after failures
}

func TestCommand(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string // in what is said
	}{
		{"help", []string{"--help"}, 0, []string{"Usage: tck", "-any-revision"}},
		{"no kit", nil, 2, []string{"--kit is empty", "A2A_TCK_DIR", "a2aproject/a2a-tck"}},
		{"an empty kit", []string{"--kit", ""}, 2, []string{"--kit is empty"}},
		{"a word", []string{"--kit", "x", "word"}, 2, []string{`"word" is not a flag`}},
		{"a foreign flag", []string{"--kite", "x"}, 2, []string{"-kite"}},
		{"a foreign set", []string{"--kit", "x", "--set", "none"}, 2, []string{`--set "none": it is on, off or both`}},
		{"no checkout", []string{"--kit", filepath.Join(empty, "x")}, 1, []string{"no checkout of the conformance kit", "hint: git clone --branch 1.0-dev"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, complaint bytes.Buffer
			if code := command(t.Context(), test.args, &out, &complaint); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, want := range test.want {
				if said := out.String() + complaint.String(); !strings.Contains(said, want) {
					t.Errorf("it says %q, without %q", said, want)
				}
			}
		})
	}
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want settings
	}{
		{[]string{"--kit", "k"}, settings{kit: "k", python: "python3", sets: []string{"on", "off"}}},
		{
			[]string{"--kit=k", "--python=p", "--venv=v", "--set=off", "--any-revision"},
			settings{kit: "k", python: "p", venv: "v", sets: []string{"off"}, anyRevision: true},
		},
		{[]string{"--kit=k", "--set=on"}, settings{kit: "k", python: "python3", sets: []string{"on"}}},
	} {
		got, err := parse(test.args, &bytes.Buffer{})
		if err != nil {
			t.Errorf("parse(%q) error = %v", test.args, err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(settings{})); diff != "" {
			t.Errorf("parse(%q) differs (-want +got):\n%s", test.args, diff)
		}
	}
	if _, err := parse([]string{"-h"}, &bytes.Buffer{}); err != flag.ErrHelp {
		t.Errorf("parse(-h) error = %v, want flag.ErrHelp", err)
	}
}
