package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"net/textproto"
	"slices"
	"strings"
)

// ClientProxy is a proxy that ends TLS in front of the server and passes on the
// certificates that clients have shown it.
type ClientProxy struct {
	Name     string
	Header   string
	Networks []netip.Prefix
	SPKI     [32]byte // zero: its address is enough
}

// ParseClientProxy reads "NAME,header=Client-Cert,from=10.0.0.0/8" with any
// number of from=, and spki=HEX for a proxy that shows a certificate of its own.
func ParseClientProxy(text string) (ClientProxy, error) {
	p := ClientProxy{Header: "Client-Cert"}
	name, rest, _ := strings.Cut(text, ",")
	if p.Name = strings.TrimSpace(name); p.Name == "" || strings.Contains(p.Name, "=") {
		return p, errors.New("it begins with the name of the proxy, as in edge,header=Client-Cert,from=10.0.0.0/8")
	}
	for member := range strings.SplitSeq(rest, ",") {
		if strings.TrimSpace(member) == "" {
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(member), "=")
		switch key {
		case "header":
			if p.Header = value; taken(value) {
				return p, fmt.Errorf("the header %q has another meaning; name the one that the proxy passes certificates on in", value)
			}
		case "from":
			prefix, err := netip.ParsePrefix(value)
			if address, bad := netip.ParseAddr(value); err != nil && bad == nil {
				prefix, err = address.Prefix(address.BitLen())
			}
			if err != nil {
				return p, fmt.Errorf("%q is neither an address nor a range of them", value)
			}
			if prefix.Bits() == 0 {
				return p, fmt.Errorf("from=%s is everybody; name the addresses that the proxy connects from", value)
			}
			p.Networks = append(p.Networks, prefix)
		case "spki":
			sum, err := hex.DecodeString(value)
			if err != nil || len(sum) != len(p.SPKI) {
				return p, errors.New("spki is the SHA-256 of a public key, 64 hexadecimal digits")
			}
			p.SPKI = [32]byte(sum)
		default:
			return p, fmt.Errorf("%q is none of header, from and spki", key)
		}
	}
	if len(p.Networks) == 0 && p.SPKI == [32]byte{} {
		return p, errors.New("it needs from= or spki=, by which the proxy is known")
	}
	return p, nil
}

// takenHeaders have a meaning of their own, are of one connection only (RFC 9110,
// section 7.6.1), or are set by the protocol.
var takenHeaders = []string{
	"", "A2a-Extensions", "A2a-Version", "Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Host",
	"Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "X-Api-Key",
}

// taken reports whether no certificate can be passed on in a header.
func taken(name string) bool {
	return slices.Contains(takenHeaders, textproto.CanonicalMIMEHeaderKey(name)) ||
		strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7F || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c) })
}
