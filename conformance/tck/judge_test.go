package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestJudge(t *testing.T) {
	wrongTest := fault{Requirement: "R-1", Test: "a.wrong", Reason: "it asks for the opposite"}
	other := skip{reason: "another binding", words: []string{"Transport 'grpc'", "gRPC"}}
	onlyOff := skip{reason: "streams", words: []string{"no streaming"}, sets: []string{"off"}}

	good := result{test: "a.good"}
	wrong := result{test: "a.wrong", outcome: failed, words: "success wanted"}
	grpc := result{test: "a.good[grpc]", outcome: skipped, words: "Transport 'grpc' not configured"}
	stream := result{test: "a.stream", outcome: skipped, words: "no streaming here"}

	for _, test := range []struct {
		name    string
		set     string
		results []result
		faults  []fault
		skips   []skip
		want    verdict
		wrong   []string // one piece of each finding
	}{
		{
			name: "all is as known", set: "off",
			results: []result{good, wrong, grpc, grpc, stream},
			faults:  []fault{wrongTest}, skips: []skip{other, onlyOff},
			want: verdict{
				Executed: 2, Passed: 1, Failed: 1, Skipped: 3,
				Failures: []fault{wrongTest}, Skips: []skipCount{{"another binding", 2}, {"streams", 1}},
			},
		},
		{
			name: "a test fails that is in no list", set: "on",
			results: []result{good, {test: "a.bad", outcome: failed, words: "-32603\nleft"}},
			want:    verdict{Executed: 2, Passed: 1, Failed: 1},
			wrong:   []string{`FAILED a.bad: "-32603\nleft"`},
		},
		{
			name: "a known fault passes", set: "on",
			results: []result{good, {test: "a.wrong"}}, faults: []fault{wrongTest},
			want:  verdict{Executed: 2, Passed: 2},
			wrong: []string{"a.wrong does not fail any more"},
		},
		{
			name: "a known fault is skipped", set: "on",
			results: []result{good, {test: "a.wrong", outcome: skipped, words: "gRPC"}},
			faults:  []fault{wrongTest}, skips: []skip{other},
			want:  verdict{Executed: 1, Passed: 1, Skipped: 1, Skips: []skipCount{{"another binding", 1}}},
			wrong: []string{"a.wrong does not fail any more"},
		},
		{
			name: "a known fault is gone", set: "on",
			results: []result{good}, faults: []fault{wrongTest},
			want:  verdict{Executed: 1, Passed: 1},
			wrong: []string{"a.wrong does not fail any more"},
		},
		{
			name: "a fault is known by its whole name", set: "on",
			results: []result{good, wrong, {test: "a.wrong2", outcome: failed}}, faults: []fault{wrongTest},
			want:  verdict{Executed: 3, Passed: 1, Failed: 2, Failures: []fault{wrongTest}},
			wrong: []string{"FAILED a.wrong2"},
		},
		{
			name: "a reason to skip is unknown", set: "on",
			results: []result{good, {test: "a.push", outcome: skipped, words: "Transport 'jsonrpc' not configured"}},
			want:    verdict{Executed: 1, Passed: 1, Skipped: 1},
			wrong:   []string{"skipped a.push"},
		},
		{
			name: "a reason to skip is another set's", set: "on",
			results: []result{good, stream}, skips: []skip{onlyOff},
			want:  verdict{Executed: 1, Passed: 1, Skipped: 1},
			wrong: []string{"skipped a.stream"},
		},
		{
			name: "a reason to skip is not needed", set: "off",
			results: []result{good}, skips: []skip{other, onlyOff},
			want:  verdict{Executed: 1, Passed: 1},
			wrong: []string{`"another binding" any more`, `"streams" any more`},
		},
		{
			name: "nothing was tested", set: "on",
			results: []result{grpc}, skips: []skip{other},
			want:  verdict{Skipped: 1, Skips: []skipCount{{"another binding", 1}}},
			wrong: []string{"nothing was tested"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := judge(test.set, test.results, test.faults, test.skips)
			test.want.Set = test.set
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(verdict{})); diff != "" {
				t.Errorf("the verdict differs (-want +got):\n%s", diff)
			}
			if len(got.wrong) != len(test.wrong) {
				t.Fatalf("findings %q, want %d", got.wrong, len(test.wrong))
			}
			for i, want := range test.wrong {
				if !strings.Contains(got.wrong[i], want) {
					t.Errorf("finding %q is without %q", got.wrong[i], want)
				}
			}
		})
	}
}

// Whoever adds to the lists has to say why.
func TestListsGiveReasons(t *testing.T) {
	for _, known := range faults {
		if known.Requirement == "" || known.Test == "" || known.Reason == "" {
			t.Errorf("%+v is incomplete", known)
		}
	}
	for _, known := range skips {
		if known.reason == "" || len(known.words) == 0 {
			t.Errorf("%+v is incomplete", known)
		}
		for _, words := range known.words {
			if len(words) < 10 {
				t.Errorf("%q begins too much that is not %s", words, known.reason)
			}
			if known.covers("on", "Transport 'jsonrpc' not configured") {
				t.Errorf("%q would leave out what is to be tested", words)
			}
		}
	}
}
