package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const installing = 10 * time.Minute

// environment returns a Python that has what the kit in a directory requires.
// The environment is made once and used until the Python or the requirements
// change.
func environment(ctx context.Context, s settings, kit, work string) (string, error) {
	if s.venv != "" {
		python, err := filepath.Abs(filepath.Join(s.venv, "bin", "python"))
		if err != nil {
			return "", err
		}
		_, err = pythonVersion(ctx, python)
		return python, err
	}
	version, err := pythonVersion(ctx, s.python)
	if err != nil {
		return "", err
	}
	need, err := readRequirements(kit)
	if err != nil {
		return "", err
	}
	venv := filepath.Join(work, "venv")
	python := filepath.Join(venv, "bin", "python")
	stamp := filepath.Join(venv, "complete")
	complete := version + "\n" + need.lines() + need.constraints()
	switch made, err := os.ReadFile(stamp); {
	case err == nil && string(made) == complete:
		return python, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, installing, fmt.Errorf("nothing was installed within %v", installing))
	defer cancel()
	if err := install(ctx, s.python, venv, python, need); err != nil {
		return "", err
	}
	return python, os.WriteFile(stamp, []byte(complete), 0o600)
}

// pythonVersion refuses a Python that is too old for the kit.
func pythonVersion(ctx context.Context, python string) (string, error) {
	const ask = "import platform, sys; print(platform.python_version()); sys.exit(sys.version_info < (3, 11))"
	version, err := output(ctx, python, "-c", ask)
	if err != nil {
		return "", fmt.Errorf("the kit needs Python 3.11 or later: %w", err)
	}
	return version, nil
}

// install makes the environment anew.
func install(ctx context.Context, maker, venv, python string, need requirements) error {
	if _, err := output(ctx, maker, "-m", "venv", "--clear", venv); err != nil {
		return err
	}
	wanted, held := filepath.Join(venv, "requirements.txt"), filepath.Join(venv, "constraints.txt")
	if err := errors.Join(
		os.WriteFile(wanted, []byte(need.lines()), 0o600),
		os.WriteFile(held, []byte(need.constraints()), 0o600),
	); err != nil {
		return err
	}
	_, err := output(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
		"--requirement", wanted, "--constraint", held)
	return err
}
