package registry

import (
	"net/url"
	"strings"

	"github.com/legation/legation/card"
)

// Effect says what a remote agent's work does to the world.
type Effect string

// The effects. What reads may be asked again without harm.
const (
	EffectRead  Effect = "read"
	EffectWrite Effect = "write"
)

func (Effect) values() []string { return []string{string(EffectRead), string(EffectWrite)} }

// Follow says how we learn what became of work that was handed out.
type Follow string

// The ways to follow.
const (
	FollowPoll    Follow = "poll"
	FollowStream  Follow = "stream"
	FollowWebhook Follow = "webhook"
)

func (Follow) values() []string {
	return []string{string(FollowPoll), string(FollowStream), string(FollowWebhook)}
}

// InputPolicy says what happens when a remote agent asks for input or
// authorization.
type InputPolicy string

// The policies: ask whoever started the run, or fail.
const (
	InputAsk  InputPolicy = "ask"
	InputFail InputPolicy = "fail"
)

func (InputPolicy) values() []string { return []string{string(InputAsk), string(InputFail)} }

// RemoteAgent is a party that we may hand work to. It is inert until it has a
// credential, a pin, a send zone and a returns class, and is enabled.
type RemoteAgent struct {
	// Enabled lets work be handed out.
	Enabled bool `json:"enabled,omitzero"`

	// Description says who this is.
	Description string `json:"description,omitzero" max:"1024"`

	// URL is the route: requests go there, whatever the card says.
	URL URL `json:"url"`

	// CardURL is where the card is. Left out, it is the well-known path under
	// the URL.
	CardURL URL `json:"cardURL,omitzero"`

	// Pin is who we expect behind the card.
	Pin Pin `json:"pin,omitzero"`

	// MaxCardAge is how long a verified card is trusted.
	MaxCardAge Duration `json:"maxCardAge,omitzero" default:"24h" range:"1m..90d"`

	// MinVersion is the lowest version of the agent, compared when both are
	// semantic versions.
	MinVersion string `json:"minVersion,omitzero" max:"64"`

	// Credential is what we prove ourselves with.
	Credential Credential `json:"credential,omitzero"`

	// Send is the highest data class that may be sent.
	Send DataClass `json:"send,omitzero"`

	// Returns is the data class of what comes back.
	Returns DataClass `json:"returns,omitzero"`

	// Approval says whether a person has to agree before work is handed out.
	Approval Approval `json:"approval,omitzero" default:"always"`

	// Effect says what the agent's work does to the world.
	Effect Effect `json:"effect,omitzero" default:"write"`

	// Follow says how we learn what became of the work.
	Follow Follow `json:"follow,omitzero" default:"poll"`

	// Input says what happens when the agent asks for input or authorization.
	Input InputPolicy `json:"input,omitzero" default:"ask"`

	// Deduplicates promises that the agent takes the same message id once only,
	// so that a message with an unknown fate may be sent again.
	Deduplicates bool `json:"deduplicates,omitzero"`

	// Deadlines bound an exchange.
	Deadlines Deadlines `json:"deadlines,omitzero"`

	// Caps bound what is read from the agent.
	Caps Caps `json:"caps,omitzero"`

	// Extensions are the extensions that we offer and require.
	Extensions OfferedExtensions `json:"extensions,omitzero"`

	// Exceptions are hosts and ranges that may be reached although they are not
	// public or not https.
	Exceptions []Exception `json:"exceptions,omitzero" max:"64"`

	// Roots are authorities, in PEM, that may vouch for the agent's certificate
	// besides those that this machine trusts.
	Roots string `json:"roots,omitzero" max:"65536"`
}

// Pin is who we expect behind a card.
type Pin struct {
	// Keys are the public keys of which one must have signed the card; several
	// while keys are rotated.
	Keys []JWK `json:"keys,omitzero" max:"16"`

	// Revoked are ids of keys that are believed no more.
	Revoked []string `json:"revoked,omitzero" max:"64"`

	// AllowUnsigned takes cards without a signature. It is for agents that do
	// not sign, and excludes keys: then only TLS says who answers.
	AllowUnsigned bool `json:"allowUnsigned,omitzero"`

	// Name is the agent's name on its card.
	Name string `json:"name,omitzero" max:"256"`

	// Organization is the provider's organization on the card.
	Organization string `json:"organization,omitzero" max:"256"`
}

// KeyType is the family of a public key (RFC 7518, section 6.1, and RFC 8037).
type KeyType string

func (KeyType) values() []string { return []string{"EC", "OKP", "RSA"} }

// JWK is a public key (RFC 7517) for signatures. Private members are refused.
type JWK struct {
	// Kid is the key's id, which signatures name.
	Kid string `json:"kid" key:"true" max:"256"`

	// Kty is the key's family.
	Kty KeyType `json:"kty"`

	// Alg is the algorithm: ES256 for EC, EdDSA for OKP, RS256 for RSA.
	Alg Algorithm `json:"alg,omitzero"`

	// Use is what the key is for: sig.
	Use KeyUse `json:"use,omitzero"`

	// Crv is the curve: P-256 for EC, Ed25519 for OKP.
	Crv Curve `json:"crv,omitzero"`

	// X is a coordinate, or the key of OKP.
	X Base64URL `json:"x,omitzero"`

	// Y is the other coordinate of EC.
	Y Base64URL `json:"y,omitzero"`

	// N is the modulus of RSA, of 2048 bits or more.
	N Base64URL `json:"n,omitzero"`

	// E is the exponent of RSA.
	E Base64URL `json:"e,omitzero"`
}

// Algorithm is an algorithm of signatures (RFC 7518, section 3.1, and RFC 8037).
type Algorithm string

func (Algorithm) values() []string { return []string{"ES256", "EdDSA", "RS256"} }

