package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// maxAttempts is how many addresses of one host are tried.
const maxAttempts = 8

func (c *Client) dialPlain(ctx context.Context, _, address string) (_ net.Conn, err error) {
	ctx, cancel := c.dialContext(ctx)
	defer cancel()
	defer recovered(address, &err)
	conn, _, err := c.connect(ctx, address)
	return conn, err
}

func (c *Client) dialTLS(ctx context.Context, _, address string) (_ net.Conn, err error) {
	ctx, cancel := c.dialContext(ctx)
	defer cancel()
	defer recovered(address, &err)
	conn, host, err := c.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	cfg := c.policy.TLSConfig.Clone()
	cfg.ServerName = host
	session := tls.Client(conn, cfg)
	if err := session.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &DialError{Host: host, Phase: PhaseTLS, Err: err}
	}
	return session, nil
}

// dialContext restores what net/http takes away: it dials on after the request
// that wanted the connection has ended, and without its deadline.
func (c *Client) dialContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, c.policy.ConnectTimeout)
	f, ok := ctx.Value(flightKey{}).(*flight)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(f.caller, cancel)
	return ctx, func() { stop(); cancel() }
}

// recovered keeps a panic of a hook from ending the process: net/http dials on
// goroutines of its own.
func recovered(address string, err *error) {
	if r := recover(); r != nil {
		*err = &DialError{Host: address, Phase: PhaseConnect, Err: fmt.Errorf("panic with a %T", r)}
	}
}

// connect resolves once, judges every address, and dials judged ones only. With
// a proxy it judges what is written and leaves the rest to the proxy.
func (c *Client) connect(ctx context.Context, address string) (_ net.Conn, host string, _ error) {
	rawHost, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", &URLError{Why: "the host has no port"}
	}
	host, addr, err := parseHost(rawHost)
	if err != nil {
		return nil, "", &URLError{Host: rawHost, Why: err.Error()}
	}
	if c.proxy != nil {
		conn, err := c.tunnel(ctx, host, addr, port)
		return conn, host, err
	}
	addrs, literal := []netip.Addr{addr}, addr.IsValid()
	if !literal {
		if addrs, err = c.policy.Resolve(ctx, host); err != nil {
			return nil, "", &DialError{Host: host, Phase: PhaseResolve, Err: err}
		}
		if len(addrs) == 0 {
			return nil, "", &DialError{Host: host, Phase: PhaseResolve, Err: errors.New("it has no address")}
		}
	}
	if !c.rules.excepted(host, port) {
		if addrs, err = c.rules.allowed(host, addrs, literal); err != nil {
			return nil, "", err
		}
	}
	conn, err := c.dialFirst(ctx, addrs, port)
	if err != nil {
		return nil, "", &DialError{Host: host, Phase: PhaseConnect, Err: err}
	}
	return conn, host, nil
}

// allowed keeps the addresses that may be dialled. If there is none, the error
// is about the first.
func (r rules) allowed(host string, addrs []netip.Addr, literal bool) ([]netip.Addr, error) {
	var kept []netip.Addr
	var refusal error
	for _, addr := range addrs {
		if err := r.judge(host, addr, literal); err == nil {
			kept = append(kept, addr)
		} else if refusal == nil {
			refusal = err
		}
	}
	if len(kept) == 0 {
		return nil, refusal
	}
	return kept, nil
}

// dialFirst tries the addresses in their order, each with its share of the
// time that is left, and gives the first connection or the last error.
func (c *Client) dialFirst(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, error) {
	addrs = addrs[:min(len(addrs), maxAttempts)]
	var last error
	for i, addr := range addrs {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(last, err)
		}
		raw, err := c.dialOne(ctx, net.JoinHostPort(addr.Unmap().String(), port), len(addrs)-i)
		if err == nil {
			return &conn{Conn: raw}, nil
		}
		last = err
	}
	return nil, last
}

func (c *Client) dialOne(ctx context.Context, address string, shares int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
	}
	return c.policy.Dial(ctx, "tcp", address)
}
