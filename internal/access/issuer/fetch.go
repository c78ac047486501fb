package issuer

import (
	"context"
	"crypto"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/internal/access"
)

const (
	visitTimeout = 10 * time.Second // discovery and keys together
	maxAnswer    = 1 << 20          // bytes of either
	maxKeys      = 32               // that are taken of one issuer
	minRSA       = 2048             // bits
)

// key is one of an issuer's.
type key struct {
	id        string
	algorithm string // empty: any that fits
	public    crypto.PublicKey
}

// fetch discovers where an issuer has its keys and reads them.
func fetch(ctx context.Context, client *http.Client, issuer string) ([]key, error) {
	ctx, cancel := context.WithTimeout(ctx, visitTimeout)
	defer cancel()
	client = short(client)
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, client), issuer)
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var found struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&found); err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, found.Keys, nil)
	if err != nil {
		return nil, errors.New("read keys: jwks_uri is not a URL")
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read keys: HTTP status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return parseKeys(body)
}

// parseKeys reads a key set (RFC 7517, section 5). Keys that cannot be used to
// verify, or are too weak, are left out.
func parseKeys(body []byte) ([]key, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("read keys: not a key set")
	}
	var all []key
	for _, text := range set.Keys {
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(text); err != nil || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
			continue
		}
		if public, ok := k.Key.(*rsa.PublicKey); ok && public.N.BitLen() < minRSA {
			continue
		}
		if all = append(all, key{id: k.KeyID, algorithm: k.Algorithm, public: k.Key}); len(all) == maxKeys {
			break
		}
	}
	if len(all) == 0 {
		return nil, errors.New("read keys: none that can be used")
	}
	return all, nil
}

// short is the client with a cap on what it reads.
func short(client *http.Client) *http.Client {
	capped := *client
	capped.Transport = cappedTransport{client.Transport}
	return &capped
}

type cappedTransport struct{ http.RoundTripper }

func (t cappedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	inner := t.RoundTripper
	if inner == nil {
		return nil, errors.New("the client for an issuer has no transport")
	}
	resp, err := inner.RoundTrip(req)
	if err == nil {
		resp.Body = cappedBody{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

type cappedBody struct {
	io.Reader
	io.Closer
}

// bounded is the text of an error that may quote what an issuer has answered.
func bounded(err error) string {
	text := err.Error()
	return strconv.Quote(text[:min(len(text), 300)])
}

// parseClaims reads the claims that access judges. Duplicate members are
// refused.
func parseClaims(payload []byte) (access.Claims, error) {
	var raw struct {
		Issuer    string   `json:"iss"`
		Subject   string   `json:"sub"`
		Audience  audience `json:"aud"`
		Party     string   `json:"azp"`
		Client    string   `json:"client_id"`
		Expires   date     `json:"exp"`
		NotBefore date     `json:"nbf"`
		IssuedAt  date     `json:"iat"`
	}
	if err := json.Unmarshal(payload, &raw); err != nil {
		return access.Claims{}, errors.New("claims are malformed") // the cause quotes them
	}
	if raw.Party == "" {
		raw.Party = raw.Client
	}
	return access.Claims{
		Issuer: raw.Issuer, Subject: raw.Subject, Audience: raw.Audience, AuthorizedParty: raw.Party,
		Expires: time.Time(raw.Expires), NotBefore: time.Time(raw.NotBefore), IssuedAt: time.Time(raw.IssuedAt),
	}, nil
}

// audience is one text or several (RFC 7519, section 4.1.3).
type audience []string

func (a *audience) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var one string
		err := json.Unmarshal(text, &one)
		*a = audience{one}
		return err
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// date is seconds since 1970, perhaps with a fraction (RFC 7519, section 2). Zero
// means what absence does: some issuers write it for what they do not say.
type date time.Time

const lastDate = 253402300799 // of the year 9999

func (d *date) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	switch {
	case seconds == 0:
		*d = date{}
		return nil
	case seconds < 0 || seconds > lastDate:
		return errors.New("a date is out of range")
	}
	whole := int64(seconds)
	*d = date(time.Unix(whole, int64((seconds-float64(whole))*1e9)))
	return nil
}
