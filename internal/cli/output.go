package cli

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// output is the -o flag: text for people, JSON for programs.
type output struct{ form string }

func (o *output) flag(cmd *cobra.Command, what string) {
	cmd.Flags().StringVarP(&o.form, "output", "o", "text", "form of the output: text, or json for "+what)
	oneOf(cmd, "output", "text", "json")
}

func (o *output) json() bool { return o.form == "json" }

func (o *output) check() error {
	if o.form != "text" && o.form != "json" {
		return usageError{fmt.Errorf("--output: %q is not text or json", o.form)}
	}
	return nil
}

// printJSON writes one JSON document, indented.
func printJSON(io streams, document []byte) error {
	text := jsontext.Value(document)
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	shown := string(text)
	if isTerminal(io.out) {
		shown = plain(shown)
	}
	_, err := fmt.Fprintln(io.out, shown)
	return err
}
