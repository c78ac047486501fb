package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
)

// cardMethod is what the reading of a card is called in errors and logs.
const cardMethod = "agent card"

// Card is an agent card as it was read. It is not verified: that is for who
// trusts it, with Raw. A card is not changed once it is made, and may be shared.
type Card struct {
	// AgentCard is what the card says, without members of other versions.
	AgentCard a2a.AgentCard

	// Violations are the faults of the card. [New] refuses a card for those
	// that could change whom we trust.
	Violations a2a.Violations

	// Raw is the card byte for byte as it was answered, as signatures need it.
	Raw []byte

	// URL is where the card was read, empty for one from [ParseCard].
	URL string

	// ETag and LastModified are the validators it came with, or empty.
	ETag, LastModified string

	// FetchedAt is when it was read or last found unchanged.
	FetchedAt time.Time

	// MaxAge is how long from then it may be used without asking again: by its
	// Cache-Control header and at most a day, 5 minutes where that is silent.
	MaxAge time.Duration

	route *url.URL
	cfg   Config // to ask again with, unset for a card that can not be
}

// ReadCard reads the card of the agent at a URL. The URL is the agent's base,
// below which the well-known path is asked for; or, if its path ends in .json,
// that of the card itself, which alone may carry a query. It also is the route:
// an interface of another origin is not used.
//
// No other place is a substitute: where a path has no card, the card at the
// root of its host is another agent's. It is looked at, without credentials,
// only to be named in the error.
//
// The error is a *[CardError] once something was asked for. Faults of a card
// that is a JSON object are no error, see [Card.Violations].
func ReadCard(ctx context.Context, rawURL string, cfg Config) (*Card, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	route, err := parseRoute(rawURL)
	if err != nil {
		return nil, err
	}
	target, err := cardURL(route)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, cfg.CardTimeout)
	defer cancel()
	card, err := fetchCard(limited, cfg, target, nil)
	if err == nil {
		card.route = route
		return card, nil
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no whole answer within %v: %w", cfg.CardTimeout, err)
	}
	failed := &CardError{URL: shown(target), Err: err, secrets: secretsOf(cfg.Headers)}
	if failed.Missing() {
		failed.Root = rootCard(limited, cfg, route, target)
	}
	return nil, failed
}

// rootCard reads the card at the root of a host, unless that is the one that
// was not found. What is there may belong to somebody else, so the request
// carries nothing that was meant for the agent.
func rootCard(ctx context.Context, cfg Config, route *url.URL, missing string) *Card {
	root := &url.URL{Scheme: route.Scheme, Host: route.Host, Path: "/"}
	target, err := cardURL(root)
	if err != nil || target == missing {
		return nil
	}
	cfg.Headers, cfg.Credentials = nil, nil
	card, err := fetchCard(ctx, cfg, target, nil)
	if err != nil {
		return nil
	}
	card.route = root
	return card
}

// ParseCard makes a card from bytes that were kept or handed over. The route
// is the URL the agent is registered under.
func ParseCard(raw []byte, route string) (*Card, error) {
	u, err := parseRoute(route)
	if err != nil {
		return nil, err
	}
	card, err := parseCard(raw, u)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return card, nil
}

func parseCard(raw []byte, route *url.URL) (*Card, error) {
	value, violations, err := a2a.Decode[a2a.AgentCard](raw)
	if err != nil {
		return nil, fmt.Errorf("the card can not be read: %w", err)
	}
	return &Card{AgentCard: value, Violations: violations, Raw: bytes.Clone(raw), route: route}, nil
}

// Interface returns the interface to call, see [ChooseInterface]. The route of a
// card that was not made here is its URL.
func (c *Card) Interface() (a2a.AgentInterface, error) {
	route := c.route
	if route == nil {
		var err error
		if route, err = parseRoute(c.URL); err != nil {
			return a2a.AgentInterface{}, err
		}
	}
	iface, err := ChooseInterface(c.AgentCard, route)
	if refused, ok := errors.AsType[*InterfaceError](err); ok {
		refused.Older = refused.Older || len(refused.Rejected) == 0 && older(c.Raw)
	}
	return iface, err
}

// Fresh reports whether the card may be used at a time without asking again.
func (c *Card) Fresh(now time.Time) bool { return now.Before(c.FetchedAt.Add(c.MaxAge)) }

