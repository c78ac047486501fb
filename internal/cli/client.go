package cli

import (
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/registry"
)

func newClient(io streams) *cobra.Command {
	return group("client", "Look after remote clients and their keys",
		`A remote client is a party that may call: a document of the kind RemoteClient,
registered by 'legation apply', with credentials, allowed skills and limits. Keys
are issued here; tokens and certificates are in the document.`,
		`  legation client list
  legation client key issue acme --not-after 90d
  legation client check acme`,
		newClientList(io), newClientKey(io), newClientCheck(io))
}

func newClientList(io streams) *cobra.Command {
	return adminList[admin.Resources, admin.Resource]{
		use: "list", short: "List remote clients, and what they may prove themselves with",
		example: `  legation client list
  legation client list -o json`,
		what: "remote clients", none: "No remote client is registered.",
		request: func([]string) (request, error) {
			return get("resources").with("kind", string(registry.KindRemoteClient)).with("documents", flagText(true)), nil
		},
		items:   func(form admin.Resources) ([]admin.Resource, int64) { return form.Resources, 0 },
		heading: []string{"NAME", "STATE", "CREDENTIALS", "SKILLS", "REASONS"},
		row: func(r admin.Resource) []string {
			credentials, skills := clientInWords(r)
			return []string{r.Name, r.State, credentials, skills, strings.Join(r.Reasons, "; ")}
		},
	}.command(io)
}

// clientInWords says what a remote client has to show, and what it may use.
func clientInWords(r admin.Resource) (credentials, skills string) {
	docs, err := registry.Decode(r.Name, r.Document)
	if err != nil || len(docs) != 1 {
		return "", ""
	}
	spec, ok := docs[0].Spec.(*registry.RemoteClient)
	if !ok {
		return "", ""
	}
	var kinds []string
	for _, kind := range []struct {
		n    int
		name string
	}{{len(spec.Credentials.APIKeys), "key"}, {len(spec.Credentials.OIDC), "token issuer"}, {len(spec.Credentials.MTLS), "certificate"}} {
		if kind.n > 0 {
			kinds = append(kinds, counted(kind.n, kind.name))
		}
	}
	var allowed []string
	for _, skill := range spec.Skills {
		allowed = append(allowed, string(skill))
	}
	return strings.Join(kinds, ", "), joined(allowed)
}

func newClientCheck(io streams) *cobra.Command {
	return checkCommand{
		use: "check NAME", short: "Check whether a remote client can call, and say what is in the way",
		long: `Check goes through what a remote client needs: its document, its credentials,
and the skills it may use. Nothing is sent to it.

The exit status is 1 if something is in the way.`,
		example: `  legation client check acme
  legation client check acme -o json`,
		args: takes(1, "the name of a remote client"), path: "clients", see: "legation client list",
	}.command(io)
}

// checkCommand is a command that shows the report of a check.
type checkCommand struct {
	use, short, long, example string

	args cobra.PositionalArgs
	path string
	see  string
}

func (c checkCommand) command(io streams) *cobra.Command {
	to := connection{quiet: true}
	var out output
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Long: adminLong(c.long, c.short), Example: c.example, Args: c.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				report, raw, err := fetch[admin.Report](ctx, in, request{method: http.MethodPost, path: []string{c.path, args[0], "check"}, see: c.see})
				if err != nil {
					return err
				}
				return printFound(io, report, raw, &out)
			})
		},
	}
	out.flag(cmd, "the findings")
	to.flags(cmd)
	return cmd
}

// printFound shows the report of a check. The status is that of what it found.
func printFound(io streams, report admin.Report, raw []byte, out *output) error {
	if out.json() {
		if err := printJSON(io, raw); err != nil {
			return err
		}
	} else {
		var rows [][]string
		for _, f := range report.Findings {
			words := f.Words
			if f.Next != "" {
				words += " (" + f.Next + ")"
			}
			rows = append(rows, []string{string(f.Outcome), f.Step, words})
		}
		if err := printTable(io, []string{"OUTCOME", "STEP", "FOUND"}, rows, "Nothing was looked at."); err != nil {
			return err
		}
	}
	if report.OK {
		return nil
	}
	if report.First != "" {
		printNote(io, "First of all: "+report.First)
	}
	return exitStatus(exitError)
}
