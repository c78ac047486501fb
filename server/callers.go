package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/quota"
)

// Callers says who calls. It must be safe for concurrent use.
type Callers interface {
	// Caller returns the caller behind a request, whose body is not read. A
	// [*Refusal] is answered as it says; any other error refuses the request
	// with 503, for who cannot be checked is not let in.
	Caller(r *http.Request) (Caller, error)
}

// Caller is who calls, as far as one request is concerned.
type Caller struct {
	// Name is the caller's in tasks. Tasks of another name do not exist for it.
	Name string

	// Rights says what it may do. Nil allows everything.
	Rights Rights

	// Limits are counted when a message is admitted. Nil counts nothing, and
	// leaves the sizes to [Config].
	Limits *quota.Limits

	// Audit has what the caller changes, and what is refused to it, written
	// into the audit, where Party names it among all that are registered and
	// KeyID its credential.
	Audit        bool
	Party, KeyID string

	// Until is when its credential ends, and with it what it holds open. Zero
	// means never. Revoked ends when its credential or rights were taken
	// away, with the same effect. Nil means that they never are.
	Until   time.Time
	Revoked context.Context
}

// Rights is what a caller may do. It must be safe for concurrent use.
type Rights interface {
	// MayCall returns nil or why an operation may not be called.
	MayCall(method string) *Refusal

	// MayUse returns nil or why messages may not be sent to a skill of an
	// agent.
	MayUse(agent, skill string) *Refusal
}

// CardReaders may be implemented by [Callers] to say who may read cards.
// Without it cards are public.
type CardReaders interface {
	// ReadCard returns nil or a [*Refusal], and whether everybody may read the
	// card, so that shared caches may keep it.
	ReadCard(r *http.Request) (public bool, err error)
}

// Refusal is why a caller is not served.
type Refusal struct {
	// Status is 401, 403, 429 or 503.
	Status int

	// Reason is a sentence for the caller.
	Reason string

	// Code says the same in a word, for the audit. It may be empty.
	Code string

	// Evidence, if not nil, is what the audit is told of somebody who was not
	// let in. The agent that was called is filled in.
	Evidence *audit.Entry

	// Challenge is the value of WWW-Authenticate, which a 401 must have
	// (RFC 9110, section 15.5.2).
	Challenge string

	// RetryAfter says when to try again. Zero or less says nothing.
	RetryAfter time.Duration
}

// Error returns status and reason.
func (r *Refusal) Error() string { return fmt.Sprintf("refused with %d: %s", r.Status, r.Reason) }

// LocalCaller is the name of the caller that [Local] lets in.
const LocalCaller = "local"

// Local lets in what comes from this machine, as [LocalCaller], and nobody
// else. The Host header must name the loopback too: a web page whose name was
// made to resolve to it is not let in, nor is what a proxy passes on.
type Local struct{}

// Caller returns [LocalCaller], or a [*Refusal] with 403.
func (Local) Caller(r *http.Request) (Caller, error) {
	if _, err := (Local{}).ReadCard(r); err != nil {
		return Caller{}, err
	}
	return Caller{Name: LocalCaller}, nil
}

// ReadCard holds cards to the same rule.
func (Local) ReadCard(r *http.Request) (public bool, err error) {
	const why = "this server has no registered remote client, so it serves loopback only; "
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false, &Refusal{Status: http.StatusForbidden, Reason: why + "this request comes from elsewhere"}
	}
	for _, name := range forwarding {
		if r.Header.Get(name) != "" {
			return false, &Refusal{Status: http.StatusForbidden, Reason: why + "this request was passed on by a proxy"}
		}
	}
	if !loopbackHost(r.Host) {
		return false, &Refusal{Status: http.StatusForbidden, Reason: why + "the Host header of this request names another host than localhost, 127.0.0.1 or [::1]"}
	}
	return false, nil
}

// forwarding are headers by which a proxy on this machine shows: behind it may
// be anybody.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"}

func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.IsLoopback()
}
