package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/conformance"
)

func newConformance(io streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "Compare what is claimed of the protocol with what is there",
		Long: `A checkout of Legation claims what it speaks in conformance/claim.yaml: the
revision of the specification, the literals of headers and interfaces, the
operations, the partners it was tried against, and the outcome of the public
conformance kit. These commands are for those who work on it or audit it.`,
		Example: `  legation conformance check`,
		Args:    takesCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConformanceCheck(io), newConformanceWrite())
	return cmd
}

func newConformanceCheck(io streams) *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Name everything that is not as claimed",
		Long: `Check compares the claim of the checkout at DIR (default: the one that the
current directory lies in) with its source and generated code, with this program
and a server that it starts on the loopback, with its documents, lock files,
recorded evidence and tests. Each difference is one line on standard output.

The server is that of this program, not of DIR. A program that was built from
other source says so where it can tell; "make conformance" builds it from DIR.

Exit statuses: 0 everything is as claimed; 1 something differs; 2 wrong usage;
3 there was nothing to compare; 130 interrupted.`,
		Example: `  legation conformance check
  legation conformance check ~/src/legation -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkClaim(cmd.Context(), io, args, &out)
		},
	}
	out.flag(cmd, "the differences and the trace from requirements to tests")
	return cmd
}

func checkClaim(ctx context.Context, io streams, args []string, out *output) error {
	if err := out.check(); err != nil {
		return err
	}
	root, err := checkout(args)
	if err != nil {
		return couldNotLook{err}
	}
	report, err := conformance.Check(ctx, os.DirFS(root), builtFrom())
	if err != nil {
		return couldNotLook{err}
	}
	if out.json() {
		document, err := json.Marshal(report, json.Deterministic(true))
		if err == nil {
			err = printJSON(io, document)
		}
		if err != nil {
			return err
		}
	} else if err := printReport(io, report); err != nil {
		return err
	}
	switch n := len(report.Differences); n {
	case 0:
		return nil
	case 1:
		fmt.Fprintln(io.err, "1 difference")
	default:
		fmt.Fprintf(io.err, "%d differences\n", n)
	}
	return exitStatus(exitError)
}

func printReport(io streams, report *conformance.Report) error {
	for _, difference := range report.Differences {
		fmt.Fprintln(io.out, difference)
	}
	if len(report.Differences) > 0 {
		return nil
	}
	for _, compared := range report.Compared {
		fmt.Fprintf(io.out, "%6d  %s\n", compared.Count, compared.What)
	}
	cover := report.Coverage
	fmt.Fprintf(io.out, "the server was that of this program, %s\n", buildVersion())
	_, err := fmt.Fprintf(io.out, "everything is as claimed; of %d requirements that bind us %d are held by tests, %d are not for a reason, %d that are no MUST are open\n",
		cover.Binding, cover.Tested, cover.Pending, cover.Open)
	return err
}

func newConformanceWrite() *cobra.Command {
	return &cobra.Command{
		Use:   "write [DIR]",
		Short: "Write the document of the claim and of the trace",
		Long: `Write makes docs/conformance.md of the checkout at DIR (default: the one that the
current directory lies in): the claim, and which test holds which requirement.`,
		Example: `  legation conformance write`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			root, err := checkout(args)
			if err != nil {
				return err
			}
			page, err := conformance.Page(os.DirFS(root))
			if err != nil {
				return err
			}
			return writeWithin(root, conformance.PageFile, page)
		},
	}
}

// writeWithin writes a file of a tree, and nothing that a link leads out to.
func writeWithin(dir, name string, data []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(filepath.FromSlash(name), data, 0o644)
}

// checkout is the root of the checkout that is meant.
func checkout(args []string) (string, error) {
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	return conformance.Root(dir)
}
