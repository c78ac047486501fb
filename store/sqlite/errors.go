package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// Errors of the store beside those of its contract. Compare with errors.Is.
var (
	// ErrDiskFull: a change was not stored because there is no space left. The
	// store goes on; changes succeed again once there is space.
	ErrDiskFull = errors.New("disk is full")

	// ErrDisk: a change or a read failed because the disk did. The store goes
	// on.
	ErrDisk = errors.New("disk error")

	// ErrDamaged: the database is not what was written. It does not get
	// better by itself.
	ErrDamaged = errors.New("the database is damaged")

	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

// LockedError says that another process uses the data directory.
type LockedError struct {
	Dir string
	PID int // zero if it is not known
}

// Error says so, and what to do.
func (e *LockedError) Error() string {
	who := "another legation process"
	if e.PID > 0 {
		who = fmt.Sprintf("another legation process (pid %d)", e.PID)
	}
	return fmt.Sprintf("%s uses %s; stop it or choose another --data", who, e.Dir)
}

// SchemaError says that the database was written by a newer version.
type SchemaError struct {
	Dir   string
	Found int64 // version of the schema in the database
	Known int64 // newest version this program knows
}

// Error says so, and what to do.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("the database in %s has schema version %d and this legation knows versions up to %d; "+
		"use the newer legation that wrote it, or restore a backup made before the upgrade", e.Dir, e.Found, e.Known)
}

// inWords names the failures of the disk and leaves other errors alone.
func (s *Store) inWords(err error) error {
	failure, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return err
	}
	switch failure.Code() & 0xff {
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: nothing of this change was stored in %s; it can be repeated once there is space: %w", ErrDiskFull, s.dir, err)
	case codes.SQLITE_IOERR:
		return fmt.Errorf("%w in %s: %w", ErrDisk, s.dir, err)
	case codes.SQLITE_CORRUPT, codes.SQLITE_NOTADB:
		return fmt.Errorf("%w in %s, restore a backup: %w", ErrDamaged, s.dir, err)
	}
	return err
}
