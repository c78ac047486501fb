package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

const maxAdminPage = 1000 // items that are asked for at once

// adminList is a command that shows items of an installation as a table. Form
// is an answer of the admin API, a page of items where paged is set.
type adminList[Form, Item any] struct {
	use, short, long, example string

	args  cobra.PositionalArgs
	flags func(*cobra.Command)
	what  string // that JSON is for
	none  string // is said where there is nothing
	paged bool

	keyless bool // needs no master key

	request func(args []string) (request, error)
	items   func(Form) (items []Item, next int64)
	heading []string
	row     func(Item) []string
}

func (l adminList[Form, Item]) command(io streams) *cobra.Command {
	to := connection{keyless: l.keyless}
	var out output
	limit := 0
	if l.args == nil {
		l.args = cobra.NoArgs
	}
	cmd := &cobra.Command{
		Use: l.use, Short: l.short, Long: adminLong(l.long, l.short), Example: l.example, Args: l.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			if l.paged && (limit < 1 || limit > maxListed) {
				return usageError{fmt.Errorf("--limit must be from 1 to %d", maxListed)}
			}
			if err := out.check(); err != nil {
				return err
			}
			r, err := l.request(args)
			if err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				items, more, err := l.fetch(ctx, in, r, limit)
				if err != nil {
					return err
				}
				return l.print(io, items, more, limit, &out)
			})
		},
	}
	if l.flags != nil {
		l.flags(cmd)
	}
	if l.paged {
		cmd.Flags().IntVar(&limit, "limit", 50, "list at most this many")
	}
	out.flag(cmd, "an array of "+l.what)
	to.flags(cmd)
	return cmd
}

// adminLong is the help of a command that administers.
func adminLong(long, short string) string {
	if long == "" {
		long = short + "."
	}
	return long + "\n\n" + connectionText
}

// fetch collects pages up to the limit, and tells whether there is more.
func (l adminList[Form, Item]) fetch(ctx context.Context, in *installation, r request, limit int) (all []Item, more bool, err error) {
	all = []Item{}
	for {
		if l.paged {
			r = r.with("limit", strconv.Itoa(min(limit+1-len(all), maxAdminPage)))
		}
		form, _, err := fetch[Form](ctx, in, r)
		if err != nil {
			return nil, false, err
		}
		items, next := l.items(form)
		all = append(all, items...)
		switch {
		case !l.paged:
			return all, false, nil
		case len(all) > limit:
			return all[:limit], true, nil
		case next == 0:
			return all, false, nil
		}
		r = r.with("before", strconv.FormatInt(next, 10))
	}
}

func (l adminList[Form, Item]) print(io streams, items []Item, more bool, limit int, out *output) error {
	var err error
	if out.json() {
		err = printForm(io, items)
	} else {
		rows := make([][]string, len(items))
		for i, item := range items {
			rows[i] = l.row(item)
		}
		err = printTable(io, l.heading, rows, l.none)
	}
	if more {
		fmt.Fprintf(io.err, "There are more than %d; give a larger --limit to see them.\n", limit)
	}
	return err
}

// printForm writes a value as JSON.
func printForm(io streams, form any) error {
	text, err := json.Marshal(form)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return printJSON(io, text)
}

// group is a command with others below it.
func group(name, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: name, Short: short, Long: long, Example: example,
		Args: takesCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}
