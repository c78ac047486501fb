package guard

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// CheckURL judges a URL as a request to it would be judged, as far as that is
// possible without the network: its syntax, its scheme, and its host where
// that is an address. The error is a [*URLError] or an [*AddressError], or
// tells what is wrong with the policy. It is meant for the moment a URL is
// registered; it replaces no judgement at the moment of dialling.
func CheckURL(raw string, p Policy) error {
	r, err := newRules(p)
	if err != nil {
		return err
	}
	if len(raw) > maxURL {
		return &URLError{Why: "the URL is longer than 8 KiB"}
	}
	u, err := url.Parse(raw)
	if err != nil {
		// The parser's own words may repeat a password or a query.
		return &URLError{Why: "this is not a URL; write it like https://agent.example/path"}
	}
	return r.checkURL(u)
}

func (r rules) checkURL(u *url.URL) error {
	if u.Opaque != "" || u.Host == "" {
		return &URLError{Why: "the URL has no host; write it like https://agent.example/path"}
	}
	if u.User != nil {
		// Userinfo is a credential in the wrong place and a classic disguise.
		return &URLError{Host: u.Hostname(), Why: "the URL carries a user name or password before the host; register credentials as secrets"}
	}
	host, addr, err := parseHost(u.Hostname())
	if err != nil {
		return &URLError{Host: u.Hostname(), Why: err.Error()}
	}
	scheme := strings.ToLower(u.Scheme)
	port := u.Port()
	switch {
	case port != "":
		if err := checkPort(port); err != nil {
			return &URLError{Host: host, Why: err.Error()}
		}
	case strings.HasSuffix(u.Host, ":"):
		return &URLError{Host: host, Why: "the port after the colon is missing"}
	case scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	excepted := r.excepted(host, port)
	switch {
	case scheme != "https" && scheme != "http":
		return &URLError{Host: host, Why: "only https and http are spoken"}
	case scheme == "http" && !excepted:
		return &URLError{Host: host, Why: "plain http is refused; use https, or list the host in guard.Policy.AllowHosts"}
	}
	if excepted {
		return nil
	}
	return r.judgeWritten(host, addr)
}

// judgeWritten judges a host by its spelling: an address, or with a proxy also
// the name that stands for this very machine, as it would for the proxy
// (RFC 6761, section 6.3).
func (r rules) judgeWritten(host string, addr netip.Addr) error {
	name := "." + strings.TrimRight(host, ".")
	switch {
	case addr.IsValid():
		return r.judge(host, addr, true)
	case r.proxied && strings.HasSuffix(name, ".localhost"):
		return r.judge(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}), false)
	}
	return nil
}

// checkRequest judges a request before anything is done for it.
func (r rules) checkRequest(req *http.Request) error {
	if req.URL == nil {
		return &URLError{Why: "the request has no URL"}
	}
	if err := r.checkURL(req.URL); err != nil {
		return err
	}
	if req.Host != "" && !strings.EqualFold(req.Host, req.URL.Host) {
		return &URLError{Host: req.URL.Hostname(), Why: "the request names another host in its Host header"}
	}
	return nil
}

// parseHost gives the form in which hosts are compared: lower case for a name,
// canonical for an address, which is then valid. Spellings that two readers
// could take for two different hosts are refused.
func parseHost(host string) (string, netip.Addr, error) {
	var none netip.Addr
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", none, errors.New("an address with a zone reaches one of this machine's own links and is refused")
		}
		return addr.String(), addr, nil
	}
	switch {
	case host == "":
		return "", none, errors.New("the host is empty")
	case len(host) > 253:
		return "", none, errors.New("the host is longer than 253 characters")
	case strings.Contains(host, ":"):
		return "", none, errors.New("the host is not a valid IPv6 address")
	}
	for _, c := range []byte(host) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		case c >= 0x80:
			return "", none, errors.New("the host has letters outside ASCII; write it in its xn-- form")
		default:
			return "", none, errors.New("the host has characters no host name has")
		}
	}
	if numeric(host) {
		return "", none, errors.New("the host is a number in an unusual form; write an address as four plain decimals, like 192.0.2.1")
	}
	return strings.ToLower(host), none, nil
}

// numeric reports whether some resolver or URL parser would take the name for
// an IPv4 address: its last label is a number, decimal, octal or hexadecimal
// (WHATWG URL, "ends in a number"). 127.1, 0177.0.0.1, 0x7f000001 and
// 2130706433 all mean 127.0.0.1 to somebody.
func numeric(host string) bool {
	host = strings.TrimRight(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return true
	}
	digits := "0123456789"
	if len(last) >= 2 && last[0] == '0' && (last[1] == 'x' || last[1] == 'X') {
		last, digits = last[2:], "0123456789abcdefABCDEF"
	}
	return strings.Trim(last, digits) == ""
}
