package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/legation/legation/internal/config"
)

// openOffline opens the administration of a data directory that no server holds.
var openOffline = func(ctx context.Context, cfg config.Config, log *slog.Logger) (handler http.Handler, close func() error, err error) {
	return nil, nil, errors.New("a data directory can not be administered yet")
}
