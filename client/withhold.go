package client

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
)

// Withhold replaces in text what headers hold, so that a peer's words can be
// shown although the peer may repeat the credentials it was given. Values are
// looked for whole and without their first word, which may name a scheme, and at
// the end of a long text, which may have been cut, for their start too. What has
// less than 6 bytes is not looked for.
func Withhold(text string, headers http.Header) string { return secretsOf(headers).hide(text) }

const (
	withheld  = "[withheld]"
	minSecret = 6  // bytes; what is shorter is part of other words too often
	minCut    = 50 // bytes; nothing is cut shorter
)

// secrets are what a peer was given and must not come back in an error. The
// zero value holds none.
type secrets struct {
	replacer *strings.Replacer
	starts   []string // without the word before them, which is no secret
	given    bool     // something, however short
}

func secretsOf(headers http.Header) secrets {
	var s secrets
	var all []string
	for _, values := range headers {
		for _, whole := range values {
			whole = strings.TrimSpace(whole)
			s.given = s.given || whole != ""
			_, rest, _ := strings.Cut(whole, " ")
			rest = cmp.Or(strings.TrimSpace(rest), whole)
			for _, value := range []string{whole, rest} {
				if len(value) >= minSecret {
					all = append(all, value, strings.ToLower(value)) // media types are made lower case
				}
			}
			s.starts = append(s.starts, rest)
		}
	}
	if len(all) == 0 {
		return secrets{given: s.given}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest is looked for first
	var pairs []string
	for _, value := range all {
		pairs = append(pairs, value, withheld)
	}
	s.replacer = strings.NewReplacer(pairs...)
	return s
}

func (s secrets) hide(text string) string {
	if s.replacer == nil {
		return text
	}
	text = s.replacer.Replace(text)
	if len(text) < minCut {
		return text
	}
	whole := strings.TrimSuffix(text, "…")
	for _, value := range s.starts {
		for n := min(len(value)-1, len(whole)); n >= minSecret; n-- {
			if before, cut := strings.CutSuffix(whole, value[:n]); cut {
				return before + withheld
			}
		}
	}
	return text
}

// clean takes what must not be there out of what a peer said.
func (s secrets) clean(e *a2a.Error) {
	if s.replacer == nil {
		return
	}
	e.Message, e.Reason = s.hide(e.Message), s.hide(e.Reason)
	for i, v := range e.Violations {
		e.Violations[i] = a2a.FieldViolation{Field: s.hide(v.Field), Description: s.hide(v.Description)}
	}
	metadata := e.Metadata
	e.Metadata = nil
	for key, value := range metadata {
		if e.Metadata == nil {
			e.Metadata = map[string]string{}
		}
		e.Metadata[s.hide(key)] = s.hide(value)
	}
	if data := string(e.Data); s.hide(data) != data {
		e.Data = nil // it would be no JSON any more
	}
}

// cover hides in the words of an error of the network what a peer may have put
// there. What was not sent can not come back.
func (s secrets) cover(err error) error {
	if err == nil || guard.NothingSent(err) {
		return err
	}
	if away, ok := errors.AsType[*guard.RedirectError](err); ok && s.given && !strings.EqualFold(away.Host, away.From) {
		// In the name of a host there is room for a secret in any spelling.
		return &guard.RedirectError{Status: away.Status, From: away.From}
	}
	if text := err.Error(); s.hide(text) != text {
		return &coveredError{text: s.hide(text), err: err}
	}
	return err
}

// coveredError is an error in other words.
type coveredError struct {
	text string
	err  error
}

func (e *coveredError) Error() string { return e.text }
func (e *coveredError) Unwrap() error { return e.err }
