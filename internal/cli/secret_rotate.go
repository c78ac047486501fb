package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/config"
	"github.com/legation/legation/internal/vault"
)

func newSecretRotateKeys(io streams) *cobra.Command {
	var to connection
	var out output
	var newKey bool
	cmd := &cobra.Command{
		Use:   "rotate-keys",
		Short: "Seal all secrets with the newest master key",
		Long: `Rotate-keys brings everything that is sealed with an older master key to the
primary one, the first in the file of master keys. Values are not opened for it.
With --new-key it makes a new primary one first, in the file master.key of the data
directory or the one that LEGATION_MASTER_KEY_FILE names.

An older key may be taken out of the file once it is not told to be needed any
more; backups from its time still need it.

` + connectionText,
		Example: `  legation secret rotate-keys --new-key
  legation secret rotate-keys`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(); err != nil {
				return err
			}
			made := ""
			if newKey {
				var err error
				if made, err = to.addKey(io); err != nil {
					return err
				}
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				done, raw, err := fetch[admin.Rotation](ctx, in, request{method: http.MethodPost, path: []string{"secrets", "rotate"}})
				if err != nil {
					return err
				}
				if made != "" && done.Primary != made {
					return &advisedError{
						err:    fmt.Errorf("the server goes on with master key %s, and does not know the new one", line(done.Primary, maxName)),
						advice: "it has its keys from somewhere else; name that file in " + config.Prefix + "MASTER_KEY_FILE",
					}
				}
				return printRotation(io, done, raw, &out)
			})
		},
	}
	cmd.Flags().BoolVar(&newKey, "new-key", false, "make a new master key first, in the file of them")
	out.flag(cmd, "what was done")
	to.flags(cmd)
	return cmd
}

func printRotation(io streams, done admin.Rotation, raw []byte, out *output) error {
	if out.json() {
		if err := printJSON(io, raw); err != nil {
			return err
		}
	} else {
		if done.Rewrapped == 0 {
			fmt.Fprintf(io.out, "Nothing had to be brought to master key %s.\n", line(done.Primary, maxName))
		} else {
			fmt.Fprintf(io.out, "%s brought to master key %s.\n", counted(done.Rewrapped, "value"), line(done.Primary, maxName))
		}
		if len(done.Left) > 0 {
			fmt.Fprintf(io.out, "Still needed: %s.\n", joined(done.Left))
		}
	}
	if done.Failed > 0 {
		fmt.Fprintf(io.err, "%s could not be brought there; the log of the server says why.\n", counted(done.Failed, "value"))
		return exitStatus(exitError)
	}
	return nil
}

// addKey makes a new primary master key in the file of them, which whoever uses
// the data directory reads anew before it rotates.
func (c *connection) addKey(io streams) (id string, err error) {
	if c.admin != "" || c.data == "" && os.Getenv(adminVariable) != "" {
		return "", usageError{errors.New("--new-key is for a data directory on this machine; name it with --data")}
	}
	cfg, err := c.settings(io)
	if err != nil {
		return "", err
	}
	if cfg.MasterKeys != "" {
		return "", &advisedError{
			err:    errors.New("the master keys are in " + config.Prefix + "MASTER_KEY, and not in a file"),
			advice: "put a new one in front of them there, start the server anew, and leave --new-key out",
		}
	}
	path := cmp.Or(cfg.MasterKey, filepath.Join(cfg.Data, "master.key"))
	keys, err := vault.AddKey(path)
	if err != nil {
		return "", &advisedError{err, "if the server has its master keys elsewhere, name the file in " + config.Prefix + "MASTER_KEY_FILE"}
	}
	fmt.Fprintf(io.err, "Master key %s is new in %s; keep a copy of the file elsewhere.\n", keys.Primary(), line(path, maxName))
	return keys.Primary().String(), nil
}
