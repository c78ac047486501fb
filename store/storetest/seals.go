package storetest

import (
	"bytes"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/vault"
)

// Master keys, as stores know them.
var (
	keyA = vault.KeyID{'a', 0, 'a', 0xff}
	keyB = vault.KeyID{'b', 0, 'b', 0xff}
)

// sealed is a version of a secret. What it is sealed with shows only where
// stores look: in bytes 2 to 9.
func (f *fixture) sealed(name string, version int64, key vault.KeyID) vault.Secret {
	return vault.Secret{
		Name: name, Version: version, Author: "root", CreatedAt: f.clock.Now(),
		Sealed: envelope(key, fmt.Sprintf("\x00%s@%d\xff", name, version)),
	}
}

func envelope(key vault.KeyID, rest string) []byte {
	return append(append([]byte{1}, key[:]...), rest...)
}

var sealTests = map[string]func(*fixture){
	"the keys in use are found": func(f *fixture) {
		f.sealKeys()
		f.addSecret("one", 1, keyB)
		f.addSecret("two", 1, keyA)
		f.addSecret("two", 2, keyB)
		f.sealKeys(keyA, keyB)
		f.deleteSecret("two@1")
		f.sealKeys(keyB)
		f.deleteSecret("one")
		f.deleteSecret("two")
		f.sealKeys()
	},

	"values of a key are found page by page": func(f *fixture) {
		var want []string
		for i := range 7 {
			want = append(want, string(f.addSecret(numbered("s", i), 1, keyA).Sealed))
			f.addSecret(numbered("t", i), 1, keyB)
		}
		var got []string
		var after vault.Place
		for {
			rows := f.sealedRows(keyA, after, 3)
			if len(rows) == 0 {
				break
			}
			for _, row := range rows {
				got = append(got, string(row.Sealed))
				after = row.Place
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.Errorf("SealedRows() (-want +got):\n%s", diff)
		}
	},

	"a value is replaced only where it still is": func(f *fixture) {
		kept := f.addSecret("kept", 1, keyA)
		f.addSecret("deleted", 1, keyA)
		rows := f.sealedRows(keyA, vault.Place{}, 10)
		f.deleteSecret("deleted")
		var values []vault.Resealed
		for _, row := range rows {
			values = append(values, vault.Resealed{Place: row.Place, Old: row.Sealed, New: envelope(keyB, "new")})
		}
		values = append(values, vault.Resealed{Place: rows[0].Place, Old: []byte("another"), New: envelope(keyB, "wrong")})
		f.reseal(values, 1)
		f.reseal(values, 0)
		kept.Sealed = envelope(keyB, "new")
		f.secret(vault.Reference{Name: "kept"}, kept)
		f.noSecret(vault.Reference{Name: "deleted"})
		f.reseal(nil, 0)
		elsewhere := vault.Resealed{Place: vault.Place{Column: "tasks.status", Row: 1}}
		if _, err := f.store.Reseal(f.ctx(), []vault.Resealed{elsewhere}); err == nil {
			f.Error("Reseal() of a column that has no sealed values succeeded")
		}
	},

	"what was replaced before a crash stays, and the rest is found after it": func(f *fixture) {
		for i := range 5 {
			f.addSecret(numbered("s", i), 1, keyA)
		}
		renew := func(rows []vault.SealedRow) {
			var values []vault.Resealed
			for _, row := range rows {
				fresh := bytes.Replace(row.Sealed, keyA[:], keyB[:], 1)
				values = append(values, vault.Resealed{Place: row.Place, Old: row.Sealed, New: fresh})
			}
			f.reseal(values, len(values))
		}
		renew(f.sealedRows(keyA, vault.Place{}, 2))
		f.crash()
		f.sealKeys(keyA, keyB)
		rows := f.sealedRows(keyA, vault.Place{}, 10)
		if len(rows) != 3 {
			f.Fatalf("%d values are left after the crash, want 3", len(rows))
		}
		renew(rows)
		f.sealKeys(keyB)
		for i := range 5 {
			f.secret(vault.Reference{Name: numbered("s", i)}, f.sealed(numbered("s", i), 1, keyB))
		}
	},
}

func (f *fixture) sealKeys(want ...vault.KeyID) {
	f.Helper()
	got, err := f.store.SealKeys(f.ctx())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		f.Errorf("SealKeys() error %v (-want +got):\n%s", err, diff)
	}
}

func (f *fixture) sealedRows(key vault.KeyID, after vault.Place, limit int) []vault.SealedRow {
	f.Helper()
	rows, err := f.store.SealedRows(f.ctx(), key, after, limit)
	if err != nil {
		f.Fatalf("SealedRows() error = %v", err)
	}
	return rows
}

func (f *fixture) reseal(values []vault.Resealed, want int) {
	f.Helper()
	if got, err := f.store.Reseal(f.ctx(), values); err != nil || got != want {
		f.Errorf("Reseal() = %d, %v, want %d", got, err, want)
	}
}
