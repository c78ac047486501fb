package guard

import (
	"net/netip"

	"code.dny.dev/ssrf"
)

// registry knows the special purpose address registries of the IANA. Its port
// and network checks are not used.
var registry = ssrf.New(
	ssrf.WithAnyPort(),
	ssrf.WithAnyNetwork(),
	ssrf.WithDeniedV4Prefixes(platform),
)

var (
	// platform is the address of a cloud's host agent. It is public by the
	// registries and answers every guest of that cloud.
	platform = netip.MustParsePrefix("168.63.129.16/32")

	kinds = []struct {
		prefix netip.Prefix
		name   string
	}{
		{platform, "the host agent of a cloud platform"},
		{netip.MustParsePrefix("255.255.255.255/32"), "the broadcast address"},
		{netip.MustParsePrefix("0.0.0.0/8"), "an address of this machine itself"},
		{netip.MustParsePrefix("100.64.0.0/10"), "a shared carrier address"},
		{netip.MustParsePrefix("192.0.2.0/24"), "a documentation address"},
		{netip.MustParsePrefix("198.51.100.0/24"), "a documentation address"},
		{netip.MustParsePrefix("203.0.113.0/24"), "a documentation address"},
		{netip.MustParsePrefix("198.18.0.0/15"), "a benchmarking address"},
		{netip.MustParsePrefix("192.88.99.0/24"), "a 6to4 address"},
		{netip.MustParsePrefix("2002::/16"), "a 6to4 address"},
		{netip.MustParsePrefix("2001::/32"), "a Teredo address"},
		{netip.MustParsePrefix("2001:db8::/32"), "a documentation address"},
		{netip.MustParsePrefix("3fff::/20"), "a documentation address"},
		{netip.MustParsePrefix("64:ff9b::/96"), "a NAT64 address"},
		{netip.MustParsePrefix("64:ff9b:1::/48"), "a NAT64 address"},
	}
)

// judge tells why an address of a host nobody excepted is not dialled, or nil.
// An address written in a URL is literal: there the mapped form of an IPv4
// address is a disguise, whereas resolvers hand it out as a matter of course.
func (r rules) judge(host string, addr netip.Addr, literal bool) error {
	refuse := func(why string) error {
		return &AddressError{Host: host, Addr: addr, Why: why}
	}
	switch {
	case !addr.IsValid():
		return refuse("not an address")
	case addr.Zone() != "":
		return refuse("an address of one of this machine's own links")
	case literal && addr.Is4In6():
		return refuse("an IPv4 address in IPv6 clothes")
	}
	addr = addr.Unmap()
	for _, prefix := range r.prefixes {
		if prefix.Contains(addr) {
			return nil
		}
	}
	if registry.SafeAddr(addr) == nil {
		return nil
	}
	return refuse(kind(addr))
}

// kind names the reason for a refusal in a person's words. It decides nothing.
func kind(addr netip.Addr) string {
	switch {
	case addr.IsUnspecified():
		return "the unspecified address"
	case addr.IsLoopback():
		return "a loopback address"
	case addr.IsPrivate():
		return "a private address"
	case addr.IsLinkLocalUnicast():
		return "a link-local address"
	case addr.IsMulticast():
		return "a multicast address"
	}
	for _, k := range kinds {
		if k.prefix.Contains(addr) {
			return k.name
		}
	}
	return "reserved and no place on the public internet"
}
