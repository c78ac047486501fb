package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	oai "github.com/sashabaranov/go-openai"

	"github.com/legation/legation/guard"
)

// Kind is the way in which a call failed.
type Kind string

// The kinds of failures.
const (
	KindCredential  Kind = "credential"  // 401, 403
	KindQuota       Kind = "quota"       // 402, or what was paid for is used up
	KindBusy        Kind = "busy"        // 429, 503, 529; passes
	KindEndpoint    Kind = "endpoint"    // another 5xx, 408, or no answer begun; passes
	KindUnreachable Kind = "unreachable" // no connection, or none that is allowed
	KindSilent      Kind = "silent"      // a timeout
	KindNotFound    Kind = "not_found"   // 404: the address or the model
	KindTooLong     Kind = "too_long"    // more than the model reads
	KindBudget      Kind = "budget"      // more than the caller's budget allows; nothing was sent
	KindFiltered    Kind = "filtered"    // the content filter refused the request
	KindRequest     Kind = "request"     // any other refusal of the request
	KindForeign     Kind = "foreign"     // not an answer of this API
	KindBroken      Kind = "broken"      // the answer had begun and broke off
)

// words say what happened without saying more than a caller may know.
var words = map[Kind]string{
	KindCredential:  "the model endpoint refused our credential",
	KindQuota:       "our quota at the model endpoint is used up",
	KindBusy:        "the model endpoint has no capacity for us at the moment",
	KindEndpoint:    "the model endpoint failed to answer",
	KindUnreachable: "the model endpoint can not be reached",
	KindSilent:      "the model endpoint did not answer in time",
	KindNotFound:    "the model endpoint does not know the model",
	KindTooLong:     "the conversation is too long for the model",
	KindBudget:      "the caller's token budget is too small for the message",
	KindFiltered:    "the content filter of the model endpoint refused the message",
	KindRequest:     "the model endpoint did not accept the request",
	KindForeign:     "the model endpoint did not answer as one",
	KindBroken:      "the model's answer broke off",
}

// Error says why a call was not answered. Its text has neither the key nor
// anything that was said: of the endpoint's own words it keeps a code and a
// type that look like names.
type Error struct {
	Kind Kind

	// Status is the HTTP status, or zero if there was none.
	Status int

	// Code and Type are the endpoint's, or empty.
	Code, Type string

	cause string // of our side: safe to log
	retry bool
	after time.Duration

	uncounted bool // the endpoint stumbled over the option that asks for usage
}

func (e *Error) Error() string {
	text := "openai: " + words[e.Kind]
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.cause != "" {
		text += ": " + e.cause
	}
	return text
}

// attrs are the error for a log.
func (e *Error) attrs() []any {
	return []any{"kind", e.Kind, "status", e.Status, "code", e.Code, "type", e.Type, "error", e.cause}
}

// failure turns an error of the library into ours. The end of the caller's own
// context is no failure of the endpoint.
func (c *call) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := &Error{Status: c.status, after: c.after, uncounted: c.uncounted}
	if api, ok := errors.AsType[*oai.APIError](err); ok {
		e.Code, e.Type = c.name(fmt.Sprint(api.Code)), c.name(api.Type)
		if code, err := strconv.Atoi(e.Code); err == nil && c.status < 400 && code >= 400 && code < 600 {
			e.Status = code // some put the status they meant into the stream
		}
	}
	e.Kind, e.retry = c.kind(err, e)
	if e.Status < 400 {
		e.cause = cause(err)
	}
	if context.Cause(c.ctx) == errSilent {
		e.cause = errSilent.Error()
	}
	return e
}

// kind tells how a call failed, and whether that passes.
func (c *call) kind(err error, e *Error) (Kind, bool) {
	switch {
	case c.begun:
		return KindBroken, false
	case context.Cause(c.ctx) == errSilent:
		return KindSilent, false
	case e.Code == "content_filter":
		return KindFiltered, false
	case e.Code == "insufficient_quota" || e.Type == "insufficient_quota":
		return KindQuota, false
	case e.Code == "context_length_exceeded":
		return KindTooLong, false
	case e.Status >= 400:
		return kindOfStatus(e.Status)
	case is[*guard.URLError](err) || is[*guard.AddressError](err):
		return KindUnreachable, false
	case errors.Is(err, errRedirect) || is[*guard.RedirectError](err),
		errors.Is(err, errNoStream),
		errors.Is(err, errEndless) || is[*guard.TooLargeError](err) || errors.Is(err, oai.ErrTooManyEmptyStreamMessages):
		return KindForeign, false
	case timedOut(err) && !guard.NothingSent(err):
		return KindSilent, false
	case c.status != 0: // a stream without a single event
		return KindEndpoint, true
	case is[net.Error](err) || is[*guard.DialError](err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return KindUnreachable, true
	}
	return KindRequest, false // the library would not send it
}

func timedOut(err error) bool {
	late, ok := errors.AsType[net.Error](err)
	return ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

func kindOfStatus(status int) (Kind, bool) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return KindCredential, false
	case http.StatusPaymentRequired:
		return KindQuota, false
	case http.StatusNotFound:
		return KindNotFound, false
	case http.StatusRequestEntityTooLarge:
		return KindTooLong, false
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, 529:
		return KindBusy, true
	case http.StatusRequestTimeout:
		return KindEndpoint, true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return KindEndpoint, false
	}
	if status >= 500 {
		return KindEndpoint, true
	}
	return KindRequest, false
}

// cause is the text of an error that can only hold our words, or the type of
// one that may repeat what the endpoint sent.
func cause(err error) string {
	for _, own := range []error{errRedirect, errNoStream, errEndless, io.ErrUnexpectedEOF} {
		if errors.Is(err, own) {
			return own.Error()
		}
	}
	for _, find := range []func(error) (string, bool){
		text[*guard.URLError], text[*guard.AddressError], text[*guard.DialError], text[*guard.RedirectError],
		text[*guard.TooLargeError], text[*net.OpError], text[*net.DNSError], text[*tls.CertificateVerificationError],
	} {
		if text, ok := find(err); ok {
			return text
		}
	}
	if errors.Is(err, io.EOF) {
		return "the stream ended early"
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}

func text[E error](err error) (string, bool) {
	if found, ok := errors.AsType[E](err); ok {
		return found.Error(), true
	}
	return "", false
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// name keeps what looks like a name and drops everything else: an endpoint may
// put into a member whatever it likes, the key it was sent included.
func (c *call) name(s string) string {
	if s == "" || s == "<nil>" || len(s) > 64 || c.key != "" && strings.Contains(s, c.key) {
		return ""
	}
	for _, letter := range []byte(s) {
		switch {
		case 'a' <= letter && letter <= 'z', 'A' <= letter && letter <= 'Z', '0' <= letter && letter <= '9',
			letter == '_', letter == '-', letter == '.':
		default:
			return ""
		}
	}
	return s
}
