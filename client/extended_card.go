package client

import (
	"context"

	"github.com/legation/legation/a2a"
)

// GetExtendedAgentCard returns the card the agent shows to this caller. It is
// for this caller alone, has no lifetime of its own and can not be
// revalidated; it holds for as long as the public card's Version stays.
func (c *Client) GetExtendedAgentCard(ctx context.Context) (*Card, error) {
	const method = a2a.MethodGetExtendedAgentCard
	if err := offered(method, "extendedAgentCard", c.card.AgentCard.Capabilities.ExtendedAgentCard); err != nil {
		return nil, err
	}
	result, x, err := c.call(ctx, method, &a2a.GetExtendedAgentCardRequest{Tenant: c.iface.Tenant})
	if err != nil {
		return nil, err
	}
	card, err := parseCard(result, c.card.route)
	if err != nil {
		return nil, x.invalid(err.Error())
	}
	if err := card.check(x.secrets); err != nil {
		return nil, err
	}
	card.URL, card.FetchedAt = c.iface.URL, c.cfg.Now()
	return card, nil
}
