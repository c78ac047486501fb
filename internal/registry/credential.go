package registry

import (
	"encoding/base64"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/card"
)

// Header is the name of an HTTP header that may carry a credential.
type Header string

var headerRE = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,63}$`)

// reserved headers are set by the protocol or decide where a request goes.
var reserved = []string{
	"a2a-extensions", "a2a-version", "accept", "connection", "content-length", "content-type", "cookie", "host",
	"proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
}

func (Header) pattern() string { return headerRE.String() }

func (h Header) check() string {
	switch {
	case !headerRE.MatchString(string(h)):
		return "the name of a header has letters, digits and hyphens, at most 64, and begins with a letter"
	case slices.Contains(reserved, strings.ToLower(string(h))):
		return "this header cannot carry a credential"
	}
	return ""
}

// Base64URL is base64url without padding (RFC 7515, section 2).
type Base64URL string

func (Base64URL) pattern() string { return `^[A-Za-z0-9_-]+$` }

func (b Base64URL) check() string {
	if _, err := base64.RawURLEncoding.DecodeString(string(b)); err != nil || len(b) > 2048 {
		return "write base64url without padding"
	}
	return ""
}

func (b Base64URL) size() int { return base64.RawURLEncoding.DecodedLen(len(b)) }

// rules checks that the members fit the family, and that they are a key.
func (k JWK) rules(r *reporter, at string) {
	known := len(r.problems)
	type form struct {
		alg          Algorithm
		crv          Curve
		x, y, n, e   bool
		lengthX      int
		lengthYIfAny int
	}
	want := map[KeyType]form{
		"EC":  {alg: "ES256", crv: "P-256", x: true, y: true, lengthX: 32, lengthYIfAny: 32},
		"OKP": {alg: "EdDSA", crv: "Ed25519", x: true, lengthX: 32},
		"RSA": {alg: "RS256", n: true, e: true},
	}[k.Kty]
	members := []struct {
		name   string
		has    bool
		wanted bool
	}{
		{"crv", k.Crv != "", want.crv != ""}, {"x", k.X != "", want.x}, {"y", k.Y != "", want.y},
		{"n", k.N != "", want.n}, {"e", k.E != "", want.e},
	}
	for _, m := range members {
		if m.has && !m.wanted {
			r.report(at+"."+m.name, "does not belong to a key of the family "+string(k.Kty), "leave it out")
		}
		if m.wanted {
			r.needs(m.has, at+"."+m.name, "copy the public key whole, as the agent's JWKS has it")
		}
	}
	if k.Alg != "" && k.Alg != want.alg {
		r.report(at+".alg", string(k.Alg)+" does not fit a key of the family "+string(k.Kty), "write "+string(want.alg))
	}
	if k.Crv != "" && want.crv != "" && k.Crv != want.crv {
		r.report(at+".crv", string(k.Crv)+" does not fit a key of the family "+string(k.Kty), "write "+string(want.crv))
	}
	if k.N != "" && want.n && (k.N.size() < 256 || k.N.size() > 1024) {
		r.report(at+".n", "an RSA key has 2048 to 8192 bits", "ask for another key")
	}
	for _, c := range []struct {
		name  string
		value Base64URL
		want  int
	}{{"x", k.X, want.lengthX}, {"y", k.Y, want.lengthYIfAny}} {
		if c.value != "" && c.want != 0 && c.value.size() != c.want {
			r.report(at+"."+c.name, "the value has not the length that the curve asks for", "copy the public key whole, as the agent's JWKS has it")
		}
	}
	if len(r.problems) > known {
		return
	}
	written, err := json.Marshal(k)
	if err == nil {
		_, err = card.ParseJWKS(written)
	}
	if err != nil {
		r.report(at, "this is no key that can be used", "copy the public key whole, as the agent's JWKS has it")
	}
}

func (c Credential) rules(r *reporter, exceptions []Exception) {
	given := map[string]bool{
		"none": c.None, "apiKey": c.APIKey != nil, "bearer": c.Bearer != nil, "oauth2": c.OAuth2 != nil, "mtls": c.MTLS != nil,
	}
	if c != (Credential{}) {
		r.one("credential", given)
	}
	if o := c.OAuth2; o != nil {
		r.one("credential.oauth2", map[string]bool{"tokenURL": o.TokenURL != "", "issuer": o.Issuer != ""})
		r.url("credential.oauth2.tokenURL", o.TokenURL, exceptions)
		r.url("credential.oauth2.issuer", o.Issuer, exceptions)
		unique(r, "credential.oauth2.scopes", o.Scopes)
		r.roots("credential.oauth2.roots", o.Roots)
	}
	if m := c.MTLS; m != nil {
		files := m.CertificateFile != "" || m.KeyFile != ""
		r.one("credential.mtls", map[string]bool{"secret": m.Secret != "", "certificateFile and keyFile": files})
		if files {
			r.absolute("credential.mtls.certificateFile", m.CertificateFile)
			r.absolute("credential.mtls.keyFile", m.KeyFile)
		}
	}
}

func (r *reporter) absolute(at, file string) {
	if !filepath.IsAbs(file) {
		r.report(at, "this is not an absolute path", "name a file of the server by its absolute path, or use a secret")
	}
}

// secrets are the secrets that a spec names, by the path of the field.
func secrets(spec Spec) map[string]SecretName {
	found := make(map[string]SecretName)
	switch s := spec.(type) {
	case *Provider:
		found["secret"] = s.Secret
	case *Agent:
		for i, key := range s.SigningKeys {
			found[index("signingKeys", i)] = key
		}
	case *RemoteAgent:
		c := s.Credential
		if c.APIKey != nil {
			found["credential.apiKey.secret"] = c.APIKey.Secret
		}
		if c.Bearer != nil {
			found["credential.bearer.secret"] = c.Bearer.Secret
		}
		if c.OAuth2 != nil {
			found["credential.oauth2.secret"] = c.OAuth2.Secret
		}
		if c.MTLS != nil {
			found["credential.mtls.secret"] = c.MTLS.Secret
		}
	}
	for path, name := range found {
		if name == "" {
			delete(found, path)
		}
	}
	return found
}
