package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Client sends requests to one remote party under one policy. Connections are
// reused within a client and never across: give each party its own. It is safe
// for concurrent use.
type Client struct {
	rules     rules
	policy    Policy
	transport *http.Transport

	proxy *proxy          // nil: none
	plain *http.Transport // for plain http through the proxy
}

// New makes a client. It fails if the policy can not be understood or would
// skip the verification of certificates.
func New(p Policy) (*Client, error) {
	r, err := newRules(p)
	if err != nil {
		return nil, err
	}
	if skips(p.TLSConfig) || skips(p.ProxyTLSConfig) {
		return nil, errors.New("guard: the TLS configuration skips verification; add the certificate's authority to its roots instead")
	}
	if p.MaxAnswerBytes < 0 || p.ConnectTimeout < 0 || p.AnswerTimeout < 0 || p.MaxConns < 0 {
		return nil, errors.New("guard: a limit of the policy is negative")
	}
	p.MaxAnswerBytes = orDefault(p.MaxAnswerBytes, defaultMaxAnswer)
	p.ConnectTimeout = orDefault(p.ConnectTimeout, defaultConnectTimeout)
	p.AnswerTimeout = orDefault(p.AnswerTimeout, defaultAnswerTimeout)
	p.MaxConns = orDefault(p.MaxConns, defaultMaxConns)
	if p.Resolve == nil {
		p.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if p.Dial == nil {
		p.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	p.TLSConfig = tlsConfig(p.TLSConfig)

	c := &Client{rules: r, policy: p}
	c.transport = newTransport(p.MaxConns)
	c.transport.DialContext, c.transport.DialTLSContext = c.dialPlain, c.dialTLS
	if p.Proxy == nil {
		return c, nil
	}
	if c.proxy, err = newProxy(p); err != nil {
		return nil, err
	}
	c.plain = newTransport(p.MaxConns)
	proxied := *p.Proxy
	c.plain.Proxy = http.ProxyURL(&proxied)
	c.plain.DialContext, c.plain.DialTLSContext = c.dialProxy, c.dialProxy
	return c, nil
}

func newTransport(maxConns int) *http.Transport {
	return &http.Transport{
		Proxy:                  nil,  // the environment has no say
		ForceAttemptHTTP2:      true, // our own dialling would switch it off
		DisableCompression:     true, // so that the cap counts what the caller reads
		MaxConnsPerHost:        maxConns,
		MaxIdleConnsPerHost:    8,
		MaxIdleConns:           32,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
	}
}

func skips(cfg *tls.Config) bool { return cfg != nil && cfg.InsecureSkipVerify }

func tlsConfig(given *tls.Config) *tls.Config {
	cfg := &tls.Config{}
	if given != nil {
		cfg = given.Clone()
	}
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	cfg.NextProtos = []string{"h2", "http/1.1"}
	return cfg
}

func orDefault[T int | int64 | time.Duration](v, fallback T) T {
	if v == 0 {
		return fallback
	}
	return v
}

// Close closes the connections nobody is using. The client remains usable.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	if c.plain != nil {
		c.plain.CloseIdleConnections()
	}
}

// PresentsCertificate reports whether the client has a certificate of its own
// for a server that asks for one.
func (c *Client) PresentsCertificate() bool {
	return len(c.policy.TLSConfig.Certificates) > 0 || c.policy.TLSConfig.GetClientCertificate != nil
}

// HTTP gives the client to code that wants an [http.Client]. Its errors are
// *url.Error around those of [Client.Do], so their text repeats the URL.
func (c *Client) HTTP() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: func(req *http.Request, _ []*http.Request) error {
		return errors.New("guard: redirects are not followed")
	}}
}

// Do sends a request and returns as soon as the response's header is there. The
// caller closes the body. Errors name the host, never the path or the query:
// [*URLError], [*AddressError], [*DialError], [*ProxyError], [*RedirectError],
// the context's error, or one of the network. Any status but a redirect is a response.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.HTTP().Do(req)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return resp, err
}

// RoundTrip makes a client an [http.RoundTripper], under the rules of
// [Client.Do].
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.rules.checkRequest(req); err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, &unsentError{err}
	}
	host := req.URL.Hostname()
	ctx, cancel := context.WithCancelCause(req.Context())
	ctx, flight := withFlight(ctx)
	inTime := c.awaitAnswer(ctx, cancel)

	transport := c.transportFor(req)
	plain := c.plain != nil && transport == c.plain
	resp, err := transport.RoundTrip(req.WithContext(ctx))
	late := inTime()
	if err == nil && late != nil {
		resp.Body.Close()
	}
	if late != nil {
		err = late
	}
	if err != nil {
		cancel(nil)
		if plain {
			err = c.proxy.unparsed(err)
		}
		return nil, flight.explain(err, req.Method, host)
	}
	resp.Request = req
	if err := c.proxyRefused(plain, resp); err != nil {
		resp.Body.Close()
		cancel(nil)
		return nil, err
	}
	if isRedirect(resp.StatusCode) {
		err := &RedirectError{Status: resp.StatusCode, From: host}
		if target, bad := resp.Location(); bad == nil && !(plain && c.proxy.authorize != "") { // which might be in it
			err.Host = target.Hostname()
		}
		resp.Body.Close()
		cancel(nil)
		return nil, err
	}
	if plain {
		resp.Body = plainBody{resp.Body, c.proxy}
	}
	resp.Body = newBody(resp, maxAnswer(ctx, c.policy.MaxAnswerBytes), func() { cancel(nil) })
	return resp, nil
}

// awaitAnswer starts the clock for the response's header where the caller's
// context has none. What it returns stops the clock and gives an error if it
// has already run out.
func (c *Client) awaitAnswer(ctx context.Context, cancel context.CancelCauseFunc) func() error {
	if _, ok := ctx.Deadline(); ok {
		return func() error { return nil }
	}
	late := fmt.Errorf("no answer within %v: %w", c.policy.AnswerTimeout, context.DeadlineExceeded)
	timer := time.AfterFunc(c.policy.AnswerTimeout, func() { cancel(late) })
	return func() error {
		if timer.Stop() {
			return nil
		}
		return late
	}
}

// isRedirect leaves out 304, which answers a conditional request.
func isRedirect(status int) bool {
	return status >= 300 && status < 400 && status != http.StatusNotModified
}
