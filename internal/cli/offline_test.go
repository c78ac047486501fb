package cli_test

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/legation/legation/internal/cli"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/store/sqlite"
)

func init() {
	cli.SetOpenOffline(func(ctx context.Context, cfg config.Config, log *slog.Logger) (http.Handler, func() error, error) {
		store, err := sqlite.Open(ctx, cfg.Data, sqlite.Config{Sync: sqlite.Off, Logger: log})
		if err != nil {
			return nil, nil, err
		}
		return http.NotFoundHandler(), store.Close, nil
	})
}
