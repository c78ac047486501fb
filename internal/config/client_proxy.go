package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
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
			p.Header = value
		case "from":
			prefix, err := netip.ParsePrefix(value)
			if address, bad := netip.ParseAddr(value); err != nil && bad == nil {
				prefix, err = address.Prefix(address.BitLen())
			}
			if err != nil {
				return p, fmt.Errorf("%q is neither an address nor a range of them", value)
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
