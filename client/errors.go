package client

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
)

// ErrUnsupported is matched by an [UnsupportedError].
var ErrUnsupported = errors.New("client: the agent's card does not offer this")

// UnsupportedError is an operation that was not tried because the card does
// not announce the capability it needs. Nothing was sent.
type UnsupportedError struct {
	// Method is the operation.
	Method string
	// Capability is the member of AgentCapabilities that is not true.
	Capability string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: the agent's card does not offer it (capabilities.%s is not true)", e.Method, e.Capability)
}

// Is reports whether target is [ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// RequestError is a request that was not sent because it is not one.
type RequestError struct {
	// Method is the operation.
	Method string
	// Why names what is missing.
	Why string
}

func (e *RequestError) Error() string { return e.Method + ": " + e.Why }

// ExtensionError refuses an agent that requires extensions which are not in
// [Config.Extensions] (a2a.proto AgentExtension.required), or does not announce
// those of [Config.RequiredExtensions]. Nothing was sent.
type ExtensionError struct {
	// URIs are the extensions that the agent requires and we do not have.
	URIs []string

	// Unannounced are the extensions that we require and the agent does not have.
	Unannounced []string
}

func (e *ExtensionError) Error() string {
	var said []string
	if len(e.URIs) > 0 || len(e.Unannounced) == 0 {
		said = append(said, "the agent requires extensions that are not supported here: "+quotedURIs(e.URIs))
	}
	if len(e.Unannounced) > 0 {
		said = append(said, "the agent does not announce extensions that are required of it: "+quotedURIs(e.Unannounced))
	}
	return strings.Join(said, "; ")
}

func quotedURIs(uris []string) string {
	quoted := make([]string, len(uris))
	for i, uri := range uris {
		quoted[i] = quote(uri)
	}
	return bounded(strings.Join(quoted, ", "))
}

// CredentialsError is a failure of [Config.Credentials]. The request it was
// for was not sent.
type CredentialsError struct{ Err error }

func (e *CredentialsError) Error() string { return "no credentials: " + e.Err.Error() }

// Unwrap gives the cause.
func (e *CredentialsError) Unwrap() error { return e.Err }

// PeerError is an error the peer answered with, in JSON-RPC, at whatever HTTP
// status. It matches what the [a2a.Error] inside matches.
type PeerError struct {
	// Method is the operation.
	Method string
	// Status is the HTTP status it came with.
	Status int
	// RetryAfter is how long the peer asks to wait, from its header or from
	// the error, at most a day. Zero means it does not say.
	RetryAfter time.Duration
	// Err is what the peer said.
	Err *a2a.Error
	// Hint says what the error probably means, or is empty.
	Hint string
}

func (e *PeerError) Error() string {
	text := withHint(e.Method+": "+e.words(), e.Hint)
	text += " (JSON-RPC " + e.Err.Code.String()
	if reason := e.Err.Reason; reason != "" && reason != e.Err.Code.Reason() {
		text += " " + quote(reason)
	}
	if e.Status != http.StatusOK {
		text += ", HTTP " + strconv.Itoa(e.Status)
	}
	return text + ")"
}

// words is what the peer said, with the members it complains about in the place
// of a message that says no more than that there are some.
func (e *PeerError) words() string {
	subject, message := "the agent answered", oneLine(e.Err.Message)
	if e.Err.Kind() == a2a.CodeInvalidParams {
		subject = "the agent refused the parameters"
		if message == a2a.CodeInvalidParams.Message() {
			message = ""
		}
		if faults := e.faults(); faults != "" {
			return subject + ": " + faults
		}
	} else if message == "" {
		subject += " with an error"
	}
	if message == "" {
		return subject
	}
	return subject + ": " + quote(message)
}

