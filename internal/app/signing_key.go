package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// unfit says why a value is of no use to the agents that sign with a secret.
func (c *core) unfit(name string, value []byte) error {
	for _, doc := range c.registry.Set().Documents {
		spec, ok := doc.Spec.(*registry.Agent)
		if !ok || !slices.Contains(spec.SigningKeys, registry.SecretName(name)) {
			continue
		}
		if _, err := card.ParsePrivateKey(value); err != nil {
			return fmt.Errorf("%s signs its card with this secret, and could not be served: %w; make a key with: legation card keygen", doc.ID(), err)
		}
	}
	return nil
}

// signers reads the keys that sign a card. Without all of them the agent is not
// served: those who trust it would have to refuse it.
func signers(ctx context.Context, secrets *vault.Vault, names []registry.SecretName) ([]card.Signer, error) {
	var signers []card.Signer
	for i, name := range names {
		value, err := secrets.Open(ctx, vault.Reference{Name: string(name)}, vault.Use{Who: "legation", Purpose: "sign agent cards"})
		if err != nil {
			return nil, fmt.Errorf("signingKeys[%d] cannot be read: %w; store it with: legation secret put", i, err)
		}
		key, err := card.ParsePrivateKey(value.Reveal())
		value.Wipe()
		if err != nil {
			return nil, fmt.Errorf("signingKeys[%d]: %w; %s", i, err, otherKey(ctx, secrets, string(name)))
		}
		signers = append(signers, card.Signer{Key: key})
	}
	return signers, nil
}

// otherKey is what to do about a value that is no key: if there was one before,
// that one is back once the newest is gone.
func otherKey(ctx context.Context, secrets *vault.Vault, name string) string {
	const anew = "make one with: legation card keygen"
	versions, err := secrets.Versions(ctx, name)
	if err != nil || len(versions) < 2 {
		return anew
	}
	return fmt.Sprintf("go back with: legation secret delete %s@%d, or %s", name, versions[0].Version, anew)
}

// troubles says what a running server would say of an agent that it cannot
// serve, as far as that does not depend on how it is started.
func (c *core) troubles(ctx context.Context) func(registry.ID) []string {
	quiet := slog.New(slog.DiscardHandler)
	return func(id registry.ID) []string {
		set := c.registry.Set()
		doc, found := set.Document(id)
		if !found || id.Kind != registry.KindAgent {
			return nil
		}
		p := &publisher{
			answers: &answers{cfg: c.cfg, offline: true, vault: c.vault, egress: c.egress, log: quiet},
			vault:   c.vault, log: quiet, troubles: map[registry.ID][]string{},
		}
		if _, err := p.agent(ctx, set, doc, map[skillKey]answering{}); err != nil {
			p.trouble(id, err)
		}
		return p.troubles[id]
	}
}
