package people

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/work"
)

// FirstAdmin is the name of the person that [EnsureAdmin] makes.
const FirstAdmin = "admin"

// EnsureAdmin makes the first person, with the role [Admin], if a store has
// nobody at all, and writes the token to a file that only its owner can read. A
// file that is there then is left from a time that is gone, and is replaced.
// If there is anybody it does nothing, whether the file is there or not.
func EnsureAdmin(ctx context.Context, store Store, path string, now func() time.Time) (created bool, err error) {
	all, err := store.People(ctx)
	if err != nil {
		return false, fmt.Errorf("read people: %w", err)
	}
	if len(all) > 0 {
		return false, nil
	}
	if now == nil {
		now = time.Now
	}
	text, token := issue()
	at := now().UTC().Truncate(time.Millisecond)
	p := Person{Name: FirstAdmin, Role: Admin, Token: token, CreatedAt: at, Author: "legation"}
	// The file first: a token that nobody has would lock everybody out, one
	// that opens nothing is replaced by the next start.
	if err := writeToken(path, text); err != nil {
		return false, fmt.Errorf("write the token of the first admin: %w", err)
	}
	effects := work.Effects{Audit: []audit.Entry{putEntry(p.Author, p)}}
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	if err := store.ChangePeople(storing, Change{Put: &p, At: at}, effects); err != nil {
		return notAdded(ctx, store, p, path, fmt.Errorf("add the first admin: %w", err))
	}
	return true, nil
}

// notAdded looks what has become of the first admin after an error, with which
// the change may be stored all the same. The token is thrown away only where it
// is sure to open nothing.
func notAdded(ctx context.Context, store Store, p Person, path string, failure error) (bool, error) {
	reading, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer cancel()
	all, err := store.People(reading)
	switch {
	case err != nil:
		return false, errors.Join(failure, err)
	case len(all) == 0:
		return false, errors.Join(failure, os.Remove(path))
	case slices.ContainsFunc(all, func(one Person) bool { return one.Token == p.Token }):
		return true, nil
	}
	return false, failure
}

// writeToken writes a file that only its owner can read, whole and durably or
// not at all.
func writeToken(path, text string) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err // what a start has left that did not get further
	}
	file, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text + "\n")
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		_ = os.Remove(next)
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
