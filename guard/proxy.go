package guard

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// maxProxyAnswer bounds the header of a proxy's answer to CONNECT.
const maxProxyAnswer = 16 << 10

// proxy is the egress proxy of a policy, checked.
type proxy struct {
	host, port string
	addr       netip.Addr // valid where the host is an address
	tls        *tls.Config
	authorize  string // of the header Proxy-Authorization, or empty
}

// newProxy reads the proxy of a policy; nil if there is none. Its errors repeat
// no more of the URL than the host.
func newProxy(p Policy) (*proxy, error) {
	u := p.Proxy
	if u == nil {
		return nil, nil
	}
	refuse := func(why string) (*proxy, error) {
		return nil, fmt.Errorf("guard: proxy %s: %s", quote(u.Hostname()), why)
	}
	host, addr, err := parseHost(u.Hostname())
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("it is spoken to in http or https, as in http://proxy.example:3128")
	case err != nil:
		return refuse(err.Error())
	case u.Opaque != "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return refuse("its URL has more than a scheme, a host and a port")
	case strings.HasSuffix(u.Host, ":"):
		return refuse("the port after the colon is missing")
	}
	x := &proxy{host: host, addr: addr, port: u.Port()}
	switch {
	case x.port != "":
		if err := checkPort(x.port); err != nil {
			return refuse(err.Error())
		}
	case u.Scheme == "http":
		x.port = "80"
	default:
		x.port = "443"
	}
	if u.Scheme == "https" {
		x.tls = tlsConfig(p.ProxyTLSConfig)
		x.tls.ServerName = host
		x.tls.NextProtos = []string{"http/1.1"}
	}
	if x.authorize, err = authorization(u.User); err != nil {
		return refuse(err.Error())
	}
	return x, nil
}

// authorization is the header's value for a user (RFC 7617, section 2).
func authorization(user *url.Userinfo) (string, error) {
	if user == nil {
		return "", nil
	}
	password, _ := user.Password()
	if strings.Contains(user.Username(), ":") {
		return "", errors.New("the user name has a colon")
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)), nil
}

func (c *Client) transportFor(req *http.Request) *http.Transport {
	if c.plain != nil && strings.EqualFold(req.URL.Scheme, "http") {
		return c.plain
	}
	return c.transport
}

// proxyRefused tells a proxy's own refusal of a plain request from an answer.
// Only 407 can be told: every other status may be the target's.
func (c *Client) proxyRefused(plain bool, resp *http.Response) error {
	if resp.StatusCode == http.StatusProxyAuthRequired && plain {
		return &ProxyError{Proxy: c.proxy.host, Status: resp.StatusCode}
	}
	return nil
}

// dialProxy connects to the proxy whatever address is asked for: the transport
// that uses it knows no other.
func (c *Client) dialProxy(ctx context.Context, _, _ string) (_ net.Conn, err error) {
	ctx, cancel := c.dialContext(ctx)
	defer cancel()
	defer recovered(c.proxy.host, &err)
	conn, err := c.connectProxy(ctx)
	if err != nil {
		return nil, &DialError{Host: c.proxy.host, Phase: PhaseProxy, Err: err}
	}
	return conn, nil
}

// connectProxy gives a connection on which the proxy can be asked. With TLS it
// is a *tls.Conn on one that counts.
func (c *Client) connectProxy(ctx context.Context) (net.Conn, error) {
	x := c.proxy
	addrs := []netip.Addr{x.addr}
	if !x.addr.IsValid() {
		var err error
		if addrs, err = c.policy.Resolve(ctx, x.host); err != nil {
			return nil, &DialError{Host: x.host, Phase: PhaseResolve, Err: err}
		}
		if len(addrs) == 0 {
			return nil, &DialError{Host: x.host, Phase: PhaseResolve, Err: errors.New("it has no address")}
		}
	}
	conn, err := c.dialFirst(ctx, addrs, x.port)
	if err != nil {
		return nil, &DialError{Host: x.host, Phase: PhaseConnect, Err: err}
	}
	if x.tls == nil {
		return conn, nil
	}
	session := tls.Client(conn, x.tls)
	if err := session.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &DialError{Host: x.host, Phase: PhaseTLS, Err: err}
	}
	return session, nil
}

// tunnel has the proxy connect to a target that was judged by its spelling.
func (c *Client) tunnel(ctx context.Context, host string, addr netip.Addr, port string) (net.Conn, error) {
	if !c.rules.excepted(host, port) {
		if err := c.rules.judgeWritten(host, addr); err != nil {
			return nil, err
		}
	}
	raw, err := c.connectProxy(ctx)
	if err != nil {
		return nil, &DialError{Host: host, Phase: PhaseProxy, Err: err}
	}
	if err := c.proxy.ask(ctx, raw, net.JoinHostPort(host, port)); err != nil {
		raw.Close()
		return nil, &DialError{Host: host, Phase: PhaseProxy, Err: err}
	}
	// What was written so far was for the proxy.
	return &conn{Conn: raw}, nil
}

// ask asks for a connection to target and returns once it is there. The wait
// ends with ctx.
func (x *proxy) ask(ctx context.Context, conn net.Conn, target string) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := x.exchange(conn, target)
	if !stop() {
		return ctx.Err()
	}
	return err
}

func (x *proxy) exchange(conn net.Conn, target string) error {
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if x.authorize != "" {
		request += "Proxy-Authorization: " + x.authorize + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return fmt.Errorf("guard: ask the proxy at %s: %w", quote(x.host), err)
	}
	r := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // The body of a refusal ends with the connection.
		switch {
		case err != nil:
			return x.unread(err)
		case resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue // interim
		case resp.StatusCode < 200 || resp.StatusCode > 299:
			return &ProxyError{Proxy: x.host, Status: resp.StatusCode}
		case r.Buffered() > 0:
			// The target speaks after we did; nobody else has a say.
			return fmt.Errorf("guard: the proxy at %s sent more than its answer", quote(x.host))
		}
		return nil
	}
}

// unread is an answer of the proxy that could not be read. The parser's words
// may repeat the answer, and a proxy may repeat what it was sent.
func (x *proxy) unread(err error) error {
	if broken(err) {
		return fmt.Errorf("guard: the proxy at %s gave no whole answer: %w", quote(x.host), err)
	}
	return fmt.Errorf("guard: the proxy at %s gave an answer that is not HTTP", quote(x.host))
}

// unparsed is unread for a plain request, which net/http reads the answer of.
func (x *proxy) unparsed(err error) error {
	_, written := errors.AsType[*URLError](err)
	_, unreached := errors.AsType[*DialError](err)
	_, wrapped := errors.AsType[*TooLargeError](err)
	if err == nil || written || unreached || wrapped || broken(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the proxy at %s gave an answer that is not HTTP", quote(x.host))
}

// broken reports whether a connection failed, and not what came over it.
func broken(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// plainBody is the body of an answer to a plain request. What follows a body is
// parsed with it.
type plainBody struct {
	io.ReadCloser
	proxy *proxy
}

func (b plainBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.proxy.unparsed(err)
	}
	return n, err
}
