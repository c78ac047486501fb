package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
)

func newAgent(io streams) *cobra.Command {
	return group("agent", "Look after remote agents: their cards, keys and readiness",
		`A remote agent is a party that work may be handed to: a document of the kind
RemoteAgent, registered by 'legation apply'. What is believed of it is its card,
verified with the keys that the document pins.`,
		`  legation agent list
  legation agent check translator
  legation agent accept translator`,
		newAgentList(io), newAgentShow(io), newAgentCheck(io), newAgentAccept(io))
}

func newAgentList(io streams) *cobra.Command {
	return adminList[admin.Agents, admin.Agent]{
		use: "list", short: "List remote agents, and whether work may be handed to them",
		example: `  legation agent list
  legation agent list -o json`,
		what: "remote agents", none: "No remote agent is registered.",
		request: func([]string) (request, error) { return get("agents"), nil },
		items:   func(form admin.Agents) ([]admin.Agent, int64) { return form.Agents, 0 },
		heading: []string{"NAME", "STATE", "VERSION", "KEY", "VERIFIED", "BELIEVED UNTIL", "REASONS"},
		row: func(a admin.Agent) []string {
			return []string{a.Name, a.State, a.Version, a.KeyID, timeWord(a.VerifiedAt), timeWord(a.ExpiresAt), strings.Join(a.Reasons, "; ")}
		},
	}.command(io)
}

func newAgentShow(io streams) *cobra.Command {
	var to connection
	var out output
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what is believed of a remote agent",
		Long: `Show says what is known of a remote agent: the state of its card, the key that it
was verified with, and how the newest card differs from the accepted one.

` + connectionText,
		Example: `  legation agent show translator
  legation agent show translator -o json`,
		Args: takes(1, "the name of a remote agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				agent, raw, err := fetch[admin.Agent](ctx, in, get("agents", args[0]).seen("legation agent list"))
				switch {
				case err != nil:
					return err
				case out.json():
					return printJSON(io, raw)
				}
				_, err = fmt.Fprint(io.out, agentInWords(agent))
				return err
			})
		},
	}
	out.flag(cmd, "all that is known")
	to.flags(cmd)
	return cmd
}

// agentInWords puts what is believed of a remote agent in words.
func agentInWords(a admin.Agent) string {
	w := &words{}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			w.field(name, timeWord(t))
		}
	}
	fmt.Fprintf(w, "%s\n\n", line(a.Name, maxName))
	w.field("State", line(a.State, maxName))
	w.field("Card", line(withoutQuery(a.CardURL), maxName))
	w.field("Version", line(a.Version, maxName))
	if a.KeyID != "" {
		w.field("Signed with", line(a.KeyID+" ("+a.Algorithm+")", maxName))
	}
	w.field("Digest", line(a.Digest, maxName))
	at("Fetched", a.FetchedAt)
	at("Verified", a.VerifiedAt)
	at("Good until", a.ExpiresAt)
	w.field("Last error", line(a.LastError, maxProse))
	list(w, "What is missing", a.Reasons, func(reason string) { w.item("%s", line(reason, maxProse)) })
	if a.Drift != nil {
		w.WriteString(driftInWords(*a.Drift))
	}
	return w.String()
}

// driftInWords says how a card differs from the one that was accepted.
func driftInWords(d admin.Drift) string {
	w := &words{}
	list(w, "Changed, and to be accepted", d.Structure, func(what string) { w.item("%s", line(what, maxProse)) })
	list(w, "Changed wording", d.Wording, func(what string) { w.item("%s", line(what, maxProse)) })
	if d.Digest != "" {
		fmt.Fprintf(w, "\nThe new card has the digest %s.\n", line(d.Digest, maxName))
	}
	return w.String()
}

func newAgentCheck(io streams) *cobra.Command {
	return checkCommand{
		use: "check NAME", short: "Check whether work can be handed to a remote agent, and say what is in the way",
		long: `Check goes through what a remote agent needs, step by step: its document, its
credential, the connection, its card, the signature, the interface. It reads the
card and sends no message. It works without a running server as well.

The exit status is 1 if something is in the way.`,
		example: `  legation agent check translator
  legation agent check translator -o json`,
		args: takes(1, "the name of a remote agent"), path: "agents", see: "legation agent list",
	}.command(io)
}

func newAgentAccept(io streams) *cobra.Command {
	var to connection
	var digest string
	var yes bool
	cmd := &cobra.Command{
		Use:   "accept NAME",
		Short: "Accept the new card of a remote agent whose structure changed",
		Long: `A remote agent whose card has changed in what matters - skills, interfaces,
credentials, extensions - gets no more work until somebody has looked. Accept
shows the changes, asks, and accepts that very card and no other.

` + connectionText,
		Example: `  legation agent accept translator
  legation agent accept translator --digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: takes(1, "the name of a remote agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				return acceptCard(ctx, io, in, args[0], digest, yes)
			})
		},
	}
	cmd.Flags().StringVar(&digest, "digest", "", "digest of the card to accept, as 'agent show' tells it, with sha256: or without; does not ask")
	cmd.Flags().BoolVar(&yes, "yes", false, "accept whatever the newest card is, without asking")
	to.flags(cmd)
	return cmd
}

func acceptCard(ctx context.Context, io streams, in *installation, name, digest string, yes bool) error {
	if digest == "" {
		agent, _, err := fetch[admin.Agent](ctx, in, get("agents", name).seen("legation agent list"))
		switch {
		case err != nil:
			return err
		case agent.Drift == nil || agent.Drift.Digest == "":
			fmt.Fprintf(io.err, "The card of %s has not changed; there is nothing to accept.\n", line(name, maxName))
			return nil
		}
		digest = agent.Drift.Digest
		fmt.Fprint(io.err, strings.TrimPrefix(driftInWords(*agent.Drift), "\n"))
		if !yes && !isTerminal(io.in) {
			return &advisedError{
				err:    usageError{errors.New("accepting a card asks first, and there is nobody to ask")},
				advice: "if these changes are right: legation agent accept " + shellWord(name) + " --digest " + shellWord(digest),
			}
		}
		if !yes {
			may, err := agreed(ctx, io, "Accept this card?")
			if err != nil {
				return err
			}
			if !may {
				fmt.Fprintln(io.err, "Nothing was changed.")
				return exitStatus(exitError)
			}
		}
	}
	agent, _, err := fetch[admin.Agent](ctx, in, request{
		method: http.MethodPost, path: []string{"agents", name, "accept"}, body: admin.AcceptCard{Digest: digest}, see: "legation agent list",
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.out, "The card is accepted; %s is %s.\n", line(name, maxName), line(agent.State, maxName))
	return err
}
