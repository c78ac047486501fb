package app_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/legation/legation/internal/vault"
)

// kept says what the columns of a table may hold besides names, numbers, states
// and hashes.
type kept struct {
	content []string // what callers and agents say to each other
	texts   []string // what administrators have written: prompts, descriptions
	foreign []string // what remote agents publish of themselves
	sealed  []string // envelopes
}

// tables is every table of the store. One that is missing fails the test: say
// here what it holds before there is anything in it.
var tables = map[string]kept{
	"tasks":        {content: []string{"turn_metadata", "status", "metadata", "history", "artifacts"}},
	"events":       {content: []string{"body"}},
	"documents":    {texts: []string{"body"}},
	"secrets":      {sealed: []string{"value_sealed"}},
	"remote_cards": {foreign: []string{"raw", "accepted"}},

	"audit":            {},
	"audit_seals":      {},
	"cards":            {},
	"contexts":         {},
	"goose_db_version": {},
	"messages":         {},
	"meta":             {},
	"owners":           {},
	"people":           {},
	"quota_days":       {},
	"quota_holds":      {},
	"secret_uses":      {},
	"sqlite_sequence":  {},
	"work":             {},
}

// columns reads the store of a data directory, column by column, and looks for
// what each must not hold. It returns the markers that it saw.
func (m *markers) columns(t *testing.T, data string, keys []vault.KeyID) (seen map[string]bool) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, "legation.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	seen = map[string]bool{}
	for table, columns := range columnsOf(t, db) {
		may, known := tables[table]
		if !known {
			t.Errorf("table %s is not classified: say in columns_test.go what it may hold", table)
		}
		for _, column := range columns {
			where := table + "." + column
			text := everything(t, db, table, column)
			none(t, where, text, m.secrets)
			switch {
			case slices.Contains(may.content, column), slices.Contains(may.texts, column):
				for marker := range m.content {
					seen[marker] = seen[marker] || holds(text, marker)
				}
			default:
				none(t, where, text, m.content)
			}
			for _, key := range keys {
				if !slices.Contains(may.sealed, column) && bytes.Contains(text, key[:]) {
					t.Errorf("%s holds an envelope, and is not one of the columns that are sealed", where)
				}
			}
		}
		for _, column := range slices.Concat(may.content, may.texts, may.foreign, may.sealed) {
			if !slices.Contains(columns, column) {
				t.Errorf("table %s has no column %s: take it out of columns_test.go", table, column)
			}
		}
	}
	return seen
}

// columnsOf are the columns of every table that there is.
func columnsOf(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	rows, err := db.Query(`SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		found[table] = append(found[table], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for table := range tables {
		if found[table] == nil {
			t.Errorf("there is no table %s: take it out of columns_test.go", table)
		}
	}
	return found
}

// everything is all values of a column.
func everything(t *testing.T, db *sql.DB, table, column string) []byte {
	t.Helper()
	rows, err := db.Query(fmt.Sprintf(`SELECT CAST(%q AS BLOB) FROM %q`, column, table))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []byte
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, value...), 0)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
