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

const (
	module = "github.com/legation/legation"
	// workDir keeps the Python environment, and logs and reports of the last
	// run, from the module's root.
	workDir = ".bin/tck"
	// selection is the kit's name of what is tested.
	selection = "jsonrpc"
)

// run tests the sets that the settings name and writes evidence of both. A run
// that fails leaves the evidence of the last one that passed.
func run(ctx context.Context, s settings, out io.Writer) error {
	commit, err := revision(ctx, s.kit, s.anyRevision)
	if err != nil {
		return err
	}
	root, err := output(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	return runCommit(ctx, s, commit, root, buildAgent, out)
}

// buildAgent builds the test agent of the module in a directory.
func buildAgent(ctx context.Context, root, program string) error {
	_, err := output(ctx, "go", "-C", root, "build", "-o", program, "./conformance/testagent")
	return err
}

// runCommit does what [run] does with one commit of the kit.
func runCommit(ctx context.Context, s settings, commit, root string, build func(ctx context.Context, root, program string) error, out io.Writer) (err error) {
	record, err := newEvidence(ctx, root, time.Now())
	if err != nil {
		return err
	}
	work := filepath.Join(root, filepath.FromSlash(workDir))
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "tck-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	t := tester{kit: filepath.Join(scratch, "kit"), agent: filepath.Join(scratch, "testagent"), work: work}
	if err := clone(ctx, s.kit, commit, t.kit); err != nil {
		return err
	}
	fmt.Fprintf(out, "kit %s at %s, tests of %s\n", kitRepository, commit, selection)
	if t.python, err = environment(ctx, s, t.kit, work); err != nil {
		return err
	}
	if err := build(ctx, root, t.agent); err != nil {
		return err
	}
	record.Sets, err = t.testAll(ctx, s.sets, out)
	switch {
	case err != nil:
		return err
	case commit != kitCommit || len(s.sets) < 2:
		fmt.Fprintln(out, "passed; no evidence is written: that takes both sets and the pinned revision")
		return nil
	}
	if err := record.write(root); err != nil {
		return err
	}
	fmt.Fprintf(out, "passed; evidence is in %s\n", evidenceFile)
	return nil
}
