package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Policy says what one remote party may make us do. The zero value is the
// strictest: https to public addresses only.
type Policy struct {
	// AllowHosts are the hosts a person named on purpose, as "host",
	// "host:port" or an address in either form ("::1", "[::1]:8080"). Such a
	// host may resolve to any address, private and loopback ones included, and
	// may be reached over plain http. The exception is for the name alone:
	// another host that resolves to the same address is not covered.
	AllowHosts []string

	// AllowCIDRs are address ranges that are dialled although they would be
	// refused, under whatever host name. They do not allow plain http.
	AllowCIDRs []netip.Prefix

	// MaxAnswerBytes caps the body of one response. Zero means 8 MiB. See
	// [WithMaxAnswer] for one request's own cap.
	MaxAnswerBytes int64

	// ConnectTimeout bounds resolving, connecting, asking the proxy and the TLS
	// handshake together, within the caller's own deadline. Zero means 10 seconds.
	ConnectTimeout time.Duration

	// AnswerTimeout bounds the wait for the response header when the request's
	// context has no deadline. Zero means 60 seconds. Reading the body is
	// bounded by the context alone.
	AnswerTimeout time.Duration

	// MaxConns is how many connections may be open to one host at a time;
	// further requests wait for one within their deadline. Zero means 128.
	MaxConns int

	// TLSConfig supplies roots and client certificates. It is cloned. Nil means
	// the system's roots. A configuration that skips verification is refused by
	// [New].
	TLSConfig *tls.Config

	// Proxy is an egress proxy that every connection goes to, and to nothing
	// else: an http or https URL of a host, perhaps with a port and with a user
	// name and password, and nothing more. A person named it, so its own address
	// may be any. Targets over https are reached by CONNECT (RFC 9110, section
	// 9.3.6), with TLS from here to the target; plain http ones, which AllowHosts
	// has to name, in absolute form. A target that is written as an address is
	// judged here as ever; a target's name is not resolved here, so what it
	// leads to is for the proxy to judge. Nil means none, and the environment
	// never supplies one.
	Proxy *url.URL

	// ProxyTLSConfig supplies roots and client certificates for an https Proxy,
	// which those of TLSConfig do not vouch for and are not shown to. It is
	// cloned. Nil means the system's roots.
	ProxyTLSConfig *tls.Config

	// Resolve answers the addresses of a host name. Nil means the system's
	// resolver. It may be called by several goroutines at a time.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	// Dial connects to a judged address, or to one of the proxy's: an IP address
	// with a port. Nil means a plain net.Dialer. It may be called by several goroutines at a time.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultMaxAnswer      = 8 << 20
	defaultConnectTimeout = 10 * time.Second
	defaultAnswerTimeout  = 60 * time.Second
	defaultMaxConns       = 128
	maxResponseHeader     = 64 << 10
	maxURL                = 8 << 10
)

// rules is a policy's exceptions, checked and in the form they are compared in.
type rules struct {
	hosts    []exception
	prefixes []netip.Prefix
	proxied  bool // names are resolved by a proxy
}

// exception is one entry of Policy.AllowHosts; no port means every port.
type exception struct{ host, port string }

func newRules(p Policy) (rules, error) {
	if _, err := newProxy(p); err != nil {
		return rules{}, err
	}
	r := rules{proxied: p.Proxy != nil}
	for _, entry := range p.AllowHosts {
		e, err := parseException(entry)
		if err != nil {
			return rules{}, err
		}
		r.hosts = append(r.hosts, e)
	}
	for _, prefix := range p.AllowCIDRs {
		if !prefix.IsValid() || prefix.Addr().Is4In6() {
			return rules{}, fmt.Errorf("guard: exception %q is not an address range; write it like 10.1.0.0/16 or fd00::/8", prefix)
		}
		r.prefixes = append(r.prefixes, prefix.Masked())
	}
	return r, nil
}

func parseException(entry string) (exception, error) {
	host, port := entry, ""
	if _, err := netip.ParseAddr(entry); err != nil && strings.ContainsAny(entry, ":[") {
		if strings.HasPrefix(entry, "[") && strings.HasSuffix(entry, "]") {
			host = entry[1 : len(entry)-1]
		} else if host, port, err = net.SplitHostPort(entry); err != nil || checkPort(port) != nil {
			return exception{}, fmt.Errorf("guard: exception %s is not a host or host:port", quote(entry))
		}
	}
	canonical, _, err := parseHost(host)
	if err != nil {
		return exception{}, fmt.Errorf("guard: exception %s: %w", quote(entry), err)
	}
	return exception{canonical, port}, nil
}

// excepted reports whether a person named this host, in the form parseHost
// gives it, for this port.
func (r rules) excepted(host, port string) bool {
	return slices.ContainsFunc(r.hosts, func(e exception) bool {
		return e.host == host && (e.port == "" || e.port == port)
	})
}

func checkPort(port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("the port is not a number from 1 to 65535")
	}
	return nil
}