// Revalidate asks whether the card has changed and returns the card as it is
// now, which holds the same bytes if it has not. The receiver stays as it is.
func (c *Card) Revalidate(ctx context.Context) (card *Card, changed bool, err error) {
	if c.cfg.Guard == nil {
		return nil, false, errors.New("client: this card was not read from a URL")
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.CardTimeout)
	defer cancel()
	card, err = fetchCard(ctx, c.cfg, c.URL, c)
	if err != nil {
		return nil, false, &CardError{URL: shown(c.URL), Err: err}
	}
	card.route = c.route
	return card, !bytes.Equal(card.Raw, c.Raw), nil
}

// check refuses a card whose faults could change whom we trust or what we are
// asked to support.
func (c *Card) check(secrets secrets) error {
	v, bad := fault(c.Violations)
	if !bad {
		v, bad = c.Violations.Find(a2a.TooMany)
	}
	if !bad {
		return nil
	}
	return &InvalidResponseError{Method: cardMethod, Why: secrets.hide(describe(v)), Status: http.StatusOK, ContentType: typeJSON}
}

// fetchCard reads one URL; with a known card only if that has changed.
func fetchCard(ctx context.Context, cfg Config, target string, known *Card) (*Card, error) {
	ctx = guard.WithMaxAnswer(ctx, cfg.MaxCardBytes)
	resp, secrets, err := getCard(ctx, cfg, target, known, false)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && cfg.Credentials != nil {
		resp.Body.Close()
		resp, secrets, err = getCard(ctx, cfg, target, known, true)
	}
	if err != nil {
		return nil, err
	}
	if cfg.own {
		defer cfg.Guard.Close()
	}
	defer resp.Body.Close()

	if known != nil && (known.ETag != "" || known.LastModified != "") && resp.StatusCode == http.StatusNotModified {
		same := *known
		same.stamp(resp.Header, cfg.Now())
		return &same, nil
	}
	if kind := mediaType(resp); resp.StatusCode != http.StatusOK || !isJSON(kind) && kind != "text/plain" {
		return nil, newHTTPError(cardMethod, resp, excerpt(resp), cfg.Now(), secrets)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the card: %w", secrets.cover(err))
	}
	card, err := parseCard(raw, nil)
	if err != nil {
		return nil, invalid(cardMethod, err.Error(), resp, secrets)
	}
	card.URL, card.cfg = target, cfg
	card.stamp(resp.Header, cfg.Now())
	return card, nil
}

func getCard(ctx context.Context, cfg Config, target string, known *Card, renew bool) (*http.Response, secrets, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, secrets{}, errors.New("the URL can not be used")
	}
	given, err := cfg.dress(ctx, req, renew)
	if err != nil {
		return nil, secrets{}, err
	}
	req.Header.Set("Accept", typeJSON)
	if known != nil {
		if known.ETag != "" {
			req.Header.Set("If-None-Match", known.ETag)
		}
		if known.LastModified != "" {
			req.Header.Set("If-Modified-Since", known.LastModified)
		}
	}
	hidden := secretsOf(given)
	resp, err := cfg.Guard.Do(req)
	if err != nil {
		return nil, hidden, hidden.cover(err)
	}
	cfg.observe(cardMethod, resp)
	return resp, hidden, nil
}

// cardURL is where the card of the agent at a URL is
// (specification 1.0.1, section 8.2).
func cardURL(route *url.URL) (string, error) {
	if strings.HasSuffix(strings.ToLower(route.Path), ".json") {
		return route.String(), nil
	}
	if route.RawQuery != "" || route.ForceQuery {
		// Dropping it would ask for something else than was meant.
		return "", errors.New("client: the base URL of an agent has no query; one may be part of the URL of a card, whose path ends in .json")
	}
	u := *route
	u.RawPath = ""
	u.Path = strings.TrimRight(route.Path, "/") + a2a.WellKnownCardPath
	if route.RawPath != "" {
		u.RawPath = strings.TrimRight(route.RawPath, "/") + a2a.WellKnownCardPath
	}
	return u.String(), nil
}

func parseRoute(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("client: this is not the URL of an agent; write it like https://agent.example/path")
	}
	if u.User != nil {
		return nil, errors.New("client: the URL carries a user name or password; give credentials as a header")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// shown is a URL without what may be a secret.
func shown(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	if u, err := url.Parse(raw); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return raw
}
