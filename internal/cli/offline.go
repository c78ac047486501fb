package cli

import "github.com/legation/legation/internal/app"

// openOffline opens the administration of a data directory that no server holds.
var openOffline = app.OpenOffline
