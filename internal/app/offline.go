package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os/user"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/quota"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/store/sqlite"
	"github.com/legation/legation/task"
)

// OpenOffline opens the administration of a data directory that no server
// holds, for whoever may open it. The handler is for this process alone: it
// asks for no token. The error is a *sqlite.LockedError where a server holds
// the directory. Close must be called.
func OpenOffline(ctx context.Context, cfg config.Config, log *slog.Logger) (handler http.Handler, closing func() error, err error) {
	// Which programs a server declares is for its own configuration to say.
	c, err := openCore(ctx, cfg, registry.Host{AnyProgram: true}, sqlite.Full, log)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	c.followRemotes(ctx)
	who := localAuthor()
	handler, err = admin.New(c.adminConfig(admin.Config{
		People: c.people, Vault: c.vault, Offline: true, StartedAt: time.Now(), Troubles: both(c.registry.Faults, c.troubles(ctx)),
		Author: func(*http.Request) string { return who },
		Cancel: func(ctx context.Context, owner task.Owner, id a2a.TaskID, effects work.Effects) (task.Record, error) {
			effects.Settle = append(effects.Settle, quota.Use{ID: string(id), AsHeld: true})
			return c.store.Cancel(ctx, owner, id, time.Now(), effects)
		},
	}))
	return handler, c.close, err
}

// localAuthor is whoever runs this process.
func localAuthor() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "local:" + u.Username
	}
	return "local"
}

// both are what two know of a document's troubles.
func both(one, other func(registry.ID) []string) func(registry.ID) []string {
	return func(id registry.ID) []string { return append(one(id), other(id)...) }
}
