package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/registry"
)

// application is one run of the command.
type application struct {
	to     connection
	output output
	files  []string
	dryRun bool
	prune  bool
	yes    bool
}

func newApply(io streams) *cobra.Command {
	a := application{to: connection{makes: true}}
	cmd := &cobra.Command{
		Use:   "apply -f FILE [-f FILE…]",
		Short: "Register what documents say",
		Long: `Apply makes what is registered what the documents say, all of it or nothing, and
shows what that changes. What the documents do not name stays as it is, unless
--prune deletes it. It takes effect at once, without a restart.

A FILE holds documents in YAML or JSON; of a directory its .yaml, .yml and .json
files are read, and '-' is standard input. What a document may say:
'legation schema KIND'. The value of a secret is in no document; it is set by
'legation secret put'.

` + connectionText,
		Example: `  legation apply -f installation.yaml
  legation apply -f documents/ --prune --dry-run
  legation get -o yaml > all.yaml && $EDITOR all.yaml && legation apply -f all.yaml
  legation apply -f - --admin https://agents.example:8701 < agents.yaml`,
		Args: takes(0, "documents with -f FILE"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), io) },
	}
	cmd.Flags().StringArrayVarP(&a.files, "file", "f", nil, "file or directory of documents, or - for standard input; repeatable")
	cmd.Flags().BoolVar(&a.dryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&a.prune, "prune", false, "delete what the documents do not name; asks first")
	cmd.Flags().BoolVar(&a.yes, "yes", false, "do not ask before deleting")
	a.output.flag(cmd, "the changes")
	a.to.flags(cmd)
	return cmd
}

func (a *application) run(ctx context.Context, io streams) error {
	if err := a.check(io); err != nil {
		return err
	}
	from, err := readSources(ctx, io, a.files)
	if err != nil {
		return err
	}
	a.to.trial = a.dryRun
	return a.to.administer(ctx, io, func(ctx context.Context, in *installation) error {
		if a.prune && !a.yes && !a.dryRun {
			if may, err := a.ask(ctx, io, in, from); err != nil || !may {
				return err
			}
		}
		return a.apply(ctx, io, in, from, a.dryRun)
	})
}

func (a *application) check(io streams) error {
	switch {
	case len(a.files) == 0:
		return usageError{errors.New("give documents with -f FILE; see 'legation apply --help'")}
	case a.yes && !a.prune:
		return usageError{errors.New("--yes is for --prune, and nothing else asks")}
	case a.prune && !a.yes && !a.dryRun && (!isTerminal(io.in) || slices.Contains(a.files, standardInput)):
		return &advisedError{
			err:    usageError{errors.New("--prune asks before it deletes, and there is nobody to ask")},
			advice: "see what it would delete with --dry-run; then give --yes",
		}
	}
	return a.output.check()
}

// ask shows what pruning would delete, if anything, and asks whether it may.
func (a *application) ask(ctx context.Context, io streams, in *installation, from admin.Files) (bool, error) {
	plan, _, err := a.send(ctx, io, in, from, true)
	if err != nil {
		return false, err
	}
	var doomed []string
	for _, change := range plan.Changes {
		if change.Action == string(registry.Delete) {
			doomed = append(doomed, change.Kind+"/"+change.Name)
		}
	}
	if len(doomed) == 0 {
		return true, nil
	}
	for _, id := range doomed {
		fmt.Fprintf(io.err, "- delete %s\n", line(id, maxName))
	}
	yes, err := agreed(ctx, io, "Delete "+counted(len(doomed), "document")+"?")
	if err == nil && !yes {
		fmt.Fprintln(io.err, "Nothing was changed.")
		return false, exitStatus(exitError)
	}
	return yes, err
}

func (a *application) apply(ctx context.Context, io streams, in *installation, from admin.Files, dryRun bool) error {
	plan, raw, err := a.send(ctx, io, in, from, dryRun)
	if err != nil {
		return err
	}
	return printPlan(io, plan, raw, &a.output, dryRun)
}

func (a *application) send(ctx context.Context, io streams, in *installation, from admin.Files, dryRun bool) (admin.Applied, []byte, error) {
	r := request{
		method: http.MethodPost, path: []string{"apply"}, body: from, kind: admin.TypeFiles,
	}.with("dryRun", flagText(dryRun)).with("prune", flagText(a.prune))
	plan, raw, err := fetch[admin.Applied](ctx, in, r)
	return plan, raw, tellProblems(io, err)
}

// flagText is how a flag that is set is sent.
func flagText(set bool) string {
	if set {
		return "true"
	}
	return ""
}

// tellProblems writes what is wrong with documents, and makes an error of how
// much it is.
func tellProblems(io streams, err error) error {
	said, ok := errors.AsType[*adminError](err)
	if !ok || len(said.form.Problems) == 0 {
		return err
	}
	for _, p := range said.form.Problems {
		fmt.Fprintln(io.err, problemLine(p))
	}
	return nothingChanged(len(said.form.Problems))
}

func nothingChanged(problems int) error {
	return fmt.Errorf("%s; nothing was changed", counted(problems, "problem"))
}

// printPlan shows what changes, and sums it up.
func printPlan(io streams, plan admin.Applied, raw []byte, out *output, dryRun bool) error {
	if out.json() {
		return printJSON(io, raw)
	}
	count := map[string]int{}
	for _, change := range plan.Changes {
		count[change.Action]++
		mark, ok := map[string]string{
			string(registry.Create): "+", string(registry.Update): "~", string(registry.Delete): "-",
		}[change.Action]
		if !ok {
			continue
		}
		fmt.Fprintf(io.out, "%s %s %s\n", mark, change.Action, line(change.Kind+"/"+change.Name, maxName))
		for _, f := range change.Fields {
			fmt.Fprintf(io.out, "    %s\n", line(registry.FieldChange(f).String(), maxProse))
		}
	}
	var sums []string
	for _, action := range []registry.Action{registry.Create, registry.Update, registry.Delete} {
		if n := count[string(action)]; n > 0 {
			sums = append(sums, fmt.Sprintf("%s %d", action, n))
		}
	}
	switch {
	case sums == nil:
		fmt.Fprintln(io.err, "Everything is as the documents say; nothing changes.")
	case dryRun:
		fmt.Fprintf(io.err, "Nothing was changed; this would %s.\n", strings.Join(sums, ", "))
	default:
		fmt.Fprintf(io.err, "Done; the registry is at revision %d.\n", plan.Revision)
	}
	return nil
}
