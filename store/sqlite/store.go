package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	driver "modernc.org/sqlite"

	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/task"
)

// Store keeps tasks, work, secrets and what is registered in one directory. It
// implements [task.Store], [vault.Store] and [registry.Store]. All methods are
// safe for concurrent use; after Close they return [ErrClosed].
//
// A call whose context ends while its change waits returns the context's
// error, and the change may be stored all the same.
type Store struct {
	committed func() // for tests: after COMMIT and before memory has it

	dir      string
	cfg      Config
	lock     *os.File
	db       *sql.DB
	tokenKey []byte

	queue   chan *change          // changes that wait for the writer
	closing chan struct{}         // closed when Close begins
	stopped chan struct{}         // closed when the writer has ended
	failed  atomic.Pointer[error] // why the newest transaction was not stored
	close   func() error
	readers chan *reader

	owners  *owners
	cache   *cache
	tail    *tail
	watches *watches
	ready   chan struct{}
}

var (
	_ task.Store     = (*Store)(nil)
	_ vault.Store    = (*Store)(nil)
	_ registry.Store = (*Store)(nil)
	_ people.Store   = (*Store)(nil)
)

// Open opens the store in a directory and creates both if they do not exist.
// Work that was held when the store was last used is ready again. The errors
// include [LockedError] and [SchemaError]. The context bounds opening only.
func Open(ctx context.Context, dir string, cfg Config) (_ *Store, err error) {
	cfg = cfg.withDefaults()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir:     dir,
		cfg:     cfg,
		queue:   make(chan *change, maxGroup),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		readers: make(chan *reader, cfg.Readers),
		owners:  newOwners(),
		cache:   newCache(cfg.CacheBytes),
		tail:    newTail(cfg.TailBytes),
		watches: newWatches(),
		ready:   make(chan struct{}, 1),
	}
	s.close = sync.OnceValue(s.shutDown)
	defer func() {
		if err != nil {
			err = s.cannotOpen(errors.Join(err, s.release()))
		}
	}()
	if err := s.takeDirectory(); err != nil {
		return nil, err
	}
	s.db, err = s.openDatabase()
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, err
	}
	if err := syncDirectory(dir); err != nil {
		return nil, err
	}
	if err := s.startWriter(ctx); err != nil {
		return nil, err
	}
	for range cfg.Readers {
		s.readers <- &reader{}
	}
	return s, nil
}

func (s *Store) cannotOpen(err error) error {
	// These say by themselves which directory they mean, and what to do.
	if locked, ok := errors.AsType[*LockedError](err); ok {
		return locked
	}
	if schema, ok := errors.AsType[*SchemaError](err); ok {
		return schema
	}
	return fmt.Errorf("open store in %s: %w", s.dir, s.inWords(err))
}

// Close stores what waits, refuses what comes later, and frees the directory.
// It waits for reads under way.
func (s *Store) Close() error { return s.close() }

func (s *Store) shutDown() error {
	close(s.closing)
	<-s.stopped
	for range s.cfg.Readers {
		if r := <-s.readers; r.conn != nil {
			r.close()
		}
	}
	return s.release()
}

// release frees what Open has taken so far.
func (s *Store) release() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// takeDirectory creates and locks the directory.
func (s *Store) takeDirectory() error {
	if err := makeDirectory(s.dir, syncDirectory); err != nil {
		return err
	}
	lock, err := lockDirectory(s.dir)
	if err != nil {
		return err
	}
	s.lock = lock
	// Created here so that nobody else can read it, nor the files beside it,
	// which take its permissions.
	file, err := os.OpenFile(filepath.Join(s.dir, databaseName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func (s *Store) openDatabase() (*sql.DB, error) {
	synchronous := "FULL"
	if s.cfg.Sync == Off {
		synchronous = "OFF"
	}
	// The faster call, where the system has it, keeps a commit just as durable.
	if _, err := driver.Fdatasync(true); err != nil && !errors.Is(err, driver.ErrFdatasyncUnavailable) {
		return nil, err
	}
	path := filepath.ToSlash(filepath.Join(s.dir, databaseName))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": {
		"busy_timeout(5000)",
		"synchronous(" + synchronous + ")",
		"cache_size(-16384)",
		"temp_store(MEMORY)",
		"journal_size_limit(67108864)",
		"wal_autocheckpoint(4000)",
	}}.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(s.cfg.Readers + 2) // the writer's, and one for migrations
	return db, nil
}

// TokenKey returns 32 random bytes that were chosen when the store was created.
func (s *Store) TokenKey(context.Context) ([]byte, error) {
	return append([]byte(nil), s.tokenKey...), nil
}
