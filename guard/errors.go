package guard

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
)

// URLError refuses a URL for what is written in it. Nothing was sent.
type URLError struct {
	// Host is the URL's host as it was written, or empty.
	Host string
	// Why is a sentence that says what to write instead.
	Why string
}

func (e *URLError) Error() string {
	if e.Host == "" {
		return "guard: " + e.Why
	}
	return "guard: host " + quote(e.Host) + ": " + e.Why
}

// AddressError refuses a host because every address it stands for is one no
// remote party may lead us to. Nothing was sent.
type AddressError struct {
	Host string
	// Addr is the first of the host's refused addresses.
	Addr netip.Addr
	// Why names the kind of address: "a private address".
	Why string
}

func (e *AddressError) Error() string {
	addr := e.Addr.Unmap()
	subject := "host " + quote(e.Host)
	if e.Host != e.Addr.String() {
		subject += " leads to " + addr.String() + ","
	} else {
		subject += " is"
	}
	return fmt.Sprintf("guard: %s %s; if that is intended, list the host in guard.Policy.AllowHosts or %s in AllowCIDRs",
		subject, e.Why, netip.PrefixFrom(addr.WithZone(""), addr.BitLen()))
}

// RedirectError is an answer that points elsewhere. It is never followed: the
// request, with its credentials, was meant for one party alone.
type RedirectError struct {
	// Status is the HTTP status, 300 to 399 without 304.
	Status int
	// Host is the host the answer points to, empty if it does not say.
	Host string
	// From is the host that answered.
	From string
}

func (e *RedirectError) Error() string {
	target := "another place"
	if e.Host != "" {
		target = "host " + quote(e.Host)
	}
	return fmt.Sprintf("guard: host %s answered with status %d, a redirect to %s; redirects are not followed, register the final URL instead",
		quote(e.From), e.Status, target)
}

// TooLargeError ends the reading of an answer that is longer than its cap.
type TooLargeError struct {
	// Limit is the cap in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("guard: the answer is longer than %d bytes", e.Limit)
}

// Phase is a step on the way to a connection.
type Phase string

// The phases of a connection, in their order.
const (
	PhaseResolve Phase = "resolve"
	PhaseConnect Phase = "connect"
	PhaseProxy   Phase = "proxy" // the way to the proxy, and its consent
	PhaseTLS     Phase = "tls"
)

// DialError says that there is no connection to a host, and which step failed.
type DialError struct {
	Host  string
	Phase Phase
	Err   error
}

func (e *DialError) Error() string {
	step := map[Phase]string{
		PhaseResolve: "can not be resolved",
		PhaseConnect: "can not be reached",
		PhaseProxy:   "can not be reached through the proxy",
		PhaseTLS:     "did not complete the TLS handshake",
	}[e.Phase]
	return fmt.Sprintf("guard: host %s %s: %s", quote(e.Host), step, bounded(e.Err.Error()))
}

// Unwrap gives the cause.
func (e *DialError) Unwrap() error { return e.Err }

// ProxyError says with which status the egress proxy refused us. It is the
// cause of a [DialError] of [PhaseProxy] where the proxy was asked for a
// connection. For plain http a proxy is sent the request itself: there the
// error stands alone, is about status 407 only, and the request has left.
type ProxyError struct {
	// Proxy is the proxy's host.
	Proxy string
	// Status is the HTTP status it answered with.
	Status int
}

func (e *ProxyError) Error() string {
	return fmt.Sprintf("guard: the proxy at %s answered with status %d: %s", quote(e.Proxy), e.Status, proxySays(e.Status))
}

func proxySays(status int) string {
	switch status {
	case http.StatusProxyAuthRequired:
		return "it asks for a user name and password, or does not accept the ones it was given"
	case http.StatusForbidden, http.StatusUnauthorized, http.StatusUnavailableForLegalReasons:
		return "it does not allow this host"
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return "it makes no connections to other hosts (CONNECT)"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "it has no capacity at the moment"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "it can not reach this host itself"
	}
	return "it made no connection"
}

// exchangeError adds to an error of net/http whom it is about. Such an error
// may repeat what the peer sent, so its text is bounded.
type exchangeError struct {
	method, host string
	err          error
}

func (e *exchangeError) Error() string {
	return fmt.Sprintf("guard: %s to host %s: %s", bounded(e.method), quote(e.host), bounded(e.err.Error()))
}

func (e *exchangeError) Unwrap() error { return e.err }

// NothingSent reports whether an error of a request proves that not one byte of
// the request left this machine: the guard refused it, the name did not
// resolve, no connection or no TLS session came about, or the context ended
// before there was a connection to write to. When in doubt it is false. An
// egress proxy that was asked for a connection has learned the host and port.
func NothingSent(err error) bool {
	_, ok := errors.AsType[*unsentError](err)
	return ok
}

// unsentError marks an error without changing its words.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

const maxText = 300

// quote makes text that somebody else chose fit for a line of ours.
func quote(s string) string { return strconv.Quote(bounded(s)) }

func bounded(s string) string {
	if len(s) > maxText {
		return s[:maxText] + "…"
	}
	return s
}
