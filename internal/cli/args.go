package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// takes wants a number of arguments, and says in words what they are.
func takes(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return errors.New("give " + what)
		case len(args) > n:
			return errors.New("there are too many arguments; give " + what)
		}
		return nil
	}
}

// takesAtLeast is like takes, with any number of arguments after the first.
func takesAtLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return takes(n, what)(cmd, args[:min(len(args), n)]) }
}

// takesCommand is for a command that has others below it and nothing else.
func takesCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = maxTypos
	text := fmt.Sprintf("%q is not a command of %s", cut(args[0], 60), cmd.CommandPath())
	return errors.New(text + didYouMean(cmd.SuggestionsFor(args[0])))
}

// wrapArgs makes every complaint about arguments a usage error that says where
// to read on.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				if !c.HasSubCommands() && strings.HasPrefix(err.Error(), "unknown command") {
					err = errors.New("there are too many arguments; none are taken here") // cobra.NoArgs
				}
				return usageError{fmt.Errorf("%w; see '%s --help'", err, c.CommandPath())}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

// wrongFlag says what may have been meant by a flag that is not known. Flags
// behind a command that does not exist are that command's.
func wrongFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if wrong := takesCommand(cmd, cmd.Flags().Args()); wrong != nil {
			err = wrong
		}
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		err = fmt.Errorf("%w%s", err, didYouMean(similarFlags(cmd, unknown)))
	}
	return usageError{fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())}
}

// similarFlags are the flags with nearly that name, or with that name after one
// dash instead of two.
func similarFlags(cmd *cobra.Command, unknown *pflag.NotExistError) []string {
	name, whole := unknown.GetSpecifiedName(), false
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, _, _ = strings.Cut(short, "=")
		whole = true
	}
	var similar []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		near := !whole && (typos(name, f.Name) <= maxTypos || strings.HasPrefix(f.Name, name))
		if len(name) > 1 && !f.Hidden && (near || f.Name == name) {
			similar = append(similar, "--"+f.Name)
		}
	})
	return similar
}

func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

const maxTypos = 2

// typos is how many letters differ between two names (Levenshtein).
func typos(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
