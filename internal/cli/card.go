package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/legation/legation/client"
)

func newCard(io streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "card",
		Short: "Look at the cards of agents, sign and verify them",
		Long: `An agent describes itself by its card: who offers it, what it can do, how it is
reached, and what it asks of a client. A signature says that nobody changed it
since; whoever knows the key verifies it.`,
		Example: `  legation card show http://127.0.0.1:8700
  legation card lint agent-card.json
  legation card keygen --out key.jwk
  legation card sign agent-card.json --key key.jwk -o signed.json
  legation card jwks key.jwk > keys.json
  legation card verify signed.json --jwks keys.json`,
		Args: takesCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newCardShow(io), newCardLint(io), newCardSign(io), newCardVerify(io),
		newCardKeygen(io), newCardJWKS(io),
	)
	return cmd
}

func newCardShow(io streams) *cobra.Command {
	var r remote
	var out output
	cmd := &cobra.Command{
		Use:   "show URL",
		Short: "Show what an agent says about itself, and how it would be called",
		Long: `Show reads the card of the agent at URL and puts it in words. The interface that
legation would call is marked with an arrow; of the others it says why not.

URL is the base URL of the agent, or the URL of its card if that ends in .json.
The signatures of the card are counted and not verified; "legation card verify"
does that.`,
		Example: `  legation card show http://127.0.0.1:8700
  legation card show https://agent.example/team/agent-card.json -o json
  legation card show https://agent.internal --ca company.pem --header 'X-Api-Key: …'`,
		Args: takes(1, "the URL of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.url = args[0]
			return showCard(cmd.Context(), io, &r, &out)
		},
	}
	out.flag(cmd, "the card as it was served")
	r.flags(cmd, askTimeout)
	return cmd
}

func showCard(ctx context.Context, io streams, r *remote, out *output) error {
	if err := out.check(); err != nil {
		return err
	}
	ctx, cancel := r.limit(ctx)
	defer cancel()
	card, cfg, err := r.card(ctx)
	if err != nil {
		return err
	}
	defer cfg.Guard.Close()
	if out.json() {
		return printJSON(io, card.Raw)
	}
	fmt.Fprint(io.out, cardInWords(card, r.url))
	_, unusable := client.New(card, cfg)
	return r.wrap(unusable)
}
