package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
)

// The rows of a secret, newest first.
const (
	ofName      = " FROM secrets WHERE name = ?1"
	newestFirst = " ORDER BY version DESC"
	notDeleted  = " AND value_sealed IS NOT NULL"

	metadataColumns = "SELECT name, version, author, created_ms, used_ms, substr(value_sealed, 2, 8)"
)

// SecretVersion returns the newest version of a name, deleted or not.
func (s *Store) SecretVersion(ctx context.Context, name string) (int64, error) {
	var version int64
	err := s.read(ctx, func(r *reader) error {
		found, _, err := r.one("SELECT coalesce(max(version), 0)"+ofName, name)
		if err == nil {
			version = found.int(0)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// AddSecret adds the next version of a secret.
func (s *Store) AddSecret(ctx context.Context, secret vault.Secret, effects work.Effects) error {
	return s.write(ctx, func(t *tx) error { return t.addSecret(secret, effects) })
}

func (t *tx) addSecret(secret vault.Secret, effects work.Effects) error {
	found, _, err := t.one("SELECT coalesce(max(version), 0), coalesce(min(version), 0)"+ofName, secret.Name)
	if err != nil {
		return err
	}
	if secret.Version != found.int(0)+1 {
		return vault.ErrConflict
	}
	forgotten := secret.Version - vault.MaxVersions // and all before
	if oldest := found.int(1); oldest == 0 || oldest > forgotten {
		if err := t.makeRoom(); err != nil {
			return err
		}
	}
	const insert = "INSERT INTO secrets (name, version, author, created_ms, value_sealed) VALUES (?1, ?2, ?3, ?4, ?5)"
	if _, err := t.exec(insert, secret.Name, secret.Version, secret.Author, secret.CreatedAt.UnixMilli(), secret.Sealed); err != nil {
		return err
	}
	if _, err := t.exec("DELETE FROM secrets WHERE name = ?1 AND version <= ?2", secret.Name, forgotten); err != nil {
		return err
	}
	return t.effect(effects)
}

// makeRoom forgets the oldest deleted version if there are as many versions as
// there may be.
func (t *tx) makeRoom() error {
	all, _, err := t.one("SELECT count(*) FROM secrets")
	if err != nil || all.int(0) < vault.MaxStored {
		return err
	}
	const forget = `DELETE FROM secrets WHERE n =
		(SELECT n FROM secrets INDEXED BY secrets_deleted WHERE value_sealed IS NULL ORDER BY n LIMIT 1)`
	forgotten, err := t.exec(forget)
	if err == nil && forgotten == 0 {
		err = vault.ErrFull
	}
	return err
}

// Secret returns one version of a secret.
func (s *Store) Secret(ctx context.Context, ref vault.Reference) (vault.Secret, error) {
	var secret vault.Secret
	err := s.read(ctx, func(r *reader) error {
		found, ok, err := r.one("SELECT name, version, author, created_ms, value_sealed"+
			ofName+notDeleted+" AND (?2 = 0 OR version = ?2)"+newestFirst+" LIMIT 1", ref.Name, ref.Version)
		switch {
		case err != nil:
			return err
		case !ok:
			return vault.ErrNotFound
		}
		secret = vault.Secret{
			Name: found.text(0), Version: found.int(1), Author: found.text(2),
			CreatedAt: time.UnixMilli(found.int(3)).UTC(), Sealed: found.bytes(4),
		}
		return nil
	})
	if err != nil {
		return vault.Secret{}, err
	}
	return secret, nil
}

// UseSecret records a use.
func (s *Store) UseSecret(ctx context.Context, record vault.UseRecord) error {
	return s.write(ctx, func(t *tx) error {
		const used = `UPDATE secrets SET used_ms = max(coalesce(used_ms, 0), ?3)
			WHERE name = ?1 AND version = ?2 AND value_sealed IS NOT NULL`
		at := record.At.UnixMilli()
		changed, err := t.exec(used, record.Name, record.Version, at)
		if err != nil {
			return err
		}
		if changed == 0 {
			return vault.ErrNotFound
		}
		const insert = "INSERT INTO secret_uses (at_ms, secret, version, who, purpose, party, host) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
		_, err = t.exec(insert, at, record.Name, record.Version, record.Who, record.Purpose, record.Party, record.Host)
		return err
	})
}

// ForgetSecretUses removes records of uses older than a time, up to the first
// that is not, and returns how many. It goes by batches, so that others are not
// kept waiting.
func (s *Store) ForgetSecretUses(ctx context.Context, before time.Time) (forgotten int64, err error) {
	const batch = `WITH oldest AS (SELECT n, at_ms FROM secret_uses ORDER BY n LIMIT 1000)
		DELETE FROM secret_uses WHERE n <= (SELECT max(n) FROM oldest)
		AND n < coalesce((SELECT min(n) FROM oldest WHERE at_ms >= ?1), ?2)`
	for {
		var n int64
		err := s.write(ctx, func(t *tx) (err error) {
			n, err = t.exec(batch, before.UnixMilli(), int64(math.MaxInt64))
			return err
		})
		if err != nil { // then the change may be under way still
			return forgotten, err
		}
		if n == 0 {
			return forgotten, nil
		}
		forgotten += n
	}
}

// DeleteSecret removes versions of a secret.
func (s *Store) DeleteSecret(ctx context.Context, ref vault.Reference, effects work.Effects) error {
	return s.write(ctx, func(t *tx) error { return t.deleteSecret(ref, effects) })
}

func (t *tx) deleteSecret(ref vault.Reference, effects work.Effects) error {
	const remove = "UPDATE secrets SET value_sealed = NULL WHERE name = ?1 AND (?2 = 0 OR version = ?2)" + notDeleted
	changed, err := t.exec(remove, ref.Name, ref.Version)
	if err != nil {
		return err
	}
	if changed == 0 {
		return vault.ErrNotFound
	}
	// Only the newest number must be remembered.
	const forget = `DELETE FROM secrets WHERE name = ?1 AND value_sealed IS NULL
		AND version < (SELECT max(version) FROM secrets WHERE name = ?1)`
	if _, err := t.exec(forget, ref.Name); err != nil {
		return err
	}
	return t.effect(effects)
}

// Secrets returns the newest version of each secret.
func (s *Store) Secrets(ctx context.Context) ([]vault.Metadata, error) {
	return s.metadata(ctx, metadataColumns+` FROM secrets AS s WHERE version =
		(SELECT max(version) FROM secrets AS o WHERE o.name = s.name AND value_sealed IS NOT NULL) ORDER BY name`)
}

// SecretVersions returns the versions of a secret.
func (s *Store) SecretVersions(ctx context.Context, name string) ([]vault.Metadata, error) {
	versions, err := s.metadata(ctx, metadataColumns+ofName+notDeleted+newestFirst, name)
	if err == nil && len(versions) == 0 {
		err = vault.ErrNotFound
	}
	return versions, err
}

func (s *Store) metadata(ctx context.Context, text string, args ...any) ([]vault.Metadata, error) {
	var all []vault.Metadata
	err := s.read(ctx, func(r *reader) error {
		return r.each(text, args, func(found row) (bool, error) {
			one := vault.Metadata{
				Name: found.text(0), Version: found.int(1), Author: found.text(2), CreatedAt: time.UnixMilli(found.int(3)).UTC(),
			}
			if used := found.int(4); used != 0 {
				one.UsedAt = time.UnixMilli(used).UTC()
			}
			copy(one.Key[:], found.bytes(5))
			all = append(all, one)
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// SecretUses returns records of uses, newest first.
func (s *Store) SecretUses(ctx context.Context, name string, before int64, limit int) ([]vault.UseRecord, error) {
	var records []vault.UseRecord
	const text = `SELECT n, at_ms, secret, version, who, purpose, party, host FROM secret_uses
		WHERE secret = ?1 AND (?2 = 0 OR n < ?2) ORDER BY n DESC LIMIT ?3`
	err := s.read(ctx, func(r *reader) error {
		return r.each(text, []any{name, before, int64(limit)}, func(found row) (bool, error) {
			records = append(records, vault.UseRecord{
				Number: found.int(0), At: time.UnixMilli(found.int(1)).UTC(), Name: found.text(2), Version: found.int(3),
				Use: vault.Use{Who: found.text(4), Purpose: found.text(5), Party: found.text(6), Host: found.text(7)},
			})
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}