// KeyUse is what a key is for (RFC 7517, section 4.2).
type KeyUse string

func (KeyUse) values() []string { return []string{"sig"} }

// Curve is a curve (RFC 7518, section 6.2.1.1, and RFC 8037).
type Curve string

func (Curve) values() []string { return []string{"P-256", "Ed25519"} }

// Credential is what we prove ourselves with: exactly one member.
type Credential struct {
	// None sends no credential.
	None bool `json:"none,omitzero"`

	// APIKey sends a key in a header.
	APIKey *HeaderKey `json:"apiKey,omitzero"`

	// Bearer sends a token that does not change.
	Bearer *Bearer `json:"bearer,omitzero"`

	// OAuth2 fetches tokens by client credentials (RFC 6749, section 4.4).
	OAuth2 *OAuth2 `json:"oauth2,omitzero"`

	// MTLS shows a client certificate.
	MTLS *Certificate `json:"mtls,omitzero"`
}

// HeaderKey is a key that is sent in a header.
type HeaderKey struct {
	// Header is the header's name.
	Header Header `json:"header,omitzero" default:"X-API-Key"`

	// Secret names the key.
	Secret SecretName `json:"secret"`
}

// Bearer is a token that does not change.
type Bearer struct {
	// Secret names the token.
	Secret SecretName `json:"secret"`
}

// OAuth2 fetches tokens by client credentials (RFC 6749, section 4.4).
type OAuth2 struct {
	// TokenURL is where tokens are fetched. Either this or Issuer.
	TokenURL URL `json:"tokenURL,omitzero"`

	// Issuer is whose metadata says where tokens are fetched (RFC 8414).
	Issuer URL `json:"issuer,omitzero"`

	// ClientID is who we are there.
	ClientID string `json:"clientID" max:"512"`

	// Secret names the client's secret.
	Secret SecretName `json:"secret"`

	// Audience is for whom the token is.
	Audience string `json:"audience,omitzero" max:"512"`

	// Scopes are what the token is for.
	Scopes []string `json:"scopes,omitzero" max:"64"`

	// Roots are authorities, in PEM, that may vouch for the certificates of the
	// issuer and of where tokens are fetched, besides those that this machine
	// trusts.
	Roots string `json:"roots,omitzero" max:"65536"`
}

// Certificate is a client certificate with its key: a secret that holds both in
// PEM, or two files of the server, which are read again when they change.
type Certificate struct {
	// Secret names the certificate and its key.
	Secret SecretName `json:"secret,omitzero"`

	// CertificateFile is the path of the certificate, with its chain.
	CertificateFile string `json:"certificateFile,omitzero" max:"1024"`

	// KeyFile is the path of the key.
	KeyFile string `json:"keyFile,omitzero" max:"1024"`
}

// Deadlines bound an exchange with a remote agent.
type Deadlines struct {
	// Request bounds one request.
	Request Duration `json:"request,omitzero" default:"60s" range:"1s..10m"`

	// Work bounds the agent's working time. While it waits for input or
	// authorization the clock stands still.
	Work Duration `json:"work,omitzero" default:"10m" range:"1s..30d"`
}

// Caps bound what is read from a remote agent.
type Caps struct {
	// Card is the largest card.
	Card Size `json:"card,omitzero" default:"1MiB" range:"1KiB..16MiB"`

	// Answer is the largest answer.
	Answer Size `json:"answer,omitzero" default:"8MiB" range:"1KiB..256MiB"`

	// Event is the largest event of a stream.
	Event Size `json:"event,omitzero" default:"8MiB" range:"1KiB..256MiB"`

	// Stream is all that is read of one stream.
	Stream Size `json:"stream,omitzero" default:"256MiB" range:"1KiB..4GiB"`
}

// OfferedExtensions are the extensions that we offer and require.
type OfferedExtensions struct {
	// Offered are used where the card announces them.
	Offered []URI `json:"offered,omitzero" max:"32"`

	// Required make the agent unusable where its card does not announce them.
	Required []URI `json:"required,omitzero" max:"32"`
}

// Kind returns [KindRemoteAgent].
func (*RemoteAgent) Kind() Kind { return KindRemoteAgent }

func (a *RemoteAgent) rules(r *reporter) {
	r.url("url", a.URL, a.Exceptions)
	r.url("cardURL", a.CardURL, a.Exceptions)
	if u, err := url.Parse(string(a.CardURL)); err == nil && a.CardURL != "" && !strings.HasSuffix(strings.ToLower(u.Path), ".json") {
		r.report("cardURL", "leads to no card: its path does not end in .json", "write the URL of the card itself, or leave it out if the card is at the well-known path below url")
	}
	if a.MinVersion != "" && !card.Semantic(a.MinVersion) {
		r.report("minVersion", quoted(a.MinVersion)+" is no semantic version, and only those have an order", "write three numbers such as 1.2.0, or leave it out")
	}
	unique(r, "exceptions", a.Exceptions)
	unique(r, "extensions.offered", a.Extensions.Offered)
	unique(r, "extensions.required", a.Extensions.Required)
	r.roots("roots", a.Roots)
	a.Pin.rules(r)
	a.Credential.rules(r, a.Exceptions)
}

func (p Pin) rules(r *reporter) {
	uniqueKey(r, "pin.keys", p.Keys, func(k JWK) string { return k.Kid })
	unique(r, "pin.revoked", p.Revoked)
	if p.AllowUnsigned && len(p.Keys) > 0 {
		r.report("pin.allowUnsigned", "keys are pinned, so an unsigned card is never taken", "leave out allowUnsigned or the keys")
	}
	for i, key := range p.Keys {
		key.rules(r, index("pin.keys", i))
	}
}
