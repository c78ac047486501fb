package cli

import (
	"errors"

	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

// openOffline opens the administration of a data directory that no server holds.
var openOffline = app.OpenOffline

// openKeyless opens what of it needs no master key.
var openKeyless = app.OpenKeyless

// keyHint is about a master key that is not there.
func keyHint(err error, _ *remote) string {
	missing, ok := errors.AsType[*app.KeyError](err)
	if !ok {
		return ""
	}
	if missing.Where == config.Prefix+"MASTER_KEY" {
		return missing.Where + " has other keys; give those of this installation. The audit and the list of secrets need none"
	}
	return "if the key is kept elsewhere, name its file in " + missing.Where +
		"; if it is lost, delete the secrets by name ('legation secret list', 'legation secret delete', which need no key) and set them anew"
}