// faults lists the members a peer complains about, each with its reason.
func (e *PeerError) faults() string {
	const listed = 4
	var faults []string
	for _, v := range e.Err.Violations[:min(len(e.Err.Violations), listed)] {
		fault := oneLine(v.Description)
		if field := oneLine(v.Field); field != "" {
			fault = strings.TrimSuffix(field+": "+fault, ": ")
		}
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	if more := len(e.Err.Violations) - listed; more > 0 && len(faults) > 0 {
		faults = append(faults, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(faults, "; ")
}

// Unwrap gives what the peer said.
func (e *PeerError) Unwrap() error { return e.Err }

// HTTPError is an answer that is not JSON-RPC, or not a card. Who wrote it, the
// agent or something before it, can not be told.
type HTTPError struct {
	// Method is the operation, or "agent card".
	Method string
	// Status is the HTTP status.
	Status int
	// ContentType is the media type without parameters, empty if not given.
	ContentType string
	// IsHTML tells that the answer is a web page.
	IsHTML bool
	// RetryAfter is how long to wait, from the header, at most a day. Zero
	// means it does not say.
	RetryAfter time.Duration
	// Server is the start of the header of that name, or empty.
	Server string
	// Challenge names the authentication scheme that is asked for, or is empty.
	Challenge string
	// Said is what an answer of 400 and above says in words, on one line of at
	// most 300 bytes without control characters: its plain text, or the message
	// of the JSON-RPC error in it. Empty means it says nothing.
	Said string
	// Hint says what the error probably means, or is empty.
	Hint string
}

func (e *HTTPError) Error() string {
	text := fmt.Sprintf("%s: the answer is HTTP %d", e.Method, e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text += " " + name
	}
	switch {
	case e.IsHTML && e.Status == http.StatusNotFound:
		text += " with a web page (" + e.ContentType + ")"
	case e.IsHTML:
		text += " with a web page (" + e.ContentType + "), probably from a proxy or a login page"
	case e.ContentType != "" && e.Status/100 == 2:
		text += " with " + quote(e.ContentType) + " instead of JSON"
	}
	if e.Server != "" {
		text += ", sent by " + quote(e.Server)
	}
	if e.Challenge != "" {
		text += ", asking for " + quote(e.Challenge) + " credentials"
	}
	if e.Said != "" {
		text += ", saying " + quote(e.Said)
	}
	return withHint(text, e.Hint)
}

// InvalidResponseError is an answer that breaks the protocol. It repeats
// nothing of what was answered.
type InvalidResponseError struct {
	// Method is the operation, or "agent card".
	Method string
	// Why says which rule is broken.
	Why string
	// Status is the HTTP status.
	Status int
	// ContentType is the media type without parameters, empty if not given.
	ContentType string
}

func (e *InvalidResponseError) Error() string {
	return fmt.Sprintf("%s: the agent's answer breaks the protocol: %s", e.Method, bounded(e.Why))
}

// LostTaskError says that the agent no longer knows a task it gave us.
type LostTaskError struct {
	// TaskID is the task.
	TaskID a2a.TaskID
	// Err is what the agent answered.
	Err error
}

func (e *LostTaskError) Error() string {
	return fmt.Sprintf("the agent has lost task %s: %s", quote(string(e.TaskID)), e.Err)
}

// Unwrap gives what the agent answered.
func (e *LostTaskError) Unwrap() error { return e.Err }

// IsOver reports whether an error of CancelTask says that there is nothing
// left to cancel: the task has ended, or the agent no longer has it.
func IsOver(err error) bool {
	return errors.Is(err, a2a.ErrTaskNotCancelable) || errors.Is(err, a2a.ErrTaskNotFound)
}

// RetryAfter returns how long the peer asked to wait, zero if it did not.
func RetryAfter(err error) time.Duration {
	if peer, ok := errors.AsType[*PeerError](err); ok {
		return peer.RetryAfter
	}
	if answer, ok := errors.AsType[*HTTPError](err); ok {
		return answer.RetryAfter
	}
	return 0
}

const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header of that name: seconds or a date (RFC 9110
// section 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	var wait time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

func withHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + "; " + hint
}

const maxText = 300

// bounded cuts text that somebody else chose.
func bounded(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…"
}

func quote(s string) string { return strconv.Quote(bounded(s)) }
