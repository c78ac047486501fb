package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
)

// OpenKeyless opens of a data directory what needs no master key: the audit, and
// which secrets there are, to be deleted. It is what is left to somebody who has
// lost the key. Otherwise it is as [OpenOffline].
func OpenKeyless(ctx context.Context, cfg config.Config, log *slog.Logger) (handler http.Handler, closing func() error, err error) {
	store, err := sqlite.Open(ctx, cfg.Data, sqlite.Config{Sync: sqlite.Full, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	handler, err = admin.New(admin.Config{
		Audit: store, Vault: sealed{vault.New(store, vault.NewSealer(nil), vault.Config{})},
		Offline: true, StartedAt: time.Now(), Author: func(*http.Request) string { return localAuthor() },
		Version: version(), Logger: log,
	})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return handler, store.Close, nil
}

// sealed is a vault without keys: nothing is sealed by it.
type sealed struct{ *vault.Vault }

var errKeyless = &admin.Failure{Status: http.StatusConflict, Code: admin.CodeConflict, Message: "this needs the master key"}

// Put refuses.
func (sealed) Put(context.Context, string, vault.Value, string, work.Effects) (vault.Metadata, error) {
	return vault.Metadata{}, errKeyless
}

// Rotate refuses.
func (sealed) Rotate(context.Context) (vault.Rotation, error) { return vault.Rotation{}, errKeyless }
