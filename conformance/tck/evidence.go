package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// evidenceFile is where the last run that passed left its evidence, from the
// module's root.
const evidenceFile = "conformance/evidence/tck.json"

// evidence is what a run of both sets at the pinned revision found. Only the
// date and the revision differ between two runs that find the same.
type evidence struct {
	Date     string    `json:"date"` // of the run, UTC
	Revision string    `json:"revision"`
	Modified bool      `json:"modified"` // the tree had changes that the revision has not
	Kit      kitRecord `json:"kit"`
	Sets     []verdict `json:"sets"`
}

type kitRecord struct {
	Repository string `json:"repository"`
	Branch     string `json:"branch"`
	Commit     string `json:"commit"`
	Selection  string `json:"selection"`
}

// newEvidence says what is to be tested, and when; what comes of it is missing.
func newEvidence(ctx context.Context, root string, now time.Time) (evidence, error) {
	commit, err := git(ctx, root, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return evidence{}, err
	}
	changes, err := git(ctx, root, "status", "--porcelain", "--", ".", ":(exclude)"+filepath.ToSlash(filepath.Dir(evidenceFile)))
	if err != nil {
		return evidence{}, err
	}
	return evidence{
		Date: now.UTC().Format(time.DateOnly), Revision: commit, Modified: changes != "",
		Kit: kitRecord{Repository: kitRepository, Branch: kitBranch, Commit: kitCommit, Selection: selection},
	}, nil
}

func (e evidence) write(root string) error {
	text, err := json.Marshal(e, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	name := filepath.Join(root, filepath.FromSlash(evidenceFile))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // Part of the source tree.
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644) //nolint:gosec // Part of the source tree.
}
