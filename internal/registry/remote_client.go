package registry

import (
	"slices"
	"strings"
	"time"
)

// RemoteClient is a party that may call us. It is inert until it has a
// credential and an allowed skill, and is enabled.
type RemoteClient struct {
	// Enabled lets the client in.
	Enabled bool `json:"enabled,omitzero"`

	// Description says who this is.
	Description string `json:"description,omitzero" max:"1024"`

	// Credentials are what the client may prove itself with. Any one of them
	// is enough; several are valid at once, so that they can be rotated.
	Credentials Credentials `json:"credentials,omitzero"`

	// Skills are what the client may use, each named: there is no pattern.
	Skills []SkillRef `json:"skills,omitzero" max:"256"`

	// Operations are the operations of the protocol that the client may call.
	// Left out, it is all of them.
	Operations []Operation `json:"operations,omitzero" max:"11"`

	// Zone is the highest data class that the client may receive.
	Zone DataClass `json:"zone,omitzero" default:"internal"`

	// Limits bound what the client may use.
	Limits ClientLimits `json:"limits,omitzero"`

	// WebhookExceptions are hosts and ranges that the client's webhooks may
	// name although they are not public or not https.
	WebhookExceptions []Exception `json:"webhookExceptions,omitzero" max:"64"`
}

// Credentials are what a remote client may prove itself with.
type Credentials struct {
	// APIKeys are issued keys. Left out, a document that is applied keeps those
	// that are there; an empty list takes them away.
	APIKeys []APIKey `json:"apiKeys,omitzero" max:"16" empty:"true"`

	// OIDC are identities that an OpenID Connect issuer vouches for.
	OIDC []OIDC `json:"oidc,omitzero" max:"16"`

	// MTLS are identities of client certificates.
	MTLS []MTLS `json:"mtls,omitzero" max:"16"`
}

// APIKey is an issued key. The key itself is shown once and not kept.
type APIKey struct {
	// ID is the part of the key that may be told: letters and digits.
	ID KeyID `json:"id" key:"true"`

	// SHA256 is the digest of the key's text.
	SHA256 SHA256 `json:"sha256" hide:"true"`

	// NotAfter is when the key ends, in RFC 3339. Left out, it does not.
	NotAfter time.Time `json:"notAfter,omitzero"`

	// Revoked withdraws the key at once.
	Revoked bool `json:"revoked,omitzero"`
}

// KeyID is the part of an API key that may be told.
type KeyID string

const keyIDForm = `^[A-Za-z0-9]{1,32}$`

func (KeyID) pattern() string { return keyIDForm }

func (id KeyID) check() string {
	if len(id) > 32 || !alphanumeric(string(id)) {
		return "the id of a key has letters and digits, at most 32"
	}
	return ""
}

// OIDC is an identity that an OpenID Connect issuer vouches for: an authorized
// party, a subject, or both.
type OIDC struct {
	// Issuer is the issuer's URL, as its tokens name it.
	Issuer URL `json:"issuer"`

	// Audience is what tokens for us name as theirs.
	Audience string `json:"audience" max:"512"`

	// AuthorizedParty is the client id that tokens name as azp. This, Subject,
	// or both.
	AuthorizedParty string `json:"authorizedParty,omitzero" max:"512"`

	// Subject is whom tokens name as sub.
	Subject string `json:"subject,omitzero" max:"512"`

	// Algorithms are those that tokens may be signed with. Left out, it is
	// RS256, ES256 and EdDSA.
	Algorithms []TokenAlgorithm `json:"algorithms,omitzero" max:"8"`

	// Skew is how far the issuer's clock and ours may be apart.
	Skew Duration `json:"skew,omitzero" default:"60s" range:"1s..5m"`

	// Exceptions are hosts and ranges by which the issuer may be reached
	// although they are not public or not https.
	Exceptions []Exception `json:"exceptions,omitzero" max:"64"`
}

// TokenAlgorithm is an algorithm that tokens are signed with (RFC 7518, section
// 3.1, and RFC 8037). There is none with a shared key.
type TokenAlgorithm string

