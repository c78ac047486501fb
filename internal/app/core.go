package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/remotes"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/store/sqlite"
)

// core is what a running server and a command that opens the data directory by
// itself have in common.
type core struct {
	cfg      config.Config
	log      *slog.Logger
	store    *sqlite.Store
	vault    *vault.Vault
	registry *registry.Registry
	remotes  *remotes.Remotes
	people   *people.Directory
	egress   *url.URL // nil: parties are reached directly

	following sync.Mutex                                   // held by followRemotes
	secrets   atomic.Pointer[map[registry.SecretName]bool] // that have a value
}

// openCore opens the store, and the secrets and documents in it. On error
// nothing stays open.
func openCore(ctx context.Context, cfg config.Config, host registry.Host, sync sqlite.Sync, log *slog.Logger) (c *core, err error) {
	c = &core{cfg: cfg, log: log}
	if cfg.EgressProxy != "" {
		if c.egress, err = url.Parse(cfg.EgressProxy); err != nil {
			return nil, errors.New("--egress-proxy cannot be parsed") // it may hold a password
		}
	}
	if c.store, err = sqlite.Open(ctx, cfg.Data, sqlite.Config{Sync: sync, Logger: log}); err != nil {
		return nil, err
	}
	store := c.store // which is to be closed when there is no c to return
	defer func() {
		if err != nil {
			store.Close()
		}
	}()
	if err := c.openVault(ctx); err != nil {
		return nil, err
	}
	c.registry, err = registry.Open(ctx, c.store, registry.Config{Host: host, Logger: log})
	if err != nil {
		return nil, err
	}
	if err := c.openPeople(ctx); err != nil {
		return nil, err
	}
	if err := c.openRemotes(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// tellFaults tells whoever starts a server what has no effect because it names
// what is not there any more.
func (c *core) tellFaults() {
	for _, doc := range c.registry.Set().Documents {
		for _, fault := range c.registry.Faults(doc.ID()) {
			c.log.Warn("a registered document names what is not there any more, and has no effect as far as that goes", "document", doc.ID(), "reason", fault)
		}
	}
}

// openPeople makes the first administrator where there is nobody.
func (c *core) openPeople(ctx context.Context) error {
	path := filepath.Join(c.cfg.Data, tokenFile)
	made, err := people.EnsureAdmin(ctx, c.store, path, time.Now)
	if made {
		c.log.Warn("a token for administration was created; commands on this machine find it by themselves", "file", path)
	}
	if err != nil {
		return err
	}
	c.people, err = people.Open(ctx, c.store, people.Config{})
	return err
}

// close gives everything back.
func (c *core) close() error {
	if c.remotes != nil {
		c.remotes.Close()
	}
	return c.store.Close()
}

// openVault opens the vault with the keys that the environment or a file has. A
// new store is given a key of its own.
func (c *core) openVault(ctx context.Context) error {
	keys, err := c.masterKeys(ctx)
	if err != nil {
		return c.keyError(err)
	}
	c.vault = vault.New(c.store, vault.NewSealer(keys), vault.Config{})
	if err := c.vault.Check(ctx); err != nil {
		return c.keyError(err)
	}
	return nil
}

// keyError says where a master key that is missing may be named.
func (c *core) keyError(err error) error {
	if _, missing := errors.AsType[*vault.UnknownKeyError](err); !missing {
		return fmt.Errorf("master key: %w", err)
	}
	where := config.Prefix + "MASTER_KEY_FILE"
	if c.cfg.MasterKeys != "" {
		where = config.Prefix + "MASTER_KEY"
	}
	return &KeyError{Where: where, Err: err}
}

// KeyError says that the master keys at hand do not open what is stored.
type KeyError struct {
	// Where is the variable that names the keys, or their file.
	Where string

	// Err says which keys are missing.
	Err error
}

// Error says which key is missing.
func (e *KeyError) Error() string { return "master key: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *KeyError) Unwrap() error { return e.Err }

func (c *core) masterKeys(ctx context.Context) (*vault.Keyring, error) {
	if c.cfg.MasterKeys != "" {
		keys, err := vault.ParseKeys([]byte(c.cfg.MasterKeys))
		if err != nil {
			return nil, fmt.Errorf("%sMASTER_KEY: %w", config.Prefix, err)
		}
		return keys, nil
	}
	path := c.keyFile()
	keys, created, err := vault.OpenKeys(ctx, c.store, path)
	if created {
		c.log.Warn("a master key was created; without it no secret can be read again, so keep a copy of it elsewhere", "file", path)
	}
	return keys, err
}

// keyFile is where the master keys are.
func (c *core) keyFile() string {
	return cmp.Or(c.cfg.MasterKey, filepath.Join(c.cfg.Data, "master.key"))
}

// rereadKeys goes on with the master keys that the file has by now. Those of
// the environment are what they were at the start.
func (c *core) rereadKeys(ctx context.Context) error {
	if c.cfg.MasterKeys != "" {
		return nil
	}
	keys, err := vault.ReadKeys(c.keyFile())
	if err != nil {
		return &admin.Failure{
			Status: http.StatusConflict, Code: admin.CodeConflict, Message: err.Error(),
			Next: "mend the file of master keys; until then the server goes on with those it has",
		}
	}
	return c.vault.UseKeys(ctx, keys)
}

// listSecrets looks which secrets have a value.
func (c *core) listSecrets(ctx context.Context) {
	all, err := c.vault.List(ctx)
	if err != nil {
		c.log.Error("secrets could not be listed", "error", err)
		return
	}
	held := map[registry.SecretName]bool{}
	for _, secret := range all {
		held[registry.SecretName(secret.Name)] = true
	}
	c.secrets.Store(&held)
}

// hasValue reports whether the vault held a value of a secret when they were
// last listed.
func (c *core) hasValue(name registry.SecretName) bool {
	held := c.secrets.Load()
	return held != nil && (*held)[name]
}
