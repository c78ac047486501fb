package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/people"
)

func newPerson(io streams) *cobra.Command {
	return group("person", "Say who may administer this installation",
		`A person has a name, a token for the admin API and a role: a viewer sees what there
is, an operator also cancels tasks and runs checks, an approver sees and approves,
an admin does everything, and alone sees the content of tasks.
Whoever may open the data directory needs no token.`,
		`  legation person add maria --role operator > maria.token
  legation person list`,
		newPersonAdd(io), newPersonList(io), newPersonRemove(io))
}

func newPersonAdd(io streams) *cobra.Command {
	to := connection{makes: true}
	var out output
	var role, notAfter string
	var replace bool
	cmd := &cobra.Command{
		Use:   "add NAME --role ROLE",
		Short: "Add a person, and show the token once",
		Long: `Add makes a token for a person and writes it to standard output, alone. It is not
kept, and can not be shown again. Roles are viewer, operator, approver and admin.

` + connectionText,
		Example: `  legation person add maria --role operator > maria.token
  legation person add auditor --role viewer --not-after 30d`,
		Args: takes(1, "the name of a person"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := knownRole(role); err != nil {
				return err
			}
			end, err := parseNotAfter(notAfter, time.Now())
			if err := errors.Join(err, out.check()); err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				if err := notThere(ctx, in, args[0]); err != nil && !replace {
					return err
				}
				path, loses := in.holds(ctx, args[0])
				issued, raw, err := fetch[admin.IssuedToken](ctx, in, request{
					method: http.MethodPut, path: []string{"people", args[0]}, body: admin.PutPerson{Role: role, NotAfter: end},
				})
				if err != nil {
					return err
				}
				if loses {
					defer void(io, path)
				}
				return shownOnce(io, raw, issued.Token, &out,
					fmt.Sprintf("This is the token of %s, %s. It is not kept, and not shown again.%s",
						args[0], issued.Person.Role, ends(issued.Person.NotAfter)))
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what the person may do: viewer, operator, approver or admin")
	oneOf(cmd, "role", "viewer", "operator", "approver", "admin")
	cmd.Flags().StringVar(&notAfter, "not-after", "", "when the token ends: a time (RFC 3339), or how long it is good (90d, 12h); default never")
	cmd.Flags().BoolVar(&replace, "replace", false, "give somebody who is there already this role and a new token; the old one is void")
	out.flag(cmd, "the person and the token")
	to.flags(cmd)
	return cmd
}

// knownRole reads what somebody may do.
func knownRole(role string) error {
	const all = "viewer, operator, approver or admin"
	switch _, err := people.ParseRole(role); {
	case role == "":
		return usageError{errors.New("give --role " + all)}
	case err != nil:
		return usageError{fmt.Errorf("--role: %q is not %s", cut(role, 60), all)}
	}
	return nil
}

// notThere keeps a token from becoming void by accident.
func notThere(ctx context.Context, in *installation, name string) error {
	all, _, err := fetch[admin.People](ctx, in, get("people"))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all.People, func(p admin.Person) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &advisedError{
		err:    fmt.Errorf("%s is there already, as %s", line(name, maxName), line(all.People[i].Role, maxName)),
		advice: "with --replace a new token and role take the place of the old ones",
	}
}

func newPersonList(io streams) *cobra.Command {
	return adminList[admin.People, admin.Person]{
		use: "list", short: "List who may administer",
		example: `  legation person list`,
		what:    "people", none: "There is nobody yet.",
		request: func([]string) (request, error) { return get("people"), nil },
		items:   func(form admin.People) ([]admin.Person, int64) { return form.People, 0 },
		heading: []string{"NAME", "ROLE", "TOKEN", "CREATED", "BY", "ENDS"},
		row: func(p admin.Person) []string {
			end := timeWord(p.NotAfter)
			if p.Expired {
				end += " (ended)"
			}
			return []string{p.Name, p.Role, p.TokenID, timeWord(p.CreatedAt), p.Author, end}
		},
	}.command(io)
}

func newPersonRemove(io streams) *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Take a person's token away, at once",
		Long: `Remove makes a person's token worthless at once. The last admin stays.

` + connectionText,
		Example: `  legation person remove maria`,
		Args:    takes(1, "the name of a person"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				path, loses := in.holds(ctx, args[0])
				if _, err := in.do(ctx, request{method: http.MethodDelete, path: []string{"people", args[0]}, see: "legation person list"}); err != nil {
					return err
				}
				if loses {
					defer void(io, path)
				}
				_, err := fmt.Fprintf(io.out, "%s may no longer administer.\n", line(args[0], maxName))
				return err
			})
		},
	}
	to.flags(cmd)
	return cmd
}
