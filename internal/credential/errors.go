package credential

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// Reason says why there is no credential.
type Reason string

// The reasons.
const (
	// Missing: a secret has no value.
	Missing Reason = "missing"

	// Unusable: a secret, a file or a document is not what it must be.
	Unusable Reason = "unusable"

	// Closed: the vault, or a file, can not be read now.
	Closed Reason = "closed"

	// Refused: the token endpoint gives us no token.
	Refused Reason = "refused"

	// Foreign: a token endpoint or an issuer is not what it must be, or leads
	// elsewhere. Nothing that it said is used.
	Foreign Reason = "foreign"

	// Unavailable: a token endpoint or an issuer does not answer, or not now.
	Unavailable Reason = "unavailable"
)

// Error says that there is no credential, so that a request was not sent. It
// holds nothing secret.
type Error struct {
	// Party is whose credential this is.
	Party string

	// Reason is why there is none.
	Reason Reason

	// Host is the token endpoint's or the issuer's, empty if none was asked.
	Host string

	// Status is the HTTP status of its answer, zero if there was none.
	Status int

	// Code is the error code it gave (RFC 6749, section 5.2), empty if none that
	// may be repeated.
	Code string

	// Err is the cause, nil if there is no more to tell.
	Err error

	why  string
	wait time.Duration // that the endpoint asks for
}

// Error says what is missing, and what to do where that is known.
func (e *Error) Error() string {
	text := e.why
	if e.Host != "" {
		text = "host " + strconv.Quote(bounded(e.Host)) + " " + text
	}
	if e.Err != nil {
		text += ": " + bounded(e.Err.Error())
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Lasting reports whether somebody has to change something first: asking again
// does not help.
func (e *Error) Lasting() bool { return e.Reason != Closed && e.Reason != Unavailable }

func (s *Source) fault(reason Reason, host, why string) *Error {
	return &Error{Party: s.party, Reason: reason, Host: host, why: why}
}

// opening is the error of opening a secret.
func (s *Source) opening(ctx context.Context, name registry.SecretName, field string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	words := secretWords(name, field)
	if errors.Is(err, vault.ErrNotFound) {
		return s.fault(Missing, "", words+" has no value: set it")
	}
	e := s.fault(Closed, "", words+" can not be opened")
	_, unknown := errors.AsType[*vault.UnknownKeyError](err)
	if unknown || errors.Is(err, vault.ErrDamaged) || errors.Is(err, vault.ErrInvalid) {
		e.Reason = Unusable
	}
	e.Err = err
	return e
}

const maxText = 300

func bounded(s string) string {
	if len(s) > maxText {
		return s[:maxText] + "…"
	}
	return s
}