func (TokenAlgorithm) values() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// MTLS is an identity of client certificates: exactly one of SAN, with Roots,
// and SPKI.
type MTLS struct {
	// SAN is one of the certificate's subject alternative names, with its kind:
	// dns:NAME, uri:URI, email:ADDRESS or ip:ADDRESS. Case does not matter in a
	// name of DNS. It is there once, with all that may vouch for it.
	SAN SAN `json:"san,omitzero" max:"512"`

	// Roots are the authorities that may vouch for SAN, in PEM.
	Roots string `json:"roots,omitzero" max:"65536"`

	// SPKI is the digest of the certificate's public key in its DER form
	// (SubjectPublicKeyInfo of RFC 5280). Who signed it does not matter.
	SPKI SHA256 `json:"spki,omitzero"`
}

// Operation is the name of an operation of the protocol (a2a.proto, A2AService).
type Operation string

// Operations returns every operation that a remote client may be allowed.
func Operations() []Operation {
	return []Operation{
		"SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask",
		"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
		"ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig", "GetExtendedAgentCard",
	}
}

func (Operation) values() []string { return texts(Operations()) }

// ClientLimits bound what a remote client may use. Days are days of UTC.
type ClientLimits struct {
	// RequestsPerMinute is how many requests the client may make.
	RequestsPerMinute int64 `json:"requestsPerMinute,omitzero" default:"600" range:"1..1000000"`

	// ConcurrentTasks is how many of its tasks may run at once.
	ConcurrentTasks int64 `json:"concurrentTasks,omitzero" default:"8" range:"1..10000"`

	// QueuedTasks is how many of its tasks may wait to run.
	QueuedTasks int64 `json:"queuedTasks,omitzero" default:"64" range:"1..100000"`

	// TasksPerDay is how many tasks it may begin.
	TasksPerDay int64 `json:"tasksPerDay,omitzero" default:"10000" range:"1..1000000000"`

	// TokensPerDay is how many tokens its tasks may use.
	TokensPerDay int64 `json:"tokensPerDay,omitzero" default:"10000000" range:"1..1000000000000"`

	// CostPerDay is what its tasks may cost.
	CostPerDay Cost `json:"costPerDay,omitzero" default:"100" range:"0.000001..1000000"`

	// Body is the largest request it may send.
	Body Size `json:"body,omitzero" default:"4MiB" range:"1KiB..64MiB"`

	// Parts is how many parts a message may have.
	Parts int64 `json:"parts,omitzero" default:"64" range:"1..1024"`
}

// Kind returns [KindRemoteClient].
func (*RemoteClient) Kind() Kind { return KindRemoteClient }

// notClients are names under which tasks and the audit know others than remote
// clients.
var notClients = []Name{"legation", "local"}

func (c *RemoteClient) rules(r *reporter) {
	if slices.Contains(notClients, r.doc.Name) {
		r.reportAt("name", "tasks and the audit know another under this name", "choose another name")
	}
	unique(r, "skills", c.Skills)
	unique(r, "operations", c.Operations)
	unique(r, "webhookExceptions", c.WebhookExceptions)
	uniqueKey(r, "credentials.apiKeys", c.Credentials.APIKeys, func(k APIKey) KeyID { return k.ID })
	uniqueKey(r, "credentials.oidc", c.Credentials.OIDC, func(o OIDC) [4]string {
		return [4]string{string(o.Issuer), o.Audience, o.AuthorizedParty, o.Subject}
	})
	uniqueKey(r, "credentials.mtls", c.Credentials.MTLS, MTLS.names)
	for i, o := range c.Credentials.OIDC {
		at := index("credentials.oidc", i)
		r.needs(o.AuthorizedParty+o.Subject != "", at+".authorizedParty", "say which of the issuer's tokens are the client's, by this, by subject, or by both")
		unique(r, at+".algorithms", o.Algorithms)
		r.url(at+".issuer", o.Issuer, o.Exceptions)
		if strings.ContainsAny(string(o.Issuer), "?#") {
			r.report(at+".issuer", "the URL of an issuer has no query and no fragment", "copy it as the issuer's tokens have it")
		}
		unique(r, at+".exceptions", o.Exceptions)
	}
	for i, m := range c.Credentials.MTLS {
		m.rules(r, index("credentials.mtls", i))
	}
}

func alphanumeric(s string) bool {
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}
