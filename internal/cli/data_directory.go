package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/legation/legation/store/sqlite"
)

// prepared is what a data directory may hold before there is an installation in
// it: a key put there for it, and what a file system or a start cut short left.
var prepared = []string{"master.key", "legation.lock", "lost+found"}

// installed returns nil if a directory holds an installation, or if the command
// may make one there.
func (c *connection) installed(dir string) error {
	there, err := sqlite.Present(dir)
	if there || err != nil {
		return err
	}
	const advice = "name that of your installation with --data, or its server with --admin; a new one is made by 'legation serve' and 'legation apply'"
	entries, err := os.ReadDir(dir)
	other := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(prepared, e.Name()) })
	switch {
	case errors.Is(err, fs.ErrNotExist) && !c.makes:
		return &advisedError{fmt.Errorf("there is no data directory %s", shellWord(dir)), advice}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !c.makes:
		return &advisedError{fmt.Errorf("%s holds no installation (no legation.db)", shellWord(dir)), advice}
	case other >= 0:
		return &advisedError{
			fmt.Errorf("%s holds no installation (no legation.db), and is not empty", shellWord(dir)),
			"name the data directory of your installation, or for a new one a directory that is missing or empty",
		}
	}
	return nil
}
