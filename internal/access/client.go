package access

import (
	"crypto/x509"
	"net/netip"
	"time"

	"github.com/legation/legation/internal/quota"
)

// Client is a remote client: a registered party that may call.
type Client struct {
	// Name is the caller's in tasks, quotas and the audit.
	Name string

	// Enabled clients are let in. The zero value is not.
	Enabled bool

	// Keys, Tokens and Certificates are the credentials, any of which will do.
	// Several at once make rotation possible.
	Keys         []APIKey
	Tokens       []OIDC
	Certificates []MTLS

	Rights Rights
	Limits quota.Limits
}

// APIKey is what is kept of a key that [Issue] made.
type APIKey struct {
	// ID is the public part of the key, unique in a directory.
	ID string

	// SHA256 is the hash of the whole text of the key, which has so much
	// entropy that no slower hash is needed.
	SHA256 [32]byte

	// NotAfter is when the key ceases to be accepted. Zero means never.
	NotAfter time.Time

	// Revoked keys are refused, and by that name.
	Revoked bool
}

// OIDC is the tokens (JWT, RFC 7519) of an issuer that stand for the client.
type OIDC struct {
	// Issuer is the iss claim, exactly, and where keys are discovered (OpenID
	// Connect Discovery 1.0, section 4).
	Issuer string

	// Audience must be among the aud claim.
	Audience string

	// AuthorizedParty is the azp claim or, in a token that has none, client_id
	// (RFC 9068, section 2.2). Subject is the sub claim. At least one is
	// required; if both are set both must match.
	AuthorizedParty string
	Subject         string

	// Algorithms are those that tokens may be signed with, of [Algorithms].
	// Nil means RS256, ES256 and EdDSA.
	Algorithms []string

	// Skew is how far the clocks of issuer and server may be apart. Zero means
	// 60 s, and more than 5 minutes is refused.
	Skew time.Duration
}

// MTLS is the certificates that stand for the client. Exactly one of SAN and
// SPKI is set.
type MTLS struct {
	// SAN is a subject alternative name, exactly, with its kind: "dns:NAME",
	// "uri:URI", "email:ADDRESS" or "ip:ADDRESS". Case does not matter in a name
	// of DNS. The certificate must lead to one of Roots.
	SAN string

	// Roots are the authorities that may vouch for SAN. They are the client's
	// own, so that the authority of one partner cannot speak for another.
	Roots *x509.CertPool

	// SPKI is the SHA-256 of the certificate's SubjectPublicKeyInfo. Whoever
	// signed the certificate does not matter, only that it is in force.
	SPKI [32]byte
}

// Proxy is a party in front of the server that ends TLS and passes on whom it
// has met.
type Proxy struct {
	// Name is the proxy's in the audit.
	Name string

	// Header is where it puts the client's certificate: as a byte sequence of
	// DER (Client-Cert, RFC 9440) or as URL-encoded PEM. The proxy must
	// replace what a client has sent under that name.
	Header string

	// Networks are the addresses that the proxy connects from.
	Networks []netip.Prefix

	// SPKI is the SHA-256 of the SubjectPublicKeyInfo of the certificate that
	// the proxy itself presents. Zero means that its address is enough; one of
	// Networks and SPKI is required, and if both are set both must match.
	SPKI [32]byte
}

// CredentialKind is a sort of credential.
type CredentialKind string

// The kinds of credentials.
const (
	KindKey         CredentialKind = "api-key"
	KindToken       CredentialKind = "jwt"
	KindCertificate CredentialKind = "mtls"
)

// Credential names a credential without giving it away: a key by its id, a
// token by its issuer, a certificate by the SHA-256 of its public key.
type Credential struct {
	Kind CredentialKind
	ID   string
}
