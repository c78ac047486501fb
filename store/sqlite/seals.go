package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/legation/legation/internal/vault"
)

// sealedColumn is a column with envelopes. Its table has row ids, its name ends
// in _sealed, and an index finds its rows by their master key.
type sealedColumn struct{ table, column string }

// sealedColumns are all columns with envelopes, in order. Rotation reaches what
// is listed here; a test compares the list with the schema.
var sealedColumns = []sealedColumn{
	{"secrets", "value_sealed"},
}

func (c sealedColumn) name() string { return c.table + "." + c.column }

// text fills in the names of the table, the column, and the expression and
// condition of the index.
func (c sealedColumn) text(query string) string {
	return strings.NewReplacer(
		"{table}", c.table,
		"{column}", c.column,
		"{index}", c.table+"_"+c.column,
		"{key}", "substr("+c.column+", 2, 8)",
		"{set}", c.column+" IS NOT NULL",
	).Replace(query)
}

// The indexes are named, so that a query that could not use one is an error.
const (
	sealKeysText = "SELECT DISTINCT {key} FROM {table} INDEXED BY {index} WHERE {set}"

	sealedRowsText = `SELECT rowid, {column} FROM {table} INDEXED BY {index}
		WHERE {set} AND {key} = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ?3`

	resealText = "UPDATE {table} SET {column} = ?1 WHERE rowid = ?2 AND {column} = ?3"
)

// SealKeys returns the master keys that any column is sealed with.
func (s *Store) SealKeys(ctx context.Context) ([]vault.KeyID, error) {
	var keys []vault.KeyID
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() error {
			for _, column := range sealedColumns {
				err := r.each(column.text(sealKeysText), nil, func(found row) (bool, error) {
					// What is shorter is no envelope, and has no key.
					if id := found.bytes(0); len(id) == len(vault.KeyID{}) {
						keys = append(keys, vault.KeyID(id))
					}
					return true, nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, func(a, b vault.KeyID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(keys), nil
}

// SealedRows returns values sealed with a master key, by their places.
func (s *Store) SealedRows(ctx context.Context, key vault.KeyID, after vault.Place, limit int) ([]vault.SealedRow, error) {
	var found []vault.SealedRow
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() error {
			for _, column := range sealedColumns {
				if column.name() < after.Column || len(found) >= limit {
					continue
				}
				from := int64(-1 << 63)
				if column.name() == after.Column {
					from = after.Row
				}
				args := []any{key[:], from, int64(limit - len(found))}
				err := r.each(column.text(sealedRowsText), args, func(values row) (bool, error) {
					place := vault.Place{Column: column.name(), Row: values.int(0)}
					found = append(found, vault.SealedRow{Place: place, Sealed: values.bytes(1)})
					return true, nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Reseal replaces values that are still the old ones.
func (s *Store) Reseal(ctx context.Context, values []vault.Resealed) (int, error) {
	if len(values) == 0 {
		return 0, nil
	}
	var replaced int
	err := s.write(ctx, func(t *tx) error {
		replaced = 0
		for _, value := range values {
			i := slices.IndexFunc(sealedColumns, func(c sealedColumn) bool { return c.name() == value.Column })
			if i < 0 {
				return fmt.Errorf("%s is no sealed column", value.Column)
			}
			changed, err := t.exec(sealedColumns[i].text(resealText), value.New, value.Row, value.Old)
			if err != nil {
				return err
			}
			replaced += int(changed)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return replaced, nil
}
