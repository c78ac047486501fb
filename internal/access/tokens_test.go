package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/legation/legation/internal/access"
)

// claimsOf verifies tokens whose text is a key of it.
type claimsOf map[string]any

func (c claimsOf) Verify(_ context.Context, token string, known func(string) bool) (access.Claims, error) {
	switch v := c[token].(type) {
	case access.Claims:
		if !known(v.Issuer) {
			return access.Claims{}, access.ErrIssuer
		}
		return v, nil
	case error:
		return access.Claims{}, v
	}
	return access.Claims{}, access.ErrToken
}

const issuer = "https://id.example.com/realms/a"

func TestClaims(t *testing.T) {
	good := access.Claims{
		Issuer: issuer, Subject: "service-1", Audience: []string{"others", "legation"}, AuthorizedParty: "app",
		Algorithm: "ES256", Expires: noon.Add(time.Hour), IssuedAt: noon.Add(-time.Minute),
	}
	with := func(change func(*access.Claims)) access.Claims {
		c := good
		change(&c)
		return c
	}
	client := func(name string, token access.OIDC) access.Client {
		token.Issuer, token.Audience = issuer, "legation"
		return access.Client{Name: name, Enabled: true, Tokens: []access.OIDC{token}}
	}
	byParty := client("party", access.OIDC{AuthorizedParty: "app"})
	bySubject := client("subject", access.OIDC{Subject: "service-1"})
	byBoth := client("both", access.OIDC{AuthorizedParty: "app", Subject: "service-1"})
	strict := client("strict", access.OIDC{AuthorizedParty: "app", Algorithms: []string{"RS256"}, Skew: time.Second})

	tests := []struct {
		name   string
		claims access.Claims
		client access.Client
		reason access.Reason // none: let in
	}{
		{"right party", good, byParty, ""},
		{"right subject", good, bySubject, ""},
		{"both", good, byBoth, ""},
		{"other party", with(func(c *access.Claims) { c.AuthorizedParty = "app2" }), byParty, access.ReasonParty},
		{"no party", with(func(c *access.Claims) { c.AuthorizedParty = "" }), byParty, access.ReasonParty},
		{"subject in place of the party", with(func(c *access.Claims) { c.AuthorizedParty, c.Subject = "", "app" }), byParty, access.ReasonParty},
		{"other subject", with(func(c *access.Claims) { c.Subject = "service-2" }), bySubject, access.ReasonParty},
		{"one of both", with(func(c *access.Claims) { c.Subject = "service-2" }), byBoth, access.ReasonParty},
		{"nobody", with(func(c *access.Claims) { c.Subject, c.AuthorizedParty = "", "" }), bySubject, access.ReasonParty},
		{"other audience", with(func(c *access.Claims) { c.Audience = []string{"others"} }), byParty, access.ReasonAudience},
		{"no audience", with(func(c *access.Claims) { c.Audience = nil }), byParty, access.ReasonAudience},
		{"other issuer", with(func(c *access.Claims) { c.Issuer += "/" }), byParty, access.ReasonIssuer},
		{"expired within the skew", with(func(c *access.Claims) { c.Expires = noon.Add(-59 * time.Second) }), byParty, ""},
		{"expired", with(func(c *access.Claims) { c.Expires = noon.Add(-time.Minute) }), byParty, access.ReasonExpired},
		{"does not expire", with(func(c *access.Claims) { c.Expires = time.Time{} }), byParty, access.ReasonMalformed},
		{"begins within the skew", with(func(c *access.Claims) { c.NotBefore = noon.Add(time.Minute) }), byParty, ""},
		{"begins later", with(func(c *access.Claims) { c.NotBefore = noon.Add(61 * time.Second) }), byParty, access.ReasonNotYet},
		{"issued later", with(func(c *access.Claims) { c.IssuedAt = noon.Add(61 * time.Second) }), byParty, access.ReasonNotYet},
		{"other algorithm", good, strict, access.ReasonAlgorithm},
		{"less skew", with(func(c *access.Claims) { c.Algorithm, c.Expires = "RS256", noon.Add(-time.Second) }), strict, access.ReasonExpired},
		{"pinned algorithm", with(func(c *access.Claims) { c.Algorithm = "RS256" }), strict, ""},
		{"algorithm that is not a default", with(func(c *access.Claims) { c.Algorithm = "PS256" }), byParty, access.ReasonAlgorithm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t, access.Config{Tokens: claimsOf{"tok": tt.claims}}, tt.client)
			if tt.reason != "" {
				d.out(bearer("tok"), 401, tt.reason)
				return
			}
			caller := d.in(bearer("tok"))
			skew := time.Minute
			if tt.client.Tokens[0].Skew != 0 {
				skew = tt.client.Tokens[0].Skew
			}
			if caller.Name != tt.client.Name || !caller.Until.Equal(tt.claims.Expires.Add(skew)) {
				t.Errorf("let in %q until %v, want %q until the token expires", caller.Name, caller.Until, tt.client.Name)
			}
			if want := (access.Credential{Kind: access.KindToken, ID: issuer}); caller.Credential != want {
				t.Errorf("credential %v, want %v", caller.Credential, want)
			}
		})
	}
	t.Run("two clients", func(t *testing.T) {
		d := open(t, access.Config{Tokens: claimsOf{"tok": good}}, byParty, bySubject)
		d.out(bearer("tok"), 401, access.ReasonSeveral)
	})
	t.Run("two credentials of one client", func(t *testing.T) {
		both := byParty
		both.Tokens = append(both.Tokens, bySubject.Tokens...)
		open(t, access.Config{Tokens: claimsOf{"tok": good}}, both).in(bearer("tok"))
	})
	t.Run("an audience each", func(t *testing.T) {
		other := client("other", access.OIDC{AuthorizedParty: "app"})
		other.Tokens[0].Audience = "elsewhere"
		d := open(t, access.Config{Tokens: claimsOf{"tok": good}}, other, byParty)
		if caller := d.in(bearer("tok")); caller.Name != "party" {
			t.Errorf("let in %q", caller.Name)
		}
	})
	t.Run("disabled", func(t *testing.T) {
		asleep := byParty
		asleep.Enabled = false
		open(t, access.Config{Tokens: claimsOf{"tok": good}}, asleep).out(bearer("tok"), 403, access.ReasonDisabled)
	})
	t.Run("changed", func(t *testing.T) {
		d := open(t, access.Config{Tokens: claimsOf{"tok": good}}, byParty)
		caller := d.in(bearer("tok"))
		d.set(strict)
		if !ended(caller.Revoked) {
			t.Error("a client that is gone goes on")
		}
		d.out(bearer("tok"), 401, access.ReasonAlgorithm)
	})
}

