package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	headerAuthorization = "Authorization"
	maxCredential       = 16 << 10 // bytes of a token or of a forwarded certificate
	realm               = `Bearer realm="legation"`
)

// refused is why a credential is not accepted.
type refused struct {
	reason Reason
	words  string
}

func (r refused) Error() string { return r.words }

// challenge is for WWW-Authenticate (RFC 6750, section 3). All words are ours.
func (r refused) challenge() string {
	switch r.reason {
	case ReasonMissing:
		return realm
	case ReasonSeveral:
		return realm + `, error="invalid_request", error_description="` + r.words + `"`
	}
	return realm + `, error="invalid_token", error_description="` + r.words + `"`
}

// identify finds the grant behind what a request presents, and until when it
// stands. What becomes known on the way is put into the fact.
func (d *Directory) identify(ctx context.Context, attempt Attempt, fact *Fact) (*grant, time.Time, error) {
	now, clients := fact.At, d.current.Load()
	proxy := d.proxy(attempt)
	if proxy != nil {
		fact.Proxy = proxy.Name
	}
	text, err := presented(attempt.Header)
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case strings.HasPrefix(text, keyPrefix):
		return clients.byKey(text, now, fact)
	case text != "":
		return d.byToken(ctx, clients, text, now, fact)
	}
	chain, err := d.certificates(attempt, proxy)
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case len(chain) == 0:
		return nil, time.Time{}, refused{ReasonMissing, "a credential is required: an API key, a token or a client certificate"}
	}
	return d.byCertificate(clients, chain, now, fact)
}

// presented is the key or token in the header fields, or nothing. A key may be
// given in a field of its own.
func presented(header map[string][]string) (string, error) {
	authorization, keys := header[headerAuthorization], header[HeaderKey]
	switch {
	case len(authorization)+len(keys) == 0:
		return "", nil
	case len(authorization)+len(keys) > 1:
		return "", refused{ReasonSeveral, "more than one credential was sent"}
	case len(keys) == 1:
		if !strings.HasPrefix(keys[0], keyPrefix) {
			return "", refused{ReasonMalformed, "the API key is not one of this server"}
		}
		return keys[0], nil
	}
	scheme, text, _ := strings.Cut(authorization[0], " ")
	text = strings.Trim(text, " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return "", refused{ReasonMalformed, "the scheme of Authorization is not Bearer"}
	case text == "" || len(text) > maxCredential || !isToken68(text):
		return "", refused{ReasonMalformed, "the credential in Authorization is malformed"}
	}
	return text, nil
}

// isToken68 reports whether a text has only the characters that credentials are
// made of (RFC 9110, section 11.2).
func isToken68(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-._~+/=", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// byKey finds the grant of an API key.
func (s *snapshot) byKey(text string, now time.Time, fact *Fact) (*grant, time.Time, error) {
	key, err := ParseKey(text)
	if err != nil {
		return nil, time.Time{}, refused{ReasonMalformed, "the API key is malformed; it may have been cut off"}
	}
	g, ok := s.keys[key.ID]
	if !ok || subtle.ConstantTimeCompare(key.SHA256[:], g.key.SHA256[:]) != 1 {
		return nil, time.Time{}, refused{ReasonUnknown, "the API key is not known here"}
	}
	fact.Client, fact.Credential = g.member.Name, g.credential
	switch {
	case g.key.Revoked:
		return nil, time.Time{}, refused{ReasonRevoked, "the API key was revoked"}
	case !g.key.NotAfter.IsZero() && !now.Before(g.key.NotAfter):
		return nil, time.Time{}, refused{ReasonExpired, "the API key has expired"}
	}
	return g, g.key.NotAfter, nil
}

// byToken finds the grant of a token.
func (d *Directory) byToken(ctx context.Context, clients *snapshot, text string, now time.Time, fact *Fact) (*grant, time.Time, error) {
	if d.cfg.Tokens == nil || len(clients.issuers) == 0 {
		return nil, time.Time{}, refused{ReasonIssuer, "tokens of this issuer are not accepted here"}
	}
	claims, err := d.cfg.Tokens.Verify(ctx, text, func(issuer string) bool { return clients.issuers[issuer] })
	if err != nil {
		return nil, time.Time{}, tokenRefusal(ctx, err)
	}
	if !clients.issuers[claims.Issuer] {
		return nil, time.Time{}, tokenRefusal(ctx, ErrIssuer)
	}
	fact.Credential = Credential{KindToken, claims.Issuer}

	var found *grant
	why := refused{ReasonParty, "this token was given to nobody who is known here"}
	candidates := slices.Clip(clients.parties[party{issuer: claims.Issuer, subject: claims.Subject}])
	if claims.AuthorizedParty != "" {
		candidates = append(candidates, clients.parties[party{issuer: claims.Issuer, authorized: claims.AuthorizedParty}]...)
	}
	for _, g := range candidates {
		if g.token.Subject != "" && g.token.Subject != claims.Subject {
			continue
		}
		if reason := g.token.judge(claims, now); reason != nil {
			why, fact.Client = *reason, g.member.Name
			continue
		}
		if found != nil && found.member != g.member {
			return nil, time.Time{}, refused{ReasonSeveral, "this token stands for more than one client"}
		}
		found = g
	}
	if found == nil {
		if why.reason == ReasonParty {
			fact.Party = claims.party()
		}
		return nil, time.Time{}, why
	}
	fact.Client = found.member.Name
	return found, claims.Expires.Add(found.token.Skew), nil
}

// party is who a token stands for by its own words, to be told to operators.
func (c Claims) party() string {
	const most = 100
	name := func(claim, text string) string {
		if len(text) > most {
			text = text[:most] + "…"
		}
		return claim + " " + strconv.QuoteToASCII(text)
	}
	switch {
	case c.AuthorizedParty != "":
		return name("azp", c.AuthorizedParty)
	case c.Subject != "":
		return name("sub", c.Subject)
	}
	return ""
}

// judge says why claims that name the right party are not accepted, or nil.
func (o OIDC) judge(claims Claims, now time.Time) *refused {
	switch {
	case !slices.Contains(o.Algorithms, claims.Algorithm):
		return &refused{ReasonAlgorithm, "the algorithm of the token is not accepted for this client"}
	case !slices.Contains(claims.Audience, o.Audience):
		return &refused{ReasonAudience, "the token is meant for another audience"}
	case claims.Expires.IsZero():
		return &refused{ReasonMalformed, "the token does not say when it expires"}
	case !now.Before(claims.Expires.Add(o.Skew)):
		return &refused{ReasonExpired, "the token has expired"}
	case now.Add(o.Skew).Before(claims.NotBefore), now.Add(o.Skew).Before(claims.IssuedAt):
		return &refused{ReasonNotYet, "the token is not valid yet; the clocks may differ"}
	}
	return nil
}

func tokenRefusal(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrToken):
		return refused{ReasonMalformed, "the token is malformed"}
	case errors.Is(err, ErrIssuer):
		return refused{ReasonIssuer, "tokens of this issuer are not accepted here"}
	case errors.Is(err, ErrAlgorithm):
		return refused{ReasonAlgorithm, "the algorithm of the token is not accepted"}
	case errors.Is(err, ErrSignature):
		return refused{ReasonSignature, "the signature of the token cannot be verified"}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	// Whatever it was: who cannot be checked is not let in.
	return refused{ReasonIssuerUnavailable, "the issuer of the token cannot be asked for its keys at the moment; try again later"}
}
