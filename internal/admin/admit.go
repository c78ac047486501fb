package admin

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/lru"
	"github.com/legation/legation/internal/people"
)

// Refused requests are answered with why, and are in the audit, so many times a
// minute: of one address, and of all. What is let in is not limited by them.
const (
	refusedPerMinute    = 20
	allRefusedPerMinute = 300
	maxAddresses        = 4096

	recordTimeout = 5 * time.Second
)

// The reasons of refusals, for the audit.
const (
	reasonMissing = "credential_missing"
	reasonSeveral = "credential_ambiguous"
	reasonUnknown = "credential_unknown"
	reasonExpired = "credential_expired"
	reasonRole    = "role_not_allowed"
)

// admit finds out who asks, and whether that person may.
func (h *Handler) admit(c *call) error {
	if h.cfg.Author != nil {
		c.who, c.role = h.cfg.Author(c.r), people.Admin
		return nil
	}
	person, reason := h.authenticate(c.r)
	if reason != "" {
		return h.refused(c, person.Name, reason)
	}
	c.who, c.role = person.Name, person.Role
	if !c.role.May(c.needs) {
		return h.refused(c, person.Name, reasonRole)
	}
	return nil
}

func (h *Handler) authenticate(r *http.Request) (people.Person, string) {
	values := r.Header.Values("Authorization")
	switch len(values) {
	case 0:
		return people.Person{}, reasonMissing
	case 1:
	default:
		return people.Person{}, reasonSeveral
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return people.Person{}, reasonMissing
	}
	person, err := h.cfg.People.Authenticate(strings.TrimSpace(token))
	switch {
	case errors.Is(err, people.ErrExpired):
		return person, reasonExpired
	case err != nil:
		return people.Person{}, reasonUnknown
	}
	return person, ""
}

// refused counts a refusal, writes it down, and says what to answer.
func (h *Handler) refused(c *call, who, reason string) *Failure {
	now := h.now()
	if wait := h.refusals.count(c.r.RemoteAddr, now); wait > 0 {
		c.w.Header().Set("Retry-After", seconds(wait))
		return &Failure{
			Status: http.StatusTooManyRequests, Code: CodeTooMany, Message: "too many requests were refused",
			Next: "wait, and ask with a token that is in force",
		}
	}
	h.log.Warn("a request to the admin API was refused", "operation", c.operation, "reason", reason, "who", who, "address", c.r.RemoteAddr)
	h.record(c.r.Context(), audit.Entry{Who: who, From: host(c.r.RemoteAddr), Operation: c.operation, Outcome: audit.Refused, Reason: reason})
	if reason == reasonRole {
		return &Failure{
			Status: http.StatusForbidden, Code: CodeForbidden, Message: "your role does not allow this: it needs the permission to " + string(c.needs),
			Next: "ask an administrator",
		}
	}
	challenge := `Bearer realm="legation admin"`
	failure := &Failure{Status: http.StatusUnauthorized, Code: CodeUnauthenticated}
	switch reason {
	case reasonMissing:
		failure.Message, failure.Next = "this needs a token", "send it as Authorization: Bearer TOKEN"
	case reasonSeveral:
		failure.Message, failure.Next = "there is more than one Authorization header", "send one"
	case reasonExpired:
		failure.Message, failure.Next = "the token has ended", "ask an administrator for another"
	default:
		failure.Message, failure.Next = "the token is nobody's", "ask an administrator for another, if it was not mistyped"
	}
	if reason != reasonMissing {
		challenge += `, error="invalid_token"` // RFC 6750, section 3.1
	}
	c.w.Header().Set("WWW-Authenticate", challenge)
	return failure
}

// host is an address without its port, which tells nothing later.
func host(remote string) string {
	if address, err := netip.ParseAddrPort(remote); err == nil {
		return address.Addr().Unmap().String()
	}
	return ""
}

// record writes down what did not come with a change of its own. It does not
// fail for it, but it tells.
func (h *Handler) record(ctx context.Context, entry audit.Entry) {
	if h.cfg.Audit == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := h.cfg.Audit.Record(ctx, entry); err != nil {
		h.log.Error("an entry of the audit could not be written", "operation", entry.Operation, "error", err)
	}
}

// refusals counts refused requests.
type refusals struct {
	mu     sync.Mutex
	all    *rate.Limiter
	byAddr *lru.Map[netip.Addr, *rate.Limiter]
}

func newRefusals() *refusals {
	return &refusals{all: perMinute(allRefusedPerMinute), byAddr: lru.New[netip.Addr, *rate.Limiter](maxAddresses)}
}

func perMinute(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n)/60, n) }

// count counts a refusal. If there were too many it returns how long to wait.
func (f *refusals) count(remote string, now time.Time) time.Duration {
	at, _ := netip.ParseAddrPort(remote)
	address := at.Addr().Unmap().WithZone("")
	if address.Is6() { // of which one party has a whole network
		if network, err := address.Prefix(64); err == nil {
			address = network.Addr()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	one, ok := f.byAddr.Get(address)
	if !ok {
		one = perMinute(refusedPerMinute)
		f.byAddr.Put(address, one)
	}
	for _, limiter := range []*rate.Limiter{one, f.all} {
		r := limiter.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			return wait
		}
	}
	return 0
}

// seconds is a duration as Retry-After has it (RFC 9110, section 10.2.3).
func seconds(d time.Duration) string {
	return strconv.Itoa(max(int(math.Ceil(d.Seconds())), 1))
}
