package remotes

import (
	"context"
	"net/url"
	"strings"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/trust"
)

// cards reads cards for the book.
type cards struct{ *Remotes }

// Read implements [trust.Source].
func (c cards) Read(ctx context.Context, of trust.Registration) (trust.Fetched, error) {
	l, err := c.leg(of.Name, of.Generation, of.Spec)
	if err != nil {
		return trust.Fetched{}, &trust.ReadError{Code: trust.CodeRegistration, Words: "the registration cannot be used: " + oneLine(err.Error()), Err: err}
	}
	card, err := l.read(ctx)
	if err != nil {
		return trust.Fetched{}, readError(err)
	}
	return trust.Fetched{
		Raw: card.Raw, URL: shown(card.URL), ETag: card.ETag, LastModified: card.LastModified, MaxAge: card.MaxAge,
	}, nil
}

// read reads the card, if it has changed since the last time.
func (l *leg) read(ctx context.Context) (*client.Card, error) {
	if l.spec.CardURL != "" && !namesCard(string(l.spec.CardURL)) {
		return nil, errCardPath
	}
	l.mu.Lock()
	known := l.known
	l.mu.Unlock()
	var card *client.Card
	var err error
	if known != nil {
		card, _, err = known.Revalidate(ctx)
	} else {
		card, err = client.ReadCard(ctx, l.location(), l.reads())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	l.known = card
	return card, nil
}

// namesCard reports whether a URL is that of a card, and not of an agent below
// which one is looked for.
func namesCard(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && strings.HasSuffix(strings.ToLower(u.Path), ".json")
}

// shown is a URL without what may be a secret.
func shown(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	return raw
}
