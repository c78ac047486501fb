package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
)

func newSecret(io streams) *cobra.Command {
	cmd := group("secret", "Set secrets, and see who uses them",
		`Secrets are credentials under a name. They are written and never read back:
what is shown is their versions, and when and for whom they were opened. At rest
they are sealed with a master key, in a file of the server.`,
		`  legation secret put acme-token < token.txt
  legation secret list
  legation secret uses acme-token`)
	cmd.AddCommand(newSecretPut(io), newSecretList(io), newSecretVersions(io), newSecretUses(io), newSecretDelete(io), newSecretRotateKeys(io))
	return cmd
}

func newSecretPut(io streams) *cobra.Command {
	to := connection{makes: true}
	var out output
	var file string
	var force bool
	cmd := &cobra.Command{
		Use:   "put NAME",
		Short: "Set the value of a secret",
		Long: `Put reads a value from standard input, or from a file, and stores it as a new
version of the secret. The newest version is used from then on, by what does not
name another one as NAME@VERSION. One newline at the end is not part of the value.
A value that what uses the secret can not use, such as a signing key that is none,
is refused unless it is forced.

The value is not taken from the command line, where others could see it, and not
typed at a terminal, where it would be shown.

` + connectionText,
		Example: `  legation secret put acme-token < token.txt
  legation secret put acme-certificate --file acme.pem
  pass show acme | legation secret put acme-token`,
		Args: takes(1, "the name of a secret; its value comes from standard input or --file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			value, err := readSecret(cmd.Context(), io, file)
			defer clear(value)
			if err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				stored, raw, err := fetch[admin.Secret](ctx, in, request{
					method: http.MethodPut, path: []string{"secrets", args[0]}, body: value, kind: admin.TypeBytes,
				}.with("force", flagText(force)))
				switch {
				case err != nil:
					return err
				case out.json():
					return printJSON(io, raw)
				}
				_, err = fmt.Fprintf(io.out, "%s is stored as version %d.\n", line(stored.Name, maxName), stored.Version)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "file that holds the value (default standard input)")
	cmd.Flags().BoolVar(&force, "force", false, "store it even if what uses the secret can not use it")
	out.flag(cmd, "what was stored, without the value")
	to.flags(cmd)
	return cmd
}

// readSecret reads a value, without the newline that editors and echo add.
func readSecret(ctx context.Context, io streams, file string) (value []byte, err error) {
	switch {
	case file != "":
		if value, err = readFile(file, admin.MaxSecret+2); err != nil {
			return nil, usageError{fmt.Errorf("--file: %w", err)}
		}
	case isTerminal(io.in):
		return nil, &advisedError{
			err:    usageError{errors.New("a secret that is typed here would be seen")},
			advice: "pipe it in, or name a file that holds it: legation secret put NAME --file FILE",
		}
	default:
		if value, err = readInput(ctx, io.in, admin.MaxSecret+2); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	}
	if line, ok := bytes.CutSuffix(value, []byte("\n")); ok {
		value = bytes.TrimSuffix(line, []byte("\r"))
	}
	switch {
	case len(value) == 0:
		return nil, usageError{errors.New("the value is empty")}
	case len(value) > admin.MaxSecret:
		return nil, fmt.Errorf("the value has more than %s", size(admin.MaxSecret))
	}
	return value, nil
}

func newSecretList(io streams) *cobra.Command {
	return adminList[admin.Secrets, admin.Secret]{
		use: "list", short: "List secrets, without their values",
		example: `  legation secret list
  legation secret list -o json`,
		what: "secrets, the newest version of each", none: "There are no secrets.", keyless: true,
		request: func([]string) (request, error) { return get("secrets"), nil },
		items:   secretItems, heading: secretHeading, row: secretRow,
	}.command(io)
}

func newSecretVersions(io streams) *cobra.Command {
	return adminList[admin.Secrets, admin.Secret]{
		use: "versions NAME", short: "List the versions of a secret, the newest first",
		example: `  legation secret versions acme-token`,
		args:    takes(1, "the name of a secret"), what: "versions", none: "There are none.", keyless: true,
		request: func(args []string) (request, error) {
			return get("secrets", args[0], "versions").seen("legation secret list"), nil
		},
		items: secretItems, heading: secretHeading, row: secretRow,
	}.command(io)
}

var secretHeading = []string{"NAME", "VERSION", "AUTHOR", "CREATED", "LAST USED", "MASTER KEY"}

func secretItems(form admin.Secrets) ([]admin.Secret, int64) { return form.Secrets, 0 }

func secretRow(s admin.Secret) []string {
	return []string{s.Name, number(s.Version), s.Author, timeWord(s.CreatedAt), timeWord(s.UsedAt), s.MasterKey}
}

func newSecretUses(io streams) *cobra.Command {
	return adminList[admin.SecretUses, admin.SecretUse]{
		use: "uses NAME", short: "List when and for whom a secret was opened, the latest first",
		long: `Uses lists when a secret was opened, for whom, and to which host it went. A use
is on record before the value is handed out, and stays after the secret is deleted.`,
		example: `  legation secret uses acme-token
  legation secret uses acme-token --limit 1000 -o json`,
		args: takes(1, "the name of a secret"), what: "uses", none: "It was not used.", paged: true, keyless: true,
		request: func(args []string) (request, error) {
			return get("secrets", args[0], "uses").seen("legation secret list"), nil
		},
		items:   func(form admin.SecretUses) ([]admin.SecretUse, int64) { return form.Uses, form.Next },
		heading: []string{"AT", "VERSION", "WHO", "PURPOSE", "PARTY", "HOST"},
		row: func(u admin.SecretUse) []string {
			return []string{timeWord(u.At), number(u.Version), u.Who, u.Purpose, u.Party, u.Host}
		},
	}.command(io)
}

func newSecretDelete(io streams) *cobra.Command {
	to := connection{keyless: true}
	cmd := &cobra.Command{
		Use:   "delete NAME[@VERSION]",
		Short: "Delete a secret, or one version of it",
		Long: `Delete forgets the value of a secret, all versions of it or the one that is named.
Whoever needs it is refused from then on; the records of its uses stay. It needs
no master key, so that one that is lost does not keep an installation from going on.

` + connectionText,
		Example: `  legation secret delete acme-token
  legation secret delete acme-token@2`,
		Args: takes(1, "the name of a secret, or NAME@VERSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, version, pinned := strings.Cut(args[0], "@")
			if n, err := strconv.ParseInt(version, 10, 64); pinned && (err != nil || n < 1) {
				return usageError{errors.New("the version after '@' is not a number from 1 on")}
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				r := request{method: http.MethodDelete, path: []string{"secrets", name}}.with("version", version).seen("legation secret list")
				if _, err := in.do(ctx, r); err != nil {
					return err
				}
				_, err := fmt.Fprintf(io.out, "%s is deleted.\n", line(args[0], maxName))
				return err
			})
		},
	}
	to.flags(cmd)
	return cmd
}
