package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// reserved are the headers a caller may not set: those that belong to the
// connection, those this package sets, and two that tell net/http to repeat a
// request by itself, which a send must never be.
var reserved = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Connection": true, "Content-Length": true,
	"Content-Type": true, "Expect": true, "Host": true, "If-Modified-Since": true, "If-None-Match": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	"Idempotency-Key": true, "X-Idempotency-Key": true,
}

// checkHeaders refuses headers that could not or must not be sent. It repeats
// names only.
func checkHeaders(headers http.Header) error {
	for name, values := range headers {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !isToken(name):
			return fmt.Errorf("client: %q is not the name of a header", bounded(name))
		case reserved[canonical], strings.HasPrefix(canonical, "A2a-"):
			return fmt.Errorf("client: the header %s belongs to the protocol and can not be set", canonical)
		}
		for _, value := range values {
			if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("client: the value of the header %s has a control character or a line break", canonical)
			}
		}
	}
	return nil
}

// isToken is the grammar of a field name (RFC 9110 section 5.6.2).
func isToken(name string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(others, r))
	})
}

// settable reports whether a header may be given in [Config.Headers].
func settable(name string) bool {
	return checkHeaders(http.Header{name: nil}) == nil
}

// dress puts the headers of every request on one, and returns those that were
// given.
func (c *Config) dress(ctx context.Context, req *http.Request, renew bool) (given http.Header, err error) {
	given = http.Header{}
	put := func(headers http.Header) {
		for name, values := range headers {
			req.Header[http.CanonicalHeaderKey(name)] = values
			given[http.CanonicalHeaderKey(name)] = values
		}
	}
	put(c.Headers)
	if c.Credentials != nil {
		headers, err := c.Credentials(ctx, renew)
		if err == nil {
			err = checkHeaders(headers)
		}
		if err != nil {
			return nil, &CredentialsError{Err: err}
		}
		put(headers)
	}
	req.Header.Set(a2a.HeaderVersion, a2a.ProtocolVersion)
	c.askFor(req.Header, nil)
	return given, nil
}

// credentialed reports whether anything goes along that could be a credential.
// Which of the headers are is for whoever gave them to know.
func (c *Config) credentialed(given http.Header) bool {
	for _, values := range given {
		if slices.ContainsFunc(values, func(value string) bool { return value != "" }) {
			return true
		}
	}
	return c.Guard.PresentsCertificate()
}

func (c *Config) observe(method string, resp *http.Response) {
	if c.Observe == nil {
		return
	}
	answer := Answer{Method: method, Status: resp.StatusCode}
	for _, line := range resp.Header.Values(a2a.HeaderExtensions) {
		for uri := range strings.SplitSeq(line, ",") {
			if uri = strings.TrimSpace(uri); uri != "" {
				answer.Extensions = append(answer.Extensions, uri)
			}
		}
	}
	c.Observe(answer)
}
