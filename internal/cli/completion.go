package cli

import (
	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/registry"
)

// oneOf completes a flag with the values it may have.
func oneOf(cmd *cobra.Command, flag string, values ...string) {
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

// completeKind completes the first argument with the kinds of documents.
func completeKind(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var kinds []string
	for _, kind := range registry.Kinds() {
		kinds = append(kinds, string(kind))
	}
	return kinds, cobra.ShellCompDirectiveNoFileComp
}
