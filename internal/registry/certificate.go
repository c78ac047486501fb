package registry

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"regexp"
	"strings"
)

// SAN is a subject alternative name of a certificate (RFC 5280, section
// 4.2.1.6), with its kind: "dns:NAME", "uri:URI", "email:ADDRESS" or
// "ip:ADDRESS".
type SAN string

var sanRE = regexp.MustCompile(`^(dns|uri|email|ip):[^\s*]+$`)

func (SAN) pattern() string { return sanRE.String() }

func (s SAN) check() string {
	if !sanRE.MatchString(string(s)) {
		return "write the name with its kind, for example dns:partner.example; uri, email and ip are the others, and there are no patterns"
	}
	if name, isIP := strings.CutPrefix(string(s), "ip:"); isIP {
		if addr, err := netip.ParseAddr(name); err != nil || addr.String() != name {
			return "this is not an address as it is usually written"
		}
	}
	return ""
}

// names is what certificates are known by, as it is compared: a name of DNS has
// no upper case.
func (m MTLS) names() string {
	if name, isDNS := strings.CutPrefix(string(m.SAN), "dns:"); isDNS {
		return "dns:" + strings.ToLower(name)
	}
	return string(m.SAN) + string(m.SPKI)
}

// maxRoots is how many authorities may vouch for one name.
const maxRoots = 16

func (m MTLS) rules(r *reporter, at string) {
	r.one(at, map[string]bool{"san": m.SAN != "", "spki": m.SPKI != ""})
	r.only(m.SAN != "", m.Roots != "", at+".roots", "certificates that are known by their san")
	if m.SAN == "" {
		return
	}
	r.needs(m.Roots != "", at+".roots", "add the certificates of the authorities that may vouch for the name, in PEM")
	r.roots(at+".roots", m.Roots)
}

// roots reports what are no certificates.
func (r *reporter) roots(path, text string) {
	if text != "" && !certificates(text) {
		r.report(path, "these are not certificates in PEM, or more than 16", "copy them with their BEGIN and END lines, and no private key")
	}
}

func certificates(text string) bool {
	rest, count := []byte(text), 0
	for len(strings.TrimSpace(string(rest))) > 0 {
		block, next := pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
		if count++; count > maxRoots {
			return false
		}
		rest = next
	}
	return true
}
