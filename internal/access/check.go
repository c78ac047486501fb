package access

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
)

// check refuses a key that nobody could present, or everybody.
func (k APIKey) check() error {
	if k.ID == "" || k.SHA256 == ([32]byte{}) {
		return errors.New("a key has no id or no hash")
	}
	return nil
}

const (
	defaultSkew = time.Minute
	maxSkew     = 5 * time.Minute
)

func (o OIDC) withDefaults() OIDC {
	if o.Skew == 0 {
		o.Skew = defaultSkew
	}
	if o.Algorithms == nil {
		o.Algorithms = []string{"RS256", "ES256", "EdDSA"}
	}
	return o
}

func (o OIDC) check() error {
	issuer, err := url.Parse(o.Issuer)
	switch {
	case err != nil || issuer.Host == "" || issuer.Scheme != "https" && issuer.Scheme != "http" ||
		issuer.User != nil || strings.ContainsAny(o.Issuer, "?#"):
		return errors.New("the issuer is not the URL of an issuer")
	case o.Audience == "":
		return errors.New("the audience is missing, so tokens for others would be accepted")
	case o.AuthorizedParty == "" && o.Subject == "":
		return errors.New("neither authorized party nor subject is set, so every token of the issuer would be accepted")
	case o.Skew < 0 || o.Skew > maxSkew:
		return fmt.Errorf("the skew is not between 0 and %v", maxSkew)
	case o.Algorithms != nil && len(o.Algorithms) == 0:
		return errors.New("the list of algorithms is empty")
	}
	for _, algorithm := range o.Algorithms {
		if !slices.Contains(Algorithms(), algorithm) {
			return fmt.Errorf("the algorithm %q is not one of %s", algorithm, strings.Join(Algorithms(), ", "))
		}
	}
	return nil
}

func (m MTLS) check() error {
	if (m.SAN == "") == (m.SPKI == [32]byte{}) {
		return errors.New("a certificate needs either a name or the hash of its key")
	}
	if m.SAN == "" {
		return nil
	}
	kind, name, _ := strings.Cut(m.SAN, ":")
	switch kind {
	case "dns", "uri", "email":
	case "ip":
		if addr, err := netip.ParseAddr(name); err != nil || addr.String() != name {
			return fmt.Errorf("the certificate name %q is not an address as it is usually written", m.SAN)
		}
	default:
		return fmt.Errorf("the certificate name %q has no kind, one of dns:, uri:, email: and ip: in front of it", m.SAN)
	}
	switch {
	case name == "" || strings.Contains(name, "*"):
		return fmt.Errorf("the certificate name %q is empty or a pattern", m.SAN)
	case m.Roots == nil || m.Roots.Equal(x509.NewCertPool()):
		return fmt.Errorf("the certificate name %q has no roots that could vouch for it", m.SAN)
	}
	return nil
}

// check refuses a proxy that anybody could be.
func (p *Proxy) check() error {
	p.Header = textproto.CanonicalMIMEHeaderKey(p.Header)
	switch {
	case p.Name == "":
		return errors.New("it has no name")
	case p.Header == "" || p.Header == headerAuthorization || p.Header == HeaderKey:
		return errors.New("it has no header of its own")
	case len(p.Networks) == 0 && p.SPKI == [32]byte{}:
		return errors.New("neither its networks nor its certificate are known, so anybody could be it")
	}
	for _, network := range p.Networks {
		if !network.IsValid() {
			return errors.New("a network of it is not valid")
		}
	}
	return nil
}
