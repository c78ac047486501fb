package client

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
)

const (
	// TokenBudgetExtension is how many tokens an agent may use for a message,
	// see [Card.LimitTokens].
	TokenBudgetExtension = extension.TokenBudget

	// RetryExtension says that an agent deduplicates messages, see
	// [Card.Deduplicates].
	RetryExtension = extension.Retry
)

// Announces reports whether the card has an extension
// (a2a.proto AgentCapabilities.extensions). URIs are compared byte by byte.
func (c *Card) Announces(uri string) bool {
	_, ok := c.extension(uri)
	return ok
}

func (c *Card) extension(uri string) (a2a.AgentExtension, bool) {
	for _, e := range c.AgentCard.Capabilities.Extensions {
		if e.URI == uri {
			return e, true
		}
	}
	return a2a.AgentExtension{}, false
}

// Deduplicates reports whether the agent promises that the same message, sent
// again by the same caller, joins the task it went to ([RetryExtension]), and
// for how long. A promise whose window can not be read is none. It is worth
// what the card is worth: only one that was verified should let a message be
// sent again.
func (c *Card) Deduplicates() (window time.Duration, ok bool) {
	e, ok := c.extension(RetryExtension)
	if !ok {
		return 0, false
	}
	window, err := extension.RetryWindow(e.Params)
	return window, err == nil
}

// LimitTokens gives a message a token budget, from 1 to 2^53-1, if the card
// announces that the agent keeps to one, and reports whether it does: otherwise
// the message is left as it is, and whoever sets the budget decides whether to
// send it. The budget is for this message alone; one that continues a task
// needs its own. Operations that send the message ask for the extension in
// their header. Whether it was in force is in [Answer.Extensions].
func (c *Card) LimitTokens(m *a2a.Message, maxTokens int64) (announced bool, err error) {
	changed := *m
	if err := extension.SetTokens(&changed, maxTokens); err != nil {
		return false, fmt.Errorf("client: %w", err)
	}
	if !c.Announces(TokenBudgetExtension) {
		return false, nil
	}
	*m = changed
	return true, nil
}

// checkExtensions compares what the two sides require of each other.
func checkExtensions(card *Card, cfg Config) error {
	var failed ExtensionError
	for _, e := range card.AgentCard.Capabilities.Extensions {
		if e.Required && !slices.Contains(cfg.Extensions, e.URI) {
			failed.URIs = append(failed.URIs, e.URI)
		}
	}
	for _, uri := range cfg.RequiredExtensions {
		if !card.Announces(uri) {
			failed.Unannounced = append(failed.Unannounced, uri)
		}
	}
	if len(failed.URIs) > 0 || len(failed.Unannounced) > 0 {
		return &failed
	}
	return nil
}

// checkBudget refuses a message whose budget the agent would refuse: one it
// requires and that is missing, or one that is malformed.
func (c *Card) checkBudget(m *a2a.Message) error {
	e, ok := c.extension(TokenBudgetExtension)
	if !ok {
		return nil
	}
	n, err := extension.Tokens(m.Metadata)
	if err != nil {
		return fmt.Errorf("message.metadata%w", err)
	}
	if n == 0 && e.Required {
		return fmt.Errorf("the agent requires a token budget with every message (%s)", TokenBudgetExtension)
	}
	return nil
}

// maxExtensions bounds how many extensions one request asks for, and its
// header's length with it.
const maxExtensions = 64

// checkURIs refuses what can not stand in the header that asks for extensions.
func checkURIs(uris []string) error {
	if len(uris) > maxExtensions {
		return fmt.Errorf("there are more than %d extensions", maxExtensions)
	}
	for _, uri := range uris {
		if uri == "" || strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ',' }) {
			return fmt.Errorf("extension %q is not a URI", bounded(uri))
		}
	}
	return nil
}

// askFor puts into a header which extensions a request asks for: those of the
// configuration and those that its message uses (section 3.2.6).
func (c *Config) askFor(header http.Header, used []string) {
	asked := slices.Clone(c.Extensions)
	for _, uri := range used {
		if !slices.Contains(asked, uri) {
			asked = append(asked, uri)
		}
	}
	if len(asked) > 0 {
		header.Set(a2a.HeaderExtensions, strings.Join(asked, ", "))
	}
}

// used are the extensions of the message that a request sends.
func used(p params) []string {
	if req, ok := p.(*a2a.SendMessageRequest); ok {
		return req.Message.Extensions
	}
	return nil
}
