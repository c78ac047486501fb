package client

import (
	"errors"
	"net/http"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
)

// Outcome is what an answer to a send, or the lack of one, means for the
// message.
type Outcome int

// The outcomes. The zero value is none of them.
const (
	// Accepted: the agent has the message.
	Accepted Outcome = iota + 1

	// Retryable: nothing left this machine. The same message may be sent.
	Retryable

	// RetryLater: the agent is busy and did not take the message. The same
	// message may be sent once [RetryAfter] is over.
	RetryLater

	// Refused: the agent, or something before it, or this package does not
	// want the message as it is. The error says who and why.
	Refused

	// Ambiguous: the agent may have the message. It must not be sent again by
	// itself, except to an agent that is known to recognise a repeated message
	// id. If a task id is known, GetTask decides; if not, a person does.
	Ambiguous
)

// String returns the outcome in a word or two.
func (o Outcome) String() string {
	names := [...]string{"", "accepted", "retryable", "retry later", "refused", "ambiguous"}
	if o <= 0 || int(o) >= len(names) {
		return "unknown"
	}
	return names[o]
}

// Classify tells what the error of SendMessage or SendStreamingMessage means;
// nil is accepted. An agent that dedupes recognises a repeated message id: its
// 503 is a busy agent's, any other's may come from behind the agent. When in
// doubt the outcome is ambiguous.
//
// The errors of a [Stream] that was opened are not for it: the message was
// accepted with its first event.
func Classify(err error, dedupes bool) Outcome {
	if err == nil {
		return Accepted
	}
	if guard.NothingSent(err) || isType[*CredentialsError](err) {
		return Retryable
	}
	if errors.Is(err, ErrUnsupported) || isType[*RequestError](err) || isType[*ExtensionError](err) ||
		isType[*InterfaceError](err) || isType[*NoCredentialsError](err) {
		return Refused
	}
	status := statusOf(err)
	switch {
	case status == http.StatusTooManyRequests:
		return RetryLater
	case status == http.StatusServiceUnavailable && dedupes:
		return RetryLater
	case refusesStatus(status):
		return Refused
	}
	if peer, ok := errors.AsType[*a2a.Error](err); ok && refusesCode(peer.Kind()) {
		return Refused
	}
	return Ambiguous
}

// statusOf gives the HTTP status behind an error, zero if there was none or if
// the answer with it broke the protocol: such an answer proves nothing.
func statusOf(err error) int {
	if redirect, ok := errors.AsType[*guard.RedirectError](err); ok {
		return redirect.Status
	}
	if peer, ok := errors.AsType[*PeerError](err); ok {
		return peer.Status
	}
	if answer, ok := errors.AsType[*HTTPError](err); ok {
		return answer.Status
	}
	return 0
}

func refusesStatus(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	}
	return status >= 300 && status < 400
}

// refusesCode leaves out internal errors: work may have begun before them.
func refusesCode(code a2a.Code) bool {
	switch code {
	case a2a.CodeParse, a2a.CodeInvalidRequest, a2a.CodeMethodNotFound, a2a.CodeInvalidParams:
		return true
	}
	return -32099 <= code && code <= -32001
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
