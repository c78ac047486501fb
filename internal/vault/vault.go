package vault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/legation/legation/internal/work"
)

const (
	// secretPurpose binds an envelope to the table of secrets.
	secretPurpose = "secrets.value"

	maxWord  = 512 // bytes of an author and of each word of a use
	maxTries = 64  // of Put, against others that put the same secret
	maxUses  = 1000
)

// Config tunes a [Vault]. The zero value is ready to use.
type Config struct {
	// Now supplies the times written into records. Nil means time.Now.
	Now func() time.Time
}

// Vault keeps secrets in a store. It is safe for concurrent use.
type Vault struct {
	store  Store
	sealer *Sealer
	now    func() time.Time
}

// New returns a vault that seals with the master keys of sealer. See
// [Vault.Check].
func New(store Store, sealer *Sealer, cfg Config) *Vault {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Vault{store: store, sealer: sealer, now: func() time.Time { return cfg.Now().UTC().Truncate(time.Millisecond) }}
}

// Put stores a new version of a secret and returns what may be told of it.
// Versions count from 1, also over a deletion. The author is who wrote it. The
// value stays the caller's. The effects are committed with it. The errors
// include [ErrInvalid] and [ErrFull].
func (v *Vault) Put(ctx context.Context, name string, value Value, author string, effects work.Effects) (Metadata, error) {
	switch err := errors.Join(checkName(name), checkWord("author", author, true)); {
	case err != nil:
		return Metadata{}, err
	case len(value.Reveal()) == 0:
		return Metadata{}, fmt.Errorf("%w: a secret is not empty", ErrInvalid)
	case len(value.Reveal()) > MaxBytes:
		return Metadata{}, fmt.Errorf("%w: a secret has at most %d bytes", ErrInvalid, MaxBytes)
	}
	for try := 1; ; try++ {
		stored, err := v.add(ctx, name, value, author, effects)
		if errors.Is(err, ErrConflict) && try < maxTries {
			continue // somebody was faster, who has succeeded
		}
		if err != nil {
			return Metadata{}, fmt.Errorf("put secret %s: %w", name, err)
		}
		return stored, nil
	}
}

func (v *Vault) add(ctx context.Context, name string, value Value, author string, effects work.Effects) (Metadata, error) {
	newest, err := v.store.SecretVersion(ctx, name)
	if err != nil {
		return Metadata{}, err
	}
	secret := Secret{Name: name, Version: newest + 1, Author: author, CreatedAt: v.now()}
	if secret.Sealed, err = v.sealer.Seal(secretPurpose, secret.row(), value); err != nil {
		return Metadata{}, err
	}
	if err := v.store.AddSecret(ctx, secret, effects); err != nil {
		return Metadata{}, err
	}
	return Metadata{
		Name: name, Version: secret.Version, Author: author, CreatedAt: secret.CreatedAt,
		Key: KeyID(secret.Sealed[idAt:wrapAt]),
	}, nil
}

// row is what the content of a secret is bound to.
func (s Secret) row() string { return Reference{Name: s.Name, Version: s.Version}.String() }

// Open returns the content of a secret for one use. It returns once the record
// of the use is durable, and nothing if it cannot be. The caller wipes the
// value. The errors include [ErrNotFound], [ErrInvalid], [UnknownKeyError] and
// [ErrDamaged].
func (v *Vault) Open(ctx context.Context, ref Reference, use Use) (Value, error) {
	if err := errors.Join(ref.check(), use.check()); err != nil {
		return Value{}, err
	}
	value, err := v.open(ctx, ref, use)
	if err != nil {
		return Value{}, fmt.Errorf("open secret %s: %w", ref, err)
	}
	return value, nil
}

func (v *Vault) open(ctx context.Context, ref Reference, use Use) (Value, error) {
	secret, err := v.store.Secret(ctx, ref)
	if err != nil {
		return Value{}, err
	}
	// What the store says it is must be what was asked for: the envelope is
	// bound to that and to nothing a row says of itself.
	if secret.Name != ref.Name || ref.Version != 0 && secret.Version != ref.Version {
		return Value{}, ErrDamaged
	}
	value, err := v.sealer.Open(secretPurpose, secret.row(), secret.Sealed)
	if err != nil {
		return Value{}, err
	}
	record := UseRecord{Use: use, Name: secret.Name, Version: secret.Version, At: v.now()}
	if err := v.store.UseSecret(ctx, record); err != nil {
		value.Wipe()
		return Value{}, fmt.Errorf("record its use: %w", err)
	}
	return value, nil
}

// Delete removes one version of a secret, or all if the reference names none.
// The records of its uses stay, and so does the content in backups. If the
// newest of several versions is removed, the one before it is the newest. If
// there is nothing to remove it returns [ErrNotFound].
func (v *Vault) Delete(ctx context.Context, ref Reference, effects work.Effects) error {
	if err := ref.check(); err != nil {
		return err
	}
	if err := v.store.DeleteSecret(ctx, ref, effects); err != nil {
		return fmt.Errorf("delete secret %s: %w", ref, err)
	}
	return nil
}

// List returns the newest version of each secret, by name.
func (v *Vault) List(ctx context.Context) ([]Metadata, error) { return v.store.Secrets(ctx) }

// Versions returns the versions of a secret, newest first, or [ErrNotFound].
func (v *Vault) Versions(ctx context.Context, name string) ([]Metadata, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return v.store.SecretVersions(ctx, name)
}

// Uses returns records of uses of a secret, newest first: those with numbers
// below before, unless it is zero, and at most limit, itself at most 1000. A
// deleted secret has them too.
func (v *Vault) Uses(ctx context.Context, name string, before int64, limit int) ([]UseRecord, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return v.store.SecretUses(ctx, name, before, min(max(limit, 1), maxUses))
}

func (u Use) check() error {
	return errors.Join(
		checkWord("who", u.Who, true), checkWord("purpose", u.Purpose, true),
		checkWord("party", u.Party, false), checkWord("host", u.Host, false),
	)
}

// checkWord says what is wrong with a word for a record, without repeating it.
func checkWord(what, word string, required bool) error {
	switch {
	case required && word == "":
		return fmt.Errorf("%w: %s is missing", ErrInvalid, what)
	case len(word) > maxWord:
		return fmt.Errorf("%w: %s is longer than %d bytes", ErrInvalid, what, maxWord)
	case !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%w: %s has control characters or is not UTF-8", ErrInvalid, what)
	}
	return nil
}
