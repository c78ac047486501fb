package main

import (
	"fmt"
	"slices"
)

// verdict is what came of one capability set.
type verdict struct {
	Set      string      `json:"set"`
	Executed int         `json:"executed"`
	Passed   int         `json:"passed"`
	Failed   int         `json:"failed"`
	Skipped  int         `json:"skipped"`
	Failures []fault     `json:"failures"` // those that are known
	Skips    []skipCount `json:"skips"`

	// wrong is what fails the run, in words.
	wrong []string
}

type skipCount struct {
	Reason string `json:"reason"`
	Tests  int    `json:"tests"`
}

// judge compares the results of one set with what is known of the kit.
func judge(set string, results []result, faults []fault, skips []skip) verdict {
	v := verdict{Set: set, Failures: []fault{}, Skips: []skipCount{}}
	counts := make([]int, len(skips))
	for _, one := range results {
		switch one.outcome {
		case passed:
			v.Passed++
		case failed:
			v.Failed++
			v.fails(one, faults)
		case skipped:
			v.Skipped++
			v.skips(one, skips, counts)
		}
	}
	v.Executed = v.Passed + v.Failed
	if v.Passed == 0 {
		v.object("no test passed: nothing was tested")
	}
	for _, known := range faults {
		if !slices.Contains(v.Failures, known) {
			v.object("%s does not fail any more: take it from the list of faults", known.Test)
		}
	}
	for i, known := range skips {
		switch {
		case counts[i] > 0:
			v.Skips = append(v.Skips, skipCount{Reason: known.reason, Tests: counts[i]})
		case known.sets == nil || slices.Contains(known.sets, set):
			v.object("no test is skipped for %q any more: take it from the list of skips", known.reason)
		}
	}
	return v
}

func (v *verdict) fails(one result, faults []fault) {
	for _, known := range faults {
		if known.Test == one.test {
			v.Failures = append(v.Failures, known)
			return
		}
	}
	v.object("FAILED %s: %.300q", one.test, one.words)
}

func (v *verdict) skips(one result, skips []skip, counts []int) {
	for i, known := range skips {
		if known.covers(v.Set, one.words) {
			counts[i]++
			return
		}
	}
	v.object("skipped %s: %.300q is no reason we know", one.test, one.words)
}

func (v *verdict) object(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}
