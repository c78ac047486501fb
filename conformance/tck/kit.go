package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// The revision of the kit that evidence is about. Moving to a later one is a
// change of its own, with what it finds.
const (
	kitRepository = "a2aproject/a2a-tck"
	kitURL        = "https://github.com/" + kitRepository
	kitBranch     = "1.0-dev"
	kitCommit     = "357c4a87afa2818731590647cccbea31c31733a2"
)

var (
	errNoKit         = errors.New("no checkout of the conformance kit")
	errOtherRevision = errors.New("the kit is at another revision than the pinned one")
)

// hintOf says what to do about an error, or nothing.
func hintOf(err error) string {
	switch {
	case errors.Is(err, errNoKit):
		return fmt.Sprintf("git clone --branch %s %s DIR && %s", kitBranch, kitURL, checkOut("DIR"))
	case errors.Is(err, errOtherRevision):
		return "run with --any-revision, which leaves no evidence, or check out the pinned revision: " + checkOut("DIR")
	}
	return ""
}

func checkOut(dir string) string { return "git -C " + dir + " checkout " + kitCommit }

var kitName = regexp.MustCompile(`(?m)^name = "a2a-tck"$`)

// revision returns the commit that a checkout of the kit is at.
func revision(ctx context.Context, dir string, anyRevision bool) (string, error) {
	commit, err := git(ctx, dir, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%s: %w: it is %s", dir, errNoKit, whatIs(dir))
	}
	if commit == kitCommit {
		return commit, nil
	}
	project, err := git(ctx, dir, "show", "HEAD:pyproject.toml")
	if err != nil || !kitName.MatchString(project) {
		return "", fmt.Errorf("%s: %w: its pyproject.toml does not say so", dir, errNoKit)
	}
	if !anyRevision {
		return "", fmt.Errorf("%s: %w\n  pinned: %s (branch %s)\n  found:  %s", dir, errOtherRevision, kitCommit, kitBranch, commit)
	}
	return commit, nil
}

// whatIs says in words what a directory is that has no commit.
func whatIs(dir string) string {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return "no directory that exists"
	case err != nil:
		return "nothing that can be read"
	case !info.IsDir():
		return "no directory"
	}
	return "no git repository with a commit"
}

// clone puts a commit of the kit into a new directory: what runs is what the
// commit says, and the checkout is not written to.
func clone(ctx context.Context, from, commit, to string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	if _, err := git(ctx, ".", "clone", "--quiet", "--shared", "--no-checkout", "--", from, to); err != nil {
		return err
	}
	_, err = git(ctx, to, "checkout", "--quiet", "--detach", commit)
	return err
}

// git runs git in a directory and returns what it says.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return output(ctx, append([]string{"git", "-C", dir}, args...)...)
}
