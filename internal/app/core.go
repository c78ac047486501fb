package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/registry"
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
	egress   *url.URL // nil: parties are reached directly
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
	return c, nil
}

// openVault opens the vault with the keys that the environment or a file has. A
// new store is given a key of its own.
func (c *core) openVault(ctx context.Context) error {
	keys, err := c.masterKeys(ctx)
	if err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	c.vault = vault.New(c.store, vault.NewSealer(keys), vault.Config{})
	if err := c.vault.Check(ctx); err != nil {
		return fmt.Errorf("master key: %w", err)
	}
	return nil
}

func (c *core) masterKeys(ctx context.Context) (*vault.Keyring, error) {
	if c.cfg.MasterKeys != "" {
		keys, err := vault.ParseKeys([]byte(c.cfg.MasterKeys))
		if err != nil {
			return nil, fmt.Errorf("%sMASTER_KEY: %w", config.Prefix, err)
		}
		return keys, nil
	}
	path := c.cfg.MasterKey
	if path == "" {
		path = filepath.Join(c.cfg.Data, "master.key")
	}
	keys, created, err := vault.OpenKeys(ctx, c.store, path)
	if created {
		c.log.Warn("a master key was created; without it no secret can be read again, so keep a copy of it elsewhere", "file", path)
	}
	return keys, err
}

// hasValue reports whether the vault holds a value of a secret.
func (c *core) hasValue(ctx context.Context) func(registry.SecretName) bool {
	held := map[string]bool{}
	all, err := c.vault.List(ctx)
	if err != nil {
		c.log.Error("secrets could not be listed", "error", err)
	}
	for _, secret := range all {
		held[secret.Name] = true
	}
	return func(name registry.SecretName) bool { return held[string(name)] }
}
