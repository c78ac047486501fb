package cli

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/card"
)

func newCardLint(io streams) *cobra.Command {
	var source cardSource
	var out output
	cmd := &cobra.Command{
		Use:   "lint FILE|URL",
		Short: "Name what is wrong with a card",
		Long: `Lint names what the specification demands of a card and is not so, what keeps
clients from using it, and what keeps implementations from verifying its
signatures. Nothing but the card is asked for.

` + cardSourceText + `

The exit status is 1 if there is an error, and 0 if there are warnings only.`,
		Example: `  legation card lint agent-card.json
  legation card lint https://agent.example -o json`,
		Args: takes(1, "a card: a file, or the URL of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source.typed = args[0]
			return lintCard(cmd.Context(), io, &source, &out)
		},
	}
	out.flag(cmd, "the findings")
	source.flags(cmd)
	return cmd
}

func lintCard(ctx context.Context, io streams, source *cardSource, out *output) error {
	if err := out.check(); err != nil {
		return err
	}
	raw, err := source.read(ctx, io)
	if err != nil {
		return err
	}
	found := card.Lint(raw)
	errors := 0
	for _, f := range found {
		if f.Severity == card.SeverityError {
			errors++
		}
	}
	if out.json() {
		err = printFindings(io, found)
	} else {
		for _, f := range found {
			fmt.Fprintln(io.out, line(f.String(), maxProse))
		}
		if len(found) == 0 {
			fmt.Fprintln(io.out, "nothing is wrong with this card")
		}
	}
	if err == nil && errors > 0 {
		return exitStatus(exitError)
	}
	return err
}

func printFindings(io streams, found []card.Finding) error {
	type finding struct {
		Severity card.Severity `json:"severity"`
		Path     string        `json:"path"`
		Problem  string        `json:"problem"`
	}
	list := []finding{}
	for _, f := range found {
		list = append(list, finding(f))
	}
	document, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return printJSON(io, document)
}
