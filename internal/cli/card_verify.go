package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/card"
)

// cardVerify is what "card verify" was asked.
type cardVerify struct {
	source cardSource
	out    output
	jwks   []string
	pin    card.Pin
}

func newCardVerify(io streams) *cobra.Command {
	var v cardVerify
	cmd := &cobra.Command{
		Use:   "verify FILE|URL",
		Short: "Verify a signed card against keys that are known",
		Long: `Verify believes a card if a key of --jwks signed it and it is who is expected.
Where a card says its keys can be found (jku) is never asked, so the keys have to
come from its operator by another way.

` + cardSourceText + `

The exit status is 1 if the card is not believed; the error says which check
failed.`,
		Example: `  legation card verify signed.json --jwks keys.json
  legation card verify https://agent.example --jwks keys.json --name Billing --organization Example
  legation card verify signed.json --jwks keys.json --revoked 2025-01 -o json`,
		Args: takes(1, "a card: a file, or the URL of an agent"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.source.typed = args[0]
			return v.run(cmd.Context(), io)
		},
	}
	cmd.Flags().StringArrayVar(&v.jwks, "jwks", nil, "file of the public keys that are believed, as JWK Set; repeatable")
	cmd.Flags().StringArrayVar(&v.pin.Revoked, "revoked", nil, "id or thumbprint of a key that is not believed any more; repeatable")
	cmd.Flags().StringVar(&v.pin.Name, "name", "", "what the agent must be called")
	cmd.Flags().StringVar(&v.pin.Organization, "organization", "", "which organization must provide the agent")
	cmd.Flags().StringVar(&v.pin.MinVersion, "min-version", "", "lowest version of the card, compared where both are semantic versions")
	v.out.flag(cmd, "what was verified")
	v.source.flags(cmd)
	return cmd
}

func (v *cardVerify) run(ctx context.Context, io streams) error {
	if err := v.out.check(); err != nil {
		return err
	}
	if len(v.jwks) == 0 {
		return &advisedError{usageError{errors.New("there is no key to verify with; give a file of public keys with --jwks")},
			"ask the agent's operator for it; who holds the private key makes it with: legation card jwks key.jwk"}
	}
	for _, path := range v.jwks {
		text, err := readFile(path, card.MaxBytes)
		if err != nil {
			return fmt.Errorf("--jwks: %w", err)
		}
		keys, err := card.ParseJWKS(text)
		if err != nil {
			return fmt.Errorf("--jwks: %w", aboutFile(path, err))
		}
		v.pin.Keys = append(v.pin.Keys, keys...)
	}
	raw, err := v.source.read(ctx, io)
	if err != nil {
		return err
	}
	trusted, err := card.Verify(raw, v.pin)
	if refused, ok := errors.AsType[*card.UntrustedError](err); ok {
		return &advisedError{fmt.Errorf("the card is not to be trusted: %s", refused.Problem), refused.Next}
	}
	if err != nil {
		return err
	}
	if v.out.json() {
		return printTrusted(io, trusted)
	}
	fmt.Fprint(io.out, trustedInWords(trusted))
	return nil
}

func trustedInWords(trusted card.Trusted) string {
	form, w := trusted.Card, &words{}
	w.field("Verified", "the signature by key "+line(trusted.KeyID, maxName)+" ("+string(trusted.Algorithm)+")")
	w.field("Name", line(form.Name, maxName))
	if form.Provider != nil {
		w.field("Organization", line(form.Provider.Organization, maxName))
	}
	w.field("Version", line(form.Version, maxName))
	w.field("Digest", trusted.Digest)
	if trusted.KnownOnly {
		w.field("Not covered", "members that the specification does not know; they are ignored")
	}
	for _, violation := range trusted.Violations {
		w.field("Fault", line(violation.Field, maxName)+" "+line(violation.Description, maxName))
	}
	return w.String()
}

func printTrusted(io streams, trusted card.Trusted) error {
	type fault struct {
		Field       string `json:"field"`
		Description string `json:"description"`
	}
	result := struct {
		KeyID        string         `json:"keyId"`
		Algorithm    card.Algorithm `json:"algorithm"`
		Digest       string         `json:"digest"`
		KnownOnly    bool           `json:"knownOnly"`
		Name         string         `json:"name"`
		Organization string         `json:"organization"`
		Version      string         `json:"version"`
		Faults       []fault        `json:"faults"`
	}{
		KeyID: trusted.KeyID, Algorithm: trusted.Algorithm, Digest: trusted.Digest, KnownOnly: trusted.KnownOnly,
		Name: trusted.Card.Name, Version: trusted.Card.Version, Faults: []fault{},
	}
	if p := trusted.Card.Provider; p != nil {
		result.Organization = p.Organization
	}
	for _, v := range trusted.Violations {
		result.Faults = append(result.Faults, fault{v.Field, v.Description})
	}
	document, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return printJSON(io, document)
}
