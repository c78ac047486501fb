package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvidence(t *testing.T) {
	root, commit := repository(t, "README", "x\n")
	day := time.Date(2026, 3, 4, 23, 59, 0, 0, time.FixedZone("", -3600))
	record := func() string {
		t.Helper()
		e, err := newEvidence(t.Context(), root, day)
		if err != nil {
			t.Fatal(err)
		}
		results := []result{{test: "a.good"}, {"a.grpc", skipped, "gRPC missing"}, {"a.wrong", failed, "f"}}
		e.Sets = []verdict{judge("on", results,
			[]fault{{Requirement: "R-1", Test: "a.wrong", Reason: "why"}},
			[]skip{{reason: "another binding", words: []string{"gRPC"}}})}
		if err := e.write(root); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(root, "conformance", "evidence", "tck.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	want := func(modified string) string {
		return `{
  "date": "2026-03-05",
  "revision": "` + commit + `",
  "modified": ` + modified + `,
  "kit": {
    "repository": "a2aproject/a2a-tck",
    "branch": "1.0-dev",
    "commit": "` + kitCommit + `",
    "selection": "jsonrpc"
  },
  "sets": [
    {
      "set": "on",
      "executed": 2,
      "passed": 1,
      "failed": 1,
      "skipped": 1,
      "failures": [
        {
          "requirement": "R-1",
          "test": "a.wrong",
          "reason": "why"
        }
      ],
      "skips": [
        {
          "reason": "another binding",
          "tests": 1
        }
      ]
    }
  ]
}
`
	}
	if diff := cmp.Diff(want("false"), record()); diff != "" {
		t.Errorf("evidence differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want("false"), record()); diff != "" {
		t.Errorf("evidence that only its own writing changed differs (-want +got):\n%s", diff)
	}
	write(t, filepath.Join(root, "README"), "y\n")
	if diff := cmp.Diff(want("true"), record()); diff != "" {
		t.Errorf("evidence of a changed tree differs (-want +got):\n%s", diff)
	}
	if _, err := newEvidence(t.Context(), t.TempDir(), day); err == nil {
		t.Error("evidence without a revision")
	}
}
