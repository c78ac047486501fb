package credential

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/vault"
)

const (
	maxTokenAnswer = 64 << 10 // bytes
	defaultLife    = 5 * time.Minute
	maxLife        = 24 * time.Hour
)

// accessToken returns an access token, with its end.
func (s *Source) accessToken(ctx context.Context, who string, renew bool) (token, error) {
	return s.grant.get(ctx, renew, func(ctx context.Context) (token, error) {
		limited, cancel := context.WithTimeout(ctx, s.keeper.cfg.FetchTimeout)
		defer cancel()
		t, err := s.fetch(limited, who)
		log := s.keeper.cfg.Logger.With("party", s.party)
		switch failed, ok := errors.AsType[*Error](err); {
		case err == nil:
			log.DebugContext(ctx, "access token fetched", "until", t.expires)
		case ctx.Err() != nil:
			return token{}, context.Cause(ctx)
		case ok:
			log.WarnContext(ctx, "no access token", "host", failed.Host, "reason", string(failed.Reason), "status", failed.Status, "code", failed.Code)
		}
		return t, err
	})
}

// fetch asks for a token (RFC 6749, section 4.4).
func (s *Source) fetch(ctx context.Context, who string) (token, error) {
	spec := s.spec.OAuth2
	client, err := s.keeper.clients(s.party, s.exceptions, spec.Roots)
	if err != nil {
		e := s.fault(Unusable, "", "the token endpoint can not be asked under spec.exceptions")
		e.Err = err
		return token{}, e
	}
	defer client.Close()
	ctx = guard.WithMaxAnswer(ctx, maxTokenAnswer)

	where := endpoint{url: string(spec.TokenURL), style: oauth2.AuthStyleInHeader}
	if where.url == "" {
		if where, err = s.discover(ctx, client); err != nil {
			return token{}, err
		}
	}
	target, err := url.Parse(where.url)
	if err != nil || target.Hostname() == "" {
		return token{}, s.fault(Unusable, "", "the URL of the token endpoint can not be used")
	}
	host := target.Hostname()
	if spec.TokenURL == "" {
		stricter, err := s.clientFor(target)
		if err != nil {
			return token{}, err
		}
		defer stricter.Close()
		client = stricter
	}
	secret, err := s.open(ctx, spec.Secret, "oauth2.secret", vault.Use{Who: who, Purpose: string(s.kind), Host: host})
	if err != nil {
		return token{}, err
	}
	defer secret.Wipe()
	text := string(trimmed(secret.Reveal()))
	if text == "" {
		return token{}, s.fault(Unusable, "", secretWords(spec.Secret, "oauth2.secret")+" is empty")
	}
	asked := clientcredentials.Config{
		ClientID: spec.ClientID, ClientSecret: text, TokenURL: where.url, AuthStyle: where.style, Scopes: spec.Scopes,
	}
	if spec.Audience != "" {
		asked.EndpointParams = url.Values{"audience": {spec.Audience}}
	}
	began := s.keeper.cfg.Now()
	asking := client.HTTP()
	asking.Transport = wholeSeconds{asking.Transport}
	answer, err := asked.Token(context.WithValue(ctx, oauth2.HTTPClient, asking))
	if err != nil {
		s.grant.metadata = metadata{} // it may have moved
		return token{}, s.refusal(ctx, host, err)
	}
	switch {
	case !strings.EqualFold(answer.TokenType, "Bearer"):
		return token{}, s.fault(Foreign, host, "gave a token of a type that is not Bearer, which can not be used")
	case checkToken([]byte(answer.AccessToken)) != "":
		return token{}, s.fault(Foreign, host, "gave a token that "+checkToken([]byte(answer.AccessToken)))
	}
	return token{value: answer.AccessToken, got: s.keeper.cfg.Now(), expires: began.Add(life(answer.Extra("expires_in")))}, nil
}

