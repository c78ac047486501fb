package access

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/legation/legation/internal/lru"
)

// proxy is the proxy that a request comes through, nil if it comes directly.
func (d *Directory) proxy(attempt Attempt) *Proxy {
	for i := range d.cfg.Proxies {
		p := &d.cfg.Proxies[i]
		if len(p.Networks) > 0 && !within(p, attempt) {
			continue
		}
		if p.SPKI != [32]byte{} && (len(attempt.Certificates) == 0 || pin(attempt.Certificates[0]) != p.SPKI) {
			continue
		}
		return p
	}
	return nil
}

func within(p *Proxy, attempt Attempt) bool {
	address := attempt.Address.Unmap().WithZone("")
	for _, network := range p.Networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// pin is the hash of a certificate's public key.
func pin(c *x509.Certificate) [32]byte { return sha256.Sum256(c.RawSubjectPublicKeyInfo) }

// certificates are those of the client: what the proxy passes on, or what the
// peer presented.
func (d *Directory) certificates(attempt Attempt, from *Proxy) ([]*x509.Certificate, error) {
	if from == nil {
		for _, p := range d.cfg.Proxies {
			if len(attempt.Header[p.Header]) > 0 {
				return nil, refused{ReasonProxy, "a client certificate was passed on by a party that may not pass on any"}
			}
		}
		return attempt.Certificates, nil
	}
	switch values := attempt.Header[from.Header]; {
	case len(values) == 0, len(values) == 1 && values[0] == "":
		return nil, nil
	case len(values) > 1:
		return nil, refused{ReasonSeveral, "more than one credential was sent"}
	default:
		c, err := parseForwarded(values[0])
		if err != nil {
			return nil, err
		}
		return []*x509.Certificate{c}, nil
	}
}

// parseForwarded reads a certificate as proxies write it into a header: DER as
// a byte sequence (RFC 9440, section 2.1), or PEM in URL encoding.
func parseForwarded(value string) (*x509.Certificate, error) {
	malformed := refused{ReasonMalformed, "the client certificate that was passed on is malformed"}
	if len(value) > maxCredential {
		return nil, malformed
	}
	var der []byte
	if text, ok := strings.CutPrefix(value, ":"); ok {
		text, ok = strings.CutSuffix(text, ":")
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !ok {
			return nil, malformed
		}
		der = decoded
	} else {
		text, err := url.PathUnescape(value) // which leaves + alone
		if err != nil {
			return nil, malformed
		}
		block, rest := pem.Decode([]byte(text))
		if block == nil || block.Type != "CERTIFICATE" || strings.TrimSpace(string(rest)) != "" {
			return nil, malformed
		}
		der = block.Bytes
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, malformed
	}
	return c, nil
}

// byCertificate finds the grant of a certificate: by its key, or by a name that
// one of the client's roots vouches for.
func (d *Directory) byCertificate(clients *snapshot, chain []*x509.Certificate, now time.Time, fact *Fact) (*grant, time.Time, error) {
	leaf := chain[0]
	key := pin(leaf)
	fact.Credential = Credential{KindCertificate, hex.EncodeToString(key[:])}
	found, why := clients.pins[key], refused{ReasonUnknown, "the client certificate is not known here"}
	for _, name := range alternativeNames(leaf) {
		for _, g := range clients.names[name] {
			switch {
			case !d.vouched.by(g.certificate.Roots, chain, now):
				why = refused{ReasonUntrusted, "no authority of this client vouches for the client certificate"}
				if outside(leaf, now) != nil {
					why = *outside(leaf, now)
				}
			case found != nil && found.member != g.member:
				return nil, time.Time{}, refused{ReasonSeveral, "the client certificate stands for more than one client"}
			default:
				found = g
			}
		}
	}
	if found == nil {
		return nil, time.Time{}, why
	}
	fact.Client = found.member.Name
	if why := outside(leaf, now); why != nil {
		return nil, time.Time{}, *why
	}
	return found, leaf.NotAfter, nil
}

// outside says why a certificate is not in force, or nil.
func outside(c *x509.Certificate, now time.Time) *refused {
	switch {
	case now.After(c.NotAfter):
		return &refused{ReasonExpired, "the client certificate has expired"}
	case now.Before(c.NotBefore):
		return &refused{ReasonNotYet, "the client certificate is not valid yet; the clocks may differ"}
	}
	return nil
}

// maxNames bounds the work that a certificate of a stranger makes.
const maxNames = 64

// alternativeNames are the names of a certificate in the form of MTLS.SAN.
func alternativeNames(c *x509.Certificate) []string {
	var names []string
	for _, name := range c.DNSNames {
		names = append(names, canonicalName("dns:"+name))
	}
	for _, uri := range c.URIs {
		names = append(names, "uri:"+uri.String())
	}
	for _, address := range c.EmailAddresses {
		names = append(names, "email:"+address)
	}
	for _, ip := range c.IPAddresses {
		names = append(names, "ip:"+ip.String())
	}
	if len(names) > maxNames {
		return nil
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// canonicalName is a name of a certificate as it is compared: DNS knows no
// difference between upper and lower case (RFC 4343).
func canonicalName(san string) string {
	if name, ok := strings.CutPrefix(san, "dns:"); ok {
		return "dns:" + strings.ToLower(name)
	}
	return san
}

// vouched remembers for a little while which certificates lead to which roots:
// a connection asks for every request, and the answer costs more than most.
// Whether a certificate is in force is not remembered.
type vouched struct {
	mu    sync.Mutex
	until *lru.Map[vouching, time.Time]
}

type vouching struct {
	leaf  [32]byte
	roots *x509.CertPool
}

const (
	maxVouched = 1024
	vouchedFor = time.Minute
	maxChain   = 8
)

func newVouched() *vouched { return &vouched{until: lru.New[vouching, time.Time](maxVouched)} }

// by reports whether roots vouch for a client certificate.
func (v *vouched) by(roots *x509.CertPool, chain []*x509.Certificate, now time.Time) bool {
	key := vouching{sha256.Sum256(chain[0].Raw), roots}
	v.mu.Lock()
	until, ok := v.until.Get(key)
	v.mu.Unlock()
	if ok && now.Before(until) {
		return true
	}
	if len(chain) > maxChain {
		return false
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.until.Put(key, now.Add(vouchedFor))
	return true
}
