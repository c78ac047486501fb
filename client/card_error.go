package client

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// CardError says that no card was found at a URL.
type CardError struct {
	// URL is where the card was looked for, without query.
	URL string

	// Err is what went wrong there: an *[HTTPError], an
	// *[InvalidResponseError], or an error of the guard or of the network.
	Err error

	// Root is the card at the root of the host, if the URL has a path and
	// nothing is there. It is another agent's, and was read to be named. Nil
	// means there is none, or nobody looked.
	Root *Card

	secrets secrets // which the other agent may be told by the first
}

func (e *CardError) Error() string {
	text := "no agent card at " + bounded(e.URL)
	if answer, ok := errors.AsType[*HTTPError](e.Err); ok && e.Missing() {
		text += " (" + strconv.Itoa(answer.Status) + " " + http.StatusText(answer.Status)
		if answer.Said != "" {
			text += ", saying " + quote(answer.Said)
		}
		text += ")"
	} else {
		text += ": " + strings.TrimPrefix(e.Err.Error(), cardMethod+": ")
	}
	if e.Root != nil {
		text += "; the host's root has another agent, " + quote(e.secrets.hide(e.Root.AgentCard.Name)) + ", at " + bounded(e.Root.base())
	}
	return text
}

// Unwrap gives what went wrong.
func (e *CardError) Unwrap() error { return e.Err }

// Missing reports whether somebody answered and said that nothing is there.
func (e *CardError) Missing() bool {
	answer, ok := errors.AsType[*HTTPError](e.Err)
	return ok && (answer.Status == http.StatusNotFound || answer.Status == http.StatusGone)
}

// base is the URL under which a card is found.
func (c *Card) base() string {
	if c.route == nil {
		return c.URL
	}
	return shown(c.route.String())
}
