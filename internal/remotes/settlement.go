package remotes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// marker is a [trust.Settlement] that is a file: it can be taken away where the
// store has no room to write.
type marker string

// Settled implements [trust.Settlement].
func (m marker) Settled() bool {
	_, err := os.Lstat(string(m))
	return err == nil
}

// Settle implements [trust.Settlement]. The mark is away when it returns, whatever
// becomes of the machine; that it is there may be forgotten.
func (m marker) Settle(settled bool) error {
	if settled {
		return os.WriteFile(string(m), nil, 0o600)
	}
	if err := os.Remove(string(m)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir, err := os.Open(filepath.Dir(string(m)))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
