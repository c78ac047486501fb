package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
)

// resourceQuery is one run of the command.
type resourceQuery struct {
	to   connection
	form string
}

func newGet(io streams) *cobra.Command {
	var q resourceQuery
	cmd := &cobra.Command{
		Use:   "get [KIND [NAME]]",
		Short: "Show what is registered",
		Long: `Get lists what is registered, and says of each whether it is ready, and if not
what is missing. KIND is written as you like: RemoteClient, remoteclients.

With -o yaml it writes the documents, for 'legation apply'; keys of remote
clients are in them as digests, and values of secrets are not.

` + connectionText,
		Example: `  legation get
  legation get remoteagents
  legation get RemoteClient acme -o yaml
  legation get -o yaml > all.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return takes(2, "a kind and a name at most")(nil, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return q.run(cmd.Context(), io, args) },
	}
	cmd.Flags().StringVarP(&q.form, "output", "o", "table", "form of the output: table, yaml, or json")
	oneOf(cmd, "output", "table", "yaml", "json")
	cmd.ValidArgsFunction = completeKind
	q.to.flags(cmd)
	return cmd
}

func (q *resourceQuery) run(ctx context.Context, io streams, args []string) error {
	if q.form != "table" && q.form != "yaml" && q.form != "json" {
		return usageError{fmt.Errorf("--output: %q is not table, yaml or json", cut(q.form, 60))}
	}
	kind, name := "", ""
	if len(args) > 0 {
		id, err := parseID(args)
		if err != nil {
			return err
		}
		kind, name = string(id.Kind), string(id.Name)
	}
	return q.to.administer(ctx, io, func(ctx context.Context, in *installation) error {
		if q.form == "yaml" {
			text, err := in.do(ctx, get("export").with("kind", kind).with("name", name).seen("legation get"))
			if err == nil {
				_, err = io.out.Write(text)
			}
			return err
		}
		found, raw, err := q.fetch(ctx, in, kind, name)
		switch {
		case err != nil:
			return err
		case q.form == "json":
			return printJSON(io, raw)
		}
		return printResources(io, found)
	})
}

// fetch reads one document, or an array of those of a kind. For programs it
// keeps all that is told.
func (q *resourceQuery) fetch(ctx context.Context, in *installation, kind, name string) ([]admin.Resource, []byte, error) {
	if name != "" {
		one, raw, err := fetch[admin.Resource](ctx, in, get("resources", kind, name).seen("legation get "+kind))
		return []admin.Resource{one}, raw, err
	}
	r := get("resources").with("kind", kind).with("documents", flagText(q.form == "json"))
	all, _, err := fetch[admin.Resources](ctx, in, r)
	if err != nil {
		return nil, nil, err
	}
	if all.Resources == nil {
		all.Resources = []admin.Resource{}
	}
	raw, err := json.Marshal(all.Resources)
	return all.Resources, raw, err
}

func printResources(io streams, found []admin.Resource) error {
	var rows [][]string
	for _, r := range found {
		state := r.State
		if r.Published {
			state += ", published by serve"
		}
		rows = append(rows, []string{r.Kind, r.Name, state, strconv.FormatInt(r.Generation, 10), strings.Join(r.Reasons, "; ")})
	}
	return printTable(io, []string{"KIND", "NAME", "STATE", "GENERATION", "REASONS"}, rows, "Nothing like that is registered.")
}
