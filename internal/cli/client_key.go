package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/admin"
)

func newClientKey(io streams) *cobra.Command {
	return group("key", "Issue, list and revoke keys of remote clients",
		`Keys are made here, shown once and kept as digests. A remote client may have
several at once, so that it can change from one to the next.`,
		`  legation client key issue acme --not-after 90d > acme.key
  legation client key list acme
  legation client key revoke acme k2x7f4`,
		newKeyIssue(io), newKeyList(io), newKeyRevoke(io))
}

func newKeyIssue(io streams) *cobra.Command {
	var to connection
	var out output
	var notAfter string
	cmd := &cobra.Command{
		Use:   "issue NAME",
		Short: "Make a key for a remote client, and show it once",
		Long: `Issue makes a key and writes it to standard output, alone. It is good at once, is
not kept, and can not be shown again. The client sends it as
'Authorization: Bearer KEY' or 'X-API-Key: KEY'.

` + connectionText,
		Example: `  legation client key issue acme --not-after 90d > acme.key
  legation client key issue acme --not-after 2027-12-31T00:00:00Z`,
		Args: takes(1, "the name of a remote client"),
		RunE: func(cmd *cobra.Command, args []string) error {
			end, err := parseNotAfter(notAfter, time.Now())
			if err := errors.Join(err, out.check()); err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				issued, raw, err := fetch[admin.IssuedKey](ctx, in, request{
					method: http.MethodPost, path: []string{"clients", args[0], "keys"}, body: admin.IssueKey{NotAfter: end}, see: "legation client list",
				})
				if err := tellProblems(io, err); err != nil {
					return err
				}
				return shownOnce(io, raw, issued.Key, &out,
					fmt.Sprintf("This is key %s of %s. It is not kept, and not shown again.%s",
						issued.ID, args[0], ends(issued.NotAfter)))
			})
		},
	}
	cmd.Flags().StringVar(&notAfter, "not-after", "", "when the key ends: a time (RFC 3339), or how long it is good (90d, 12h); default never")
	out.flag(cmd, "the key and its id")
	to.flags(cmd)
	return cmd
}

// shownOnce writes what can not be shown again to standard output, alone.
func shownOnce(io streams, raw []byte, text string, out *output, words string) error {
	if out.json() {
		if err := printJSON(io, raw); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(io.out, text); err != nil {
		return err
	}
	printNote(io, words)
	return nil
}

func ends(at time.Time) string {
	if at.IsZero() {
		return " It does not end by itself."
	}
	return " It ends at " + timeWord(at) + "."
}

// parseNotAfter reads when something ends. Nothing means never.
func parseNotAfter(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		hours := text
		if days, ok := strings.CutSuffix(text, "d"); ok {
			n, wrong := strconv.ParseUint(days, 10, 16)
			if wrong == nil {
				hours = strconv.FormatUint(n*24, 10) + "h"
			}
		}
		good, wrong := time.ParseDuration(hours)
		if wrong != nil {
			return time.Time{}, usageError{fmt.Errorf("--not-after: %q is neither a time like 2027-12-31T00:00:00Z nor a duration like 90d", cut(text, 60))}
		}
		at = now.Add(good)
	}
	if !at.After(now) {
		return time.Time{}, usageError{errors.New("--not-after: that is over already")}
	}
	return at.UTC().Truncate(time.Second), nil
}

func newKeyList(io streams) *cobra.Command {
	return adminList[admin.ClientKeys, admin.ClientKey]{
		use: "list NAME", short: "List the keys of a remote client, without the keys themselves",
		example: `  legation client key list acme`,
		args:    takes(1, "the name of a remote client"), what: "keys", none: "It has no keys.",
		request: func(args []string) (request, error) {
			return get("clients", args[0], "keys").seen("legation client list"), nil
		},
		items:   func(form admin.ClientKeys) ([]admin.ClientKey, int64) { return form.Keys, 0 },
		heading: []string{"ID", "STATE", "ENDS"},
		row: func(k admin.ClientKey) []string {
			state := "usable"
			switch {
			case k.Revoked:
				state = "revoked"
			case !k.Usable:
				state = "ended"
			}
			return []string{k.ID, state, timeWord(k.NotAfter)}
		},
	}.command(io)
}

func newKeyRevoke(io streams) *cobra.Command {
	var to connection
	cmd := &cobra.Command{
		Use:   "revoke NAME KEYID",
		Short: "Take a key away from a remote client, at once",
		Long: `Revoke makes a key worthless at once, and ends what was opened with it. It can not
be undone; issue another key instead.

` + connectionText,
		Example: `  legation client key revoke acme k2x7f4`,
		Args:    takes(2, "the name of a remote client and the id of a key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key, err := access.ParseKey(args[1]); err == nil {
				return usageError{fmt.Errorf("that is a whole key; give its id, the part after lgn_: %s", key.ID)}
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				_, err := in.do(ctx, request{method: http.MethodDelete, path: []string{"clients", args[0], "keys", args[1]}, see: "legation client key list " + shellWord(args[0])})
				if err := tellProblems(io, err); err != nil {
					return err
				}
				_, err = fmt.Fprintf(io.out, "Key %s of %s is revoked.\n", line(args[1], maxName), line(args[0], maxName))
				return err
			})
		},
	}
	to.flags(cmd)
	return cmd
}
