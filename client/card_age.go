package client

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	defaultCardAge = 5 * time.Minute
	maxCardAge     = 24 * time.Hour
)

// stamp sets what the header of an answer says about the card, or about the
// card that has not changed.
func (c *Card) stamp(h http.Header, now time.Time) {
	c.FetchedAt, c.MaxAge = now, cardAge(h)
	if tag := h.Get("ETag"); tag != "" {
		c.ETag = tag
	}
	if modified := h.Get("Last-Modified"); modified != "" {
		c.LastModified = modified
	}
}

// cardAge is how long a card may be used (RFC 9111 section 4.2). Of the
// directives the strictest counts.
func cardAge(h http.Header) time.Duration {
	age := defaultCardAge
	for _, line := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			switch strings.ToLower(name) {
			case "no-store", "no-cache":
				return 0
			case "max-age":
				age = min(seconds(strings.Trim(value, `"`)), maxCardAge)
			}
		}
	}
	if spent := h.Get("Age"); spent != "" {
		age -= seconds(spent)
	}
	return max(age, 0)
}

// seconds reads a number of seconds; what is none counts as zero, so that a
// card that is not understood is asked for again.
func seconds(value string) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
