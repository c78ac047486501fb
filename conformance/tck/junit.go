package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// outcome is what came of a test; a later one outweighs an earlier one.
type outcome int

const (
	passed outcome = iota
	skipped
	failed // errors and expected failures, too: nothing is expected but [faults]
)

// result is one test of the kit.
type result struct {
	test    string // its module below tests/compatibility, class and name, with dots
	outcome outcome
	words   string // why it was skipped or failed, as the kit says
}

type junitCase struct {
	Class    string      `xml:"classname,attr"`
	Name     string      `xml:"name,attr"`
	Failures []junitNote `xml:"failure"`
	Errors   []junitNote `xml:"error"`
	Skips    []junitNote `xml:"skipped"`
}

type junitNote struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
}

const largestReport = 16 << 20

// readReport reads the JUnit report of a run.
func readReport(name string) ([]result, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parseReport(io.LimitReader(file, largestReport))
}

// parseReport returns the tests of a JUnit report in its order. A test that the
// report has twice, as it has one that fails again while it is torn down, is
// one with the worse outcome.
func parseReport(r io.Reader) ([]result, error) {
	var report struct {
		XMLName xml.Name    `xml:"testsuites"`
		Cases   []junitCase `xml:"testsuite>testcase"`
	}
	if err := xml.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("JUnit report: %w", err)
	}
	if len(report.Cases) == 0 {
		return nil, errors.New("JUnit report: no test in it")
	}
	var results []result
	place := make(map[string]int)
	for _, c := range report.Cases {
		one := c.result()
		at, again := place[one.test]
		switch {
		case !again:
			place[one.test] = len(results)
			results = append(results, one)
		case one.outcome > results[at].outcome:
			results[at] = one
		}
	}
	return results, nil
}

func (c junitCase) result() result {
	one := result{test: strings.TrimPrefix(c.Class+"."+c.Name, "tests.compatibility.")}
	for _, note := range c.Skips {
		one.outcome, one.words = skipped, note.Message
		if note.Type != "pytest.skip" { // a wish that was not met
			one.outcome = failed
		}
	}
	for _, note := range append(c.Failures, c.Errors...) {
		one.outcome, one.words = failed, note.Message
	}
	return one
}
