package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// patience is how long the kit may take for one set.
const patience = 10 * time.Minute

// tester is what a test of one set needs.
type tester struct {
	kit, agent, python, work string
}

// testAll tests one set after the other and says what came of each. It fails
// after the last one if anything was wrong.
func (t tester) testAll(ctx context.Context, sets []string, out io.Writer) ([]verdict, error) {
	var verdicts []verdict
	wrong := 0
	for _, set := range sets {
		results, err := t.test(ctx, set)
		if err != nil {
			return nil, fmt.Errorf("set %s: %w (see %s/%s.log)", set, err, workDir, set)
		}
		v := judge(set, results, faults, skips)
		v.print(out)
		wrong += len(v.wrong)
		verdicts = append(verdicts, v)
	}
	if wrong > 0 {
		return nil, fmt.Errorf("%d findings (see the logs and reports in %s)", wrong, workDir)
	}
	return verdicts, nil
}

// test runs the kit against the test agent with one set.
func (t tester) test(ctx context.Context, set string) (_ []result, err error) {
	log, err := os.Create(filepath.Join(t.work, set+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	report := filepath.Join(t.work, set+".xml")
	if err := os.Remove(report); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	agent, err := startAgent(ctx, t.agent, set, log)
	if err != nil {
		return nil, err
	}
	kit, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the kit took longer than %v", patience))
	defer cancel()
	// 1 says that tests failed, which the report says better.
	err = logged(kit, log, t.kit, []int{1}, t.python, "-m", "pytest", "tests/compatibility/",
		"--sut-host="+agent.url, "--transport="+selection, "--junitxml="+report, "-q", "--tb=short", "-p", "no:cacheprovider")
	if err := errors.Join(err, agent.end()); err != nil {
		return nil, err
	}
	return readReport(report)
}

func (v verdict) print(out io.Writer) {
	fmt.Fprintf(out, "set %s: %d executed, %d passed, %d failed, %d skipped\n", v.Set, v.Executed, v.Passed, v.Failed, v.Skipped)
	for _, known := range v.Failures {
		fmt.Fprintf(out, "  known fault of the kit: %s: %s\n", known.Requirement, known.Reason)
	}
	for _, known := range v.Skips {
		fmt.Fprintf(out, "  %3d skipped: %s\n", known.Tests, known.Reason)
	}
	for _, words := range v.wrong {
		fmt.Fprintf(out, "  WRONG: %s\n", words)
	}
}
