package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/registry"
)

func newSchema(io streams) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "schema KIND | schema --list",
		Short: "Print the JSON Schema of a kind of document",
		Long: `Schema prints the JSON Schema (2020-12) of the documents of a kind, for editors
and other tools. It needs no server. A schema can not say everything; what is
wrong with a document for certain, 'legation apply --dry-run' says.`,
		Example: `  legation schema RemoteAgent
  legation schema --list`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case list && len(args) > 0:
				return errors.New("--list takes no kind")
			case !list:
				return takes(1, "a kind; --list shows which there are")(nil, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if list {
				for _, kind := range registry.Kinds() {
					fmt.Fprintln(io.out, kind)
				}
				return nil
			}
			kind, err := parseKind(args[0])
			if err != nil {
				return err
			}
			_, err = io.out.Write(registry.Schema(kind))
			return err
		},
	}
	cmd.ValidArgsFunction = completeKind
	cmd.Flags().BoolVar(&list, "list", false, "print the kinds there are")
	return cmd
}