// life is how long a token may be used, from expires_in (RFC 6749, section 5.1),
// which some write as text. What is absent or makes no sense is five minutes.
func life(said any) time.Duration {
	var seconds float64
	switch v := said.(type) {
	case float64:
		seconds = v
	case int64:
		seconds = float64(v)
	case string:
		seconds, _ = strconv.ParseFloat(v, 64)
	}
	if !(seconds > 0) {
		return defaultLife
	}
	return time.Duration(min(seconds, maxLife.Seconds()) * float64(time.Second))
}

// meanings are the error codes that are repeated, in words (RFC 6749, sections
// 4.1.2.1 and 5.2; RFC 8707, section 2).
var meanings = map[string]string{
	"invalid_request":         "it does not understand the request",
	"invalid_client":          "the client id or its secret is wrong",
	"invalid_grant":           "it does not grant this",
	"unauthorized_client":     "the client may not use client credentials",
	"unsupported_grant_type":  "it does not know client credentials",
	"invalid_scope":           "a scope is unknown or not allowed: see spec.credential.oauth2.scopes",
	"invalid_target":          "the audience is unknown or not allowed: see spec.credential.oauth2.audience",
	"access_denied":           "the client may not have this: see spec.credential.oauth2.audience and scopes",
	"temporarily_unavailable": "it is overloaded or being maintained",
	"server_error":            "it failed",
}

// refusal is the error of asking for a token.
func (s *Source) refusal(ctx context.Context, host string, err error) error {
	answered, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return s.unreached(ctx, host, err, "did not give the answer of a token endpoint: see spec.credential.oauth2")
	}
	status := answered.Response.StatusCode
	e := s.fault(Refused, host, "gives no token, with HTTP status "+strconv.Itoa(status))
	e.Status = status
	words, known := meanings[answered.ErrorCode]
	switch {
	case known:
		e.Code = answered.ErrorCode
		e.why += " and " + strconv.Quote(e.Code) + ": " + words
	case answered.ErrorCode != "":
		e.why += " and an error code that is not known" // and might repeat the secret
	case status/100 == 4 && status != http.StatusTooManyRequests:
		e.why += " and no error code: this may not be the token endpoint"
	}
	if status == http.StatusTooManyRequests || status >= 500 || e.Code == "temporarily_unavailable" || e.Code == "server_error" {
		e.Reason = Unavailable
		seconds, _ := strconv.Atoi(answered.Response.Header.Get("Retry-After"))
		e.wait = time.Duration(min(max(seconds, 0), int(failureLimit.Seconds()))) * time.Second
	}
	return e
}

// unreached is the error of a request without an answer that could be read. What
// the answer is instead is for the words given.
func (s *Source) unreached(ctx context.Context, host string, err error, instead string) error {
	if _, ok := errors.AsType[*url.Error](err); !ok {
		if ctx.Err() != nil {
			return s.fault(Unavailable, host, "did not answer in time")
		}
		return s.fault(Foreign, host, instead)
	}
	e := s.fault(Unavailable, host, "can not be asked for a token")
	e.Err, e.Reason = cause(err)
	return e
}

// cause is what may be told of an error of the network: what the guard found
// before it sent anything. All else may be in the words of whoever was sent the
// secret, and is told in ours.
func cause(err error) (error, Reason) {
	if written, ok := errors.AsType[*guard.URLError](err); ok {
		return written, Foreign
	}
	if address, ok := errors.AsType[*guard.AddressError](err); ok {
		return address, Foreign
	}
	if dial, ok := errors.AsType[*guard.DialError](err); ok {
		return dial, Unavailable
	}
	if proxy, ok := errors.AsType[*guard.ProxyError](err); ok {
		return proxy, Unavailable
	}
	if away, ok := errors.AsType[*guard.RedirectError](err); ok {
		return &guard.RedirectError{Status: away.Status, From: away.From}, Foreign
	}
	if large, ok := errors.AsType[*guard.TooLargeError](err); ok {
		return large, Foreign
	}
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return errors.New("there was no whole answer in time"), Unavailable
	case ok, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection was lost"), Unavailable
	}
	return errors.New("the answer is not one of HTTP"), Unavailable
}

// keptFor is how long a failure is told again before the endpoint is asked anew.
func keptFor(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return max(failureKept, e.wait)
	}
	return failureKept
}
