package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	databaseName = "legation.db"
	lockName     = "legation.lock"
)

// errLocked is what tryLock returns when another holder has the lock.
var errLocked = errors.New("locked")

// Present reports whether a directory holds a store, without opening it.
func Present(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, databaseName))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// makeDirectory creates a directory and those above it that are missing, and
// makes the name of each new one durable with sync.
func makeDirectory(dir string, sync func(dir string) error) error {
	var grown []string // directories that get a new name
	for level := dir; ; level = filepath.Dir(level) {
		above := filepath.Dir(level)
		if _, err := os.Stat(level); err == nil || above == level {
			break
		}
		grown = append(grown, above)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, above := range slices.Backward(grown) {
		if err := sync(above); err != nil {
			return err
		}
	}
	return nil
}

// lockDirectory takes the directory for this process. The operating system
// frees the lock when the process ends, however it ends; the file stays.
func lockDirectory(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(file); err != nil {
		defer file.Close()
		if errors.Is(err, errLocked) {
			return nil, &LockedError{Dir: dir, PID: readPID(file)}
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	// Who holds the lock is a courtesy to the next one; the lock does not
	// depend on it.
	if err := file.Truncate(0); err == nil {
		_, _ = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return file, nil
}

func readPID(file *os.File) int {
	text := make([]byte, 32)
	n, _ := file.ReadAt(text, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return 0
	}
	return pid
}
