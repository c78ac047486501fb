package client

import (
	"context"
	"strconv"
	"sync/atomic"

	"github.com/legation/legation/a2a"
)

// Client calls one remote agent through the interface that was chosen from its
// card. It is safe for concurrent use.
//
// Requests given to its methods are not changed. Their Tenant is ignored: every
// request carries the tenant of the interface, or none
// (a2a.proto AgentInterface.tenant).
type Client struct {
	cfg   Config
	card  *Card
	iface a2a.AgentInterface
	next  atomic.Uint64 // request ids

	anonymous error // of calls without credentials; nil if the card allows them
}

// Dial reads the card of the agent at a URL and returns a client for it. It
// fails where [ReadCard] and [New] do.
func Dial(ctx context.Context, url string, cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	cfg.own = false // its connections are of use after the card
	card, err := ReadCard(ctx, url, cfg)
	if err != nil {
		return nil, err
	}
	return New(card, cfg)
}

// New returns a client for the agent a card describes. Nothing is sent. It
// fails with an *[InterfaceError] if no interface can be used, with an
// *[ExtensionError] if one side requires an extension that the other does not
// have, and with an *[InvalidResponseError] if the card breaks the
// protocol in a way that could change whom we trust: a security requirement
// that can not be read is not the absence of one.
//
// Where the card asks for credentials and none go along, every operation fails
// with a *[NoCredentialsError].
func New(card *Card, cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	secrets := secretsOf(cfg.Headers)
	iface, err := card.Interface()
	if err != nil {
		return nil, secrets.cover(err)
	}
	if err := card.check(secrets); err != nil {
		return nil, err
	}
	if err := checkExtensions(card, cfg); err != nil {
		return nil, secrets.cover(err)
	}
	return &Client{cfg: cfg, card: card, iface: iface, anonymous: card.anonymous()}, nil
}

// Card returns the card the client was made from.
func (c *Client) Card() *Card { return c.card }

// Interface returns the interface that is called.
func (c *Client) Interface() a2a.AgentInterface { return c.iface }

// Close closes the connections nobody is using. The client remains usable.
func (c *Client) Close() { c.cfg.Guard.Close() }

// id returns the next request id. It is a string on the wire.
func (c *Client) id() string { return strconv.FormatUint(c.next.Add(1), 10) }

// offered refuses an operation whose capability the card does not announce.
func offered(method, capability string, announced *bool) error {
	if announced != nil && *announced {
		return nil
	}
	return &UnsupportedError{Method: method, Capability: capability}
}

func (c *Client) streams(method string) error {
	return offered(method, "streaming", c.card.AgentCard.Capabilities.Streaming)
}

func (c *Client) pushes(method string) error {
	return offered(method, "pushNotifications", c.card.AgentCard.Capabilities.PushNotifications)
}
