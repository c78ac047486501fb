package access

import (
	"fmt"
	"net/netip"
	"time"
)

// Refusal is why a request is not served.
type Refusal struct {
	// Status is 401, 403, 429 or 503 (RFC 9110, section 15; RFC 6585).
	Status int

	// Words is a sentence for the caller. It holds nothing of what was
	// presented.
	Words string

	// Challenge is the value of WWW-Authenticate of a 401.
	Challenge string

	// RetryAfter says when to try again. Zero says nothing.
	RetryAfter time.Duration

	// Fact is what the audit is told.
	Fact Fact
}

// Error returns status and words.
func (r *Refusal) Error() string { return fmt.Sprintf("refused with %d: %s", r.Status, r.Words) }

// Fact is a refusal as the audit keeps it: who as far as is known, from where,
// and why, and nothing secret of what was presented.
type Fact struct {
	At         time.Time
	Client     string     // empty if it is not known
	Credential Credential // zero if it is not known
	Proxy      string     // the proxy that passed the request on, if one did
	Address    netip.Addr // of whoever connected
	Reason     Reason

	// Party is the authorized party or the subject, quoted and bounded, of a
	// token that its issuer did sign and that stands for nobody here.
	Party string
}

// Reason is a code for why a request was refused.
type Reason string

// Why requests are refused.
const (
	ReasonMissing           Reason = "credential_missing"
	ReasonSeveral           Reason = "credential_ambiguous" // more than one, or one that stands for several clients
	ReasonMalformed         Reason = "credential_malformed"
	ReasonUnknown           Reason = "credential_unknown"
	ReasonExpired           Reason = "credential_expired"
	ReasonNotYet            Reason = "credential_not_yet_valid"
	ReasonRevoked           Reason = "credential_revoked"
	ReasonIssuer            Reason = "token_issuer_unknown"
	ReasonSignature         Reason = "token_signature_invalid"
	ReasonAlgorithm         Reason = "token_algorithm_refused"
	ReasonAudience          Reason = "token_audience_wrong"
	ReasonParty             Reason = "token_party_unknown"
	ReasonIssuerUnavailable Reason = "token_issuer_unavailable"
	ReasonUntrusted         Reason = "certificate_untrusted" // no root vouches for it
	ReasonProxy             Reason = "proxy_unknown"         // a forwarded certificate from a party that may not forward any
	ReasonDisabled          Reason = "client_disabled"
	ReasonOperation         Reason = "operation_not_allowed"
	ReasonSkill             Reason = "skill_not_allowed"
	ReasonRate              Reason = "requests_too_many"
	ReasonFailures          Reason = "failures_too_many"
)
