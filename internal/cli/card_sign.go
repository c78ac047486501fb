package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
)

// cardSign is what "card sign" was asked.
type cardSign struct {
	file string
	keys []string
	kid  string
	jku  string
	out  string
}

func newCardSign(io streams) *cobra.Command {
	var s cardSign
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "Sign a card",
		Long: `Sign adds a signature of each key to the card in FILE, or on standard input for -,
and leaves everything else as it is written. A signature that names the same key
is replaced; others stay, so that a card can carry those of an old and a new key.
A card with a fault that readers would stumble over is not signed.

The signed card goes to standard output, or to the file of --out, which may be
FILE itself. The signature is a JWS over the card's canonical form (RFC 7515,
RFC 8785) by ES256, EdDSA or RS256, as the key is.`,
		Example: `  legation card sign agent-card.json --key key.jwk
  legation card sign agent-card.json --key old.jwk --key new.pem -o signed.json
  legation card sign agent-card.json --key key.pem --kid 2026-07 --jku https://agent.example/keys.json`,
		Args: takes(1, "the file of a card"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.file = args[0]
			return s.run(cmd.Context(), io)
		},
	}
	cmd.Flags().StringArrayVar(&s.keys, "key", nil, "file of a private key, as JWK or PEM; repeatable")
	cmd.Flags().StringVar(&s.kid, "kid", "", "what the signature calls the key (default: what the JWK says, else its thumbprint)")
	cmd.Flags().StringVar(&s.jku, "jku", "", "https URL where the public keys can be found")
	cmd.Flags().StringVarP(&s.out, "out", "o", "", "file to write instead of standard output; it is replaced")
	return cmd
}

func (s *cardSign) run(ctx context.Context, io streams) error {
	switch {
	case len(s.keys) == 0:
		return &advisedError{usageError{errors.New("there is no key to sign with; give its file with --key")},
			"make one with: legation card keygen --alg ES256 --out key.jwk"}
	case s.kid != "" && len(s.keys) > 1:
		return usageError{errors.New("--kid names one key, and there are several; give each JWK a kid of its own")}
	}
	raw, err := readCardFile(ctx, io, s.file)
	if err != nil {
		return err
	}
	_, violations, err := a2a.Decode[a2a.AgentCard](raw)
	if err == nil && len(violations) > 0 {
		v := violations[0]
		err = fmt.Errorf("%s %s", line(v.Field, maxName), v.Description)
	}
	if err != nil {
		return &advisedError{aboutFile(s.file, fmt.Errorf("the card is not signed: %w", err)),
			"see all that is wrong with it: legation card lint " + shellWord(s.file)}
	}
	var signers []card.Signer
	for _, path := range s.keys {
		key, err := readPrivateKey(path)
		if err != nil {
			return fmt.Errorf("--key: %w", err)
		}
		if s.kid != "" {
			if key, err = key.WithID(s.kid); err != nil {
				return usageError{fmt.Errorf("--kid: %w", err)}
			}
		}
		signers = append(signers, card.Signer{Key: key, JWKSURL: s.jku})
	}
	signed, err := card.Sign(raw, signers...)
	if err != nil {
		return aboutFile(s.file, err)
	}
	if s.out == "" {
		_, err := io.out.Write(signed)
		return err
	}
	if err := os.WriteFile(s.out, signed, 0o644); err != nil { //nolint:gosec // A card is public.
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
