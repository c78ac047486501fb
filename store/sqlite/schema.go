package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema up to date. It refuses a database of a newer
// version before it writes anything.
func (s *Store) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// The registry of goose is process-wide; this store has files only.
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.db, files, goose.WithDisableGlobalRegistry(true), goose.WithSlog(s.cfg.Logger))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	known := sources[len(sources)-1].Version
	found, err := s.schemaVersion(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read schema version: %w", err)
	case found > known:
		return &SchemaError{Dir: s.dir, Found: found, Known: known}
	}
	// The mode is a property of the file and stays with it.
	if _, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return fmt.Errorf("switch to write-ahead logging: %w", err)
	}
	if found == known {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate schema from version %d to %d: %w", found, known, err)
	}
	return nil
}

// schemaVersion is zero for an empty database.
func (s *Store) schemaVersion(ctx context.Context) (int64, error) {
	var tables int
	err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'").Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	var version sql.NullInt64
	err = s.db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version)
	return version.Int64, err
}
