package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/legation/legation/card"
)

func newCardKeygen(io streams) *cobra.Command {
	var alg, kid, out string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Make a key that signs cards",
		Long: `Keygen makes a private key and writes it as JWK to a file that only its owner can
read. A file that exists is not replaced. What it prints is the id of the key,
which is its thumbprint (RFC 7638) where --kid says nothing else.`,
		Example: `  legation card keygen --out key.jwk
  legation card keygen --alg EdDSA --kid 2026-07 -o key.jwk`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return keygen(io, alg, kid, out) },
	}
	cmd.Flags().StringVar(&alg, "alg", string(card.ES256), "algorithm the key is for: ES256, EdDSA or RS256")
	cmd.Flags().StringVar(&kid, "kid", "", "id of the key (default its thumbprint)")
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write")
	return cmd
}

func keygen(io streams, alg, kid, out string) error {
	switch {
	case out == "":
		return usageError{errors.New("give the file to write the key to with --out")}
	case !slices.Contains(card.Algorithms(), card.Algorithm(alg)):
		return usageError{fmt.Errorf("--alg: %q is not ES256, EdDSA or RS256", cut(alg, 60))}
	}
	key, err := card.GenerateKey(card.Algorithm(alg))
	if err != nil {
		return err
	}
	if kid != "" {
		if key, err = key.WithID(kid); err != nil {
			return usageError{fmt.Errorf("--kid: %w", err)}
		}
	}
	text, err := key.JWK()
	if err != nil {
		return err
	}
	err = writeSecret(out, append(text, '\n'))
	if errors.Is(err, fs.ErrExist) {
		return &advisedError{fmt.Errorf("%s exists, and a key is not replaced", out),
			"give another file, or remove that one if nobody needs its key"}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(io.out, plain(key.ID()))
	fmt.Fprintf(io.err, "hand out its public half: legation card jwks %s\n", shellWord(out))
	return nil
}

func newCardJWKS(io streams) *cobra.Command {
	return &cobra.Command{
		Use:   "jwks KEYFILE…",
		Short: "Write the public halves of keys, as others need them",
		Long: `Jwks writes the public keys of all files as one JWK Set (RFC 7517). A file holds a
private key, as JWK or PEM, of which only the public half is written; or public
keys, as JWK Set.`,
		Example: `  legation card jwks key.jwk
  legation card jwks old-keys.json new.jwk > keys.json`,
		Args: takesAtLeast(1, "the file of a key"),
		RunE: func(_ *cobra.Command, args []string) error { return jwks(io, args) },
	}
}

func jwks(io streams, paths []string) error {
	var keys []card.PublicKey
	for _, path := range paths {
		read, err := readPublicKeys(path)
		if err != nil {
			return err
		}
		for _, key := range read {
			if slices.ContainsFunc(keys, func(k card.PublicKey) bool { return k.ID() == key.ID() }) {
				return fmt.Errorf("%s: there is another key with the id %q", path, key.ID())
			}
			keys = append(keys, key)
		}
	}
	set, err := card.JWKS(keys...)
	if err != nil {
		return err
	}
	return printJSON(io, set)
}

// readPublicKeys reads the public half of a private key, or a set of public
// ones.
func readPublicKeys(path string) ([]card.PublicKey, error) {
	text, err := readFile(path, card.MaxBytes)
	if err != nil {
		return nil, err
	}
	key, err := card.ParsePrivateKey(text)
	if err == nil {
		return []card.PublicKey{key.Public()}, nil
	}
	keys, publicErr := card.ParseJWKS(text)
	switch {
	case publicErr == nil:
		return keys, nil
	case strings.Contains(string(text), `"keys"`):
		err = publicErr
	}
	return nil, aboutFile(path, err)
}
