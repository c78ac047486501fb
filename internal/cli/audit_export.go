package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
)

func newAuditExport(io streams) *cobra.Command {
	to := connection{timeout: evidenceTimeout, keyless: true}
	var after int64
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the audit to standard output, with the seals that prove it",
		Long: `Export writes a line of JSON for each seal, with the entries that it covers as they
are kept, each in base64. 'legation audit verify FILE' verifies the lines anywhere,
without a server. With --after N it goes on behind an earlier export.

` + connectionText,
		Example: `  legation audit export > audit.ndjson
  legation audit export --after 4711 >> audit.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if after < 0 {
				return usageError{errors.New("--after must not be below zero")}
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				seals := 0
				err := in.evidence(ctx, after, func(text []byte, e admin.Evidence) error {
					if len(e.Unsealed) == 0 {
						seals, after = seals+1, e.Seal.Number
					}
					_, err := io.out.Write(text)
					return err
				})
				if err == nil {
					fmt.Fprintf(io.err, "%s; go on later with --after %d\n", counted(seals, "seal"), after)
				}
				return err
			})
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "only what follows the seal with this number")
	to.flags(cmd)
	return cmd
}
