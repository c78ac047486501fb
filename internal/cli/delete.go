package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
)

func newDelete(io streams) *cobra.Command {
	var to connection
	var out output
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "delete KIND NAME",
		Short: "Delete what is registered",
		Long: `Delete takes back one document, unless another one needs it. It takes effect at
once: a remote client that is deleted is out, and what it has open ends.

Deleting the document of a secret does not delete its value; 'legation secret
delete' does.

` + connectionText,
		Example: `  legation delete RemoteClient acme
  legation delete remoteagent/translator --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			const what = "a kind and a name"
			if len(args) == 1 {
				if id, err := parseID(args); err == nil && id.Name != "" {
					return nil
				}
			}
			return takes(2, what)(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args)
			if err == nil && id.Name == "" {
				err = usageError{errors.New("the name is empty")}
			}
			if err := errors.Join(err, out.check()); err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				plan, raw, err := fetch[admin.Applied](ctx, in, request{
					method: http.MethodDelete, path: []string{"resources", string(id.Kind), string(id.Name)},
				}.with("dryRun", flagText(dryRun)).seen("legation get "+string(id.Kind)))
				if err := tellProblems(io, err); err != nil {
					return err
				}
				return printPlan(io, plan, raw, &out, dryRun)
			})
		},
	}
	cmd.ValidArgsFunction = completeKind
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be deleted, and delete nothing")
	out.flag(cmd, "the changes")
	to.flags(cmd)
	return cmd
}