func TestTokensThatCannotBeVerified(t *testing.T) {
	client := access.Client{Name: "alice", Enabled: true, Tokens: []access.OIDC{{Issuer: issuer, Audience: "legation", Subject: "x"}}}
	for _, tt := range []struct {
		err    error
		status int
		reason access.Reason
	}{
		{access.ErrToken, 401, access.ReasonMalformed},
		{access.ErrIssuer, 401, access.ReasonIssuer},
		{access.ErrAlgorithm, 401, access.ReasonAlgorithm},
		{access.ErrSignature, 401, access.ReasonSignature},
		{access.ErrUnavailable, 503, access.ReasonIssuerUnavailable},
		{errors.New("whatever"), 503, access.ReasonIssuerUnavailable}, // fails closed
	} {
		d := open(t, access.Config{Tokens: claimsOf{"tok": tt.err}}, client)
		refusal := d.out(bearer("tok"), tt.status, tt.reason)
		if (refusal.RetryAfter > 0) != (tt.status == 503) {
			t.Errorf("%v: retry after %v", tt.err, refusal.RetryAfter)
		}
	}

	// An issuer that is down is asked so often and not more.
	down := open(t, access.Config{Tokens: claimsOf{"tok": access.ErrUnavailable}, Failures: 2}, client)
	down.out(bearer("tok"), 503, access.ReasonIssuerUnavailable)
	down.out(bearer("tok"), 503, access.ReasonIssuerUnavailable)
	if refusal := down.out(bearer("tok"), 429, access.ReasonFailures); refusal.RetryAfter != 30*time.Second {
		t.Errorf("retry after %v, want 30s", refusal.RetryAfter)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := open(t, access.Config{Tokens: claimsOf{"tok": context.Canceled}}, client)
	if _, err := d.Authenticate(ctx, bearer("tok")); !errors.Is(err, context.Canceled) {
		t.Errorf("Authenticate() error = %v, want the context's", err)
	}
	lying := open(t, access.Config{Tokens: liar{}}, client)
	lying.out(bearer("tok"), 401, access.ReasonIssuer)
}

// liar verifies tokens of an issuer that it was not asked about.
type liar struct{}

func (liar) Verify(context.Context, string, func(string) bool) (access.Claims, error) {
	return access.Claims{Issuer: "https://elsewhere.example.com", Subject: "x"}, nil
}
