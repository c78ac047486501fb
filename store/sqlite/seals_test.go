package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

// Every column that the schema says is sealed is reached by the rotation, and
// the other way round.
func TestEverySealedColumnIsReached(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, sqlite.Config{Sync: sqlite.Off}).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT t.name, c.name, c.type, l.wr, (SELECT sql FROM sqlite_schema WHERE name = t.name || '_' || c.name)
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c JOIN pragma_table_list(t.name) AS l
		WHERE t.type = 'table' AND c.name LIKE '%\_sealed' ESCAPE '\' ORDER BY t.name, c.name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var table, column, kind string
		var withoutRows bool
		var index sql.NullString
		if err := rows.Scan(&table, &column, &kind, &withoutRows, &index); err != nil {
			t.Fatal(err)
		}
		name := table + "." + column
		found = append(found, name)
		if kind != "BLOB" || withoutRows {
			t.Errorf("%s is of type %s, in a table without row ids: %v; want a BLOB in one with them", name, kind, withoutRows)
		}
		want := fmt.Sprintf("CREATE INDEX %s_%s ON %[1]s (substr(%[2]s, 2, 8)) WHERE %[2]s IS NOT NULL", table, column)
		if index.String != want {
			t.Errorf("%s has the index %q, want %q", name, index.String, want)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no sealed column found, so this compares nothing")
	}
	if !slices.IsSorted(sqlite.SealedColumns()) {
		t.Errorf("%v is not in order", sqlite.SealedColumns())
	}
	if diff := cmp.Diff(found, sqlite.SealedColumns()); diff != "" {
		t.Errorf("columns of the schema that end in _sealed, and the list in seals.go (-schema +list):\n%s", diff)
	}
}

// REQ-GEN-04: the text of a secret is in no file of the store,
// neither while it is there nor after it was used, rotated and deleted.
func TestSecretsAreNotInTheFiles(t *testing.T) {
	const marker = "marker-3f9d8a-correct-horse"
	dir := t.TempDir()
	store := open(t, dir, sqlite.Config{Sync: sqlite.Off})
	keyFile := filepath.Join(t.TempDir(), "master.key")
	keys, created, err := vault.OpenKeys(t.Context(), store, keyFile)
	if err != nil || !created {
		t.Fatalf("OpenKeys() = created %v, error %v", created, err)
	}
	secrets := vault.New(store, vault.NewSealer(keys), vault.Config{})
	use := vault.Use{Who: "marker-use", Purpose: "test"}
	look := func(when string) {
		t.Helper()
		all := contents(t, dir)
		for _, shown := range []string{"marker-name", "marker-author", use.Who} {
			if !bytes.Contains(all, []byte(shown)) {
				t.Errorf("%s: %s is in no file, so this test sees nothing", when, shown)
			}
		}
		if bytes.Contains(all, []byte(marker)) {
			t.Errorf("%s: the secret is in the files", when)
		}
	}
	if _, err := secrets.Put(t.Context(), "marker-name", vault.NewValue([]byte(marker)), "marker-author", work.Effects{}); err != nil {
		t.Fatal(err)
	}
	value, err := secrets.Open(t.Context(), vault.Reference{Name: "marker-name"}, use)
	if err != nil || string(value.Reveal()) != marker {
		t.Fatalf("Open() = %q, %v", value.Reveal(), err)
	}
	look("stored and used")
	if keys, err = vault.AddKey(keyFile); err != nil {
		t.Fatal(err)
	}
	if err := secrets.UseKeys(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	if done, err := secrets.Rotate(t.Context()); err != nil || done.Rewrapped != 1 {
		t.Fatalf("Rotate() = %+v, %v", done, err)
	}
	look("rotated")
	if err := secrets.Delete(t.Context(), vault.Reference{Name: "marker-name"}, work.Effects{}); err != nil {
		t.Fatal(err)
	}
	look("deleted")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	look("closed")
}

// contents are the bytes of all files of a store.
func contents(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		if strings.HasSuffix(file.Name(), "-shm") {
			continue // no content: the index of the log
		}
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	return all
}
