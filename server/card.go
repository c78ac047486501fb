package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// card is an agent card as it is served, encoded once.
type card struct {
	body  []byte
	etag  string
	since time.Time
	cache string // Cache-Control
}

// newCard encodes a card. Its tag is made from the canonical form (RFC 8785),
// so that it stays the same however the encoding may change.
func newCard(ctx context.Context, form a2a.AgentCard, cfg Config, agent string) (card, error) {
	body := form.AppendJSON(nil)
	canonical := jsontext.Value(bytes.Clone(body))
	if err := canonical.Canonicalize(); err != nil {
		return card{}, fmt.Errorf("canonical form of its card: %w", err)
	}
	digest := sha256.Sum256(canonical)
	since, err := cfg.CardSince(ctx, agent, hex.EncodeToString(digest[:]), cfg.Now())
	if err != nil {
		return card{}, fmt.Errorf("since when it has its card: %w", err)
	}
	audience := "public"
	if _, ok := cfg.Callers.(CardReaders); ok {
		audience = "private" // a shared cache would pass it on to anybody
	}
	return card{
		body:  body,
		etag:  `"` + base64.RawURLEncoding.EncodeToString(digest[:18]) + `"`,
		since: since.UTC(),
		cache: audience + ", max-age=" + strconv.Itoa(int(cfg.CardMaxAge/time.Second)),
	}, nil
}

// serveCard answers a request for a card. What is said of conditions is the
// standard library's to weigh (RFC 9110, section 13).
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request, e *endpoint) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.writePlain(w, http.StatusMethodNotAllowed, "the agent card is read with GET")
		return
	}
	if readers, ok := s.cfg.Callers.(CardReaders); ok {
		if err := readers.ReadCard(r); err != nil {
			s.refuseCard(w, err)
			return
		}
	}
	s.extendWrite(w)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", e.card.cache)
	h.Set("ETag", e.card.etag)
	http.ServeContent(w, r, "", e.card.since, bytes.NewReader(e.card.body))
}

func (s *Server) refuseCard(w http.ResponseWriter, err error) {
	status, reason := http.StatusServiceUnavailable, "who may read this card cannot be checked at the moment"
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		status, reason = refusal.Status, refusal.Reason
		if refusal.Challenge != "" {
			w.Header().Set("WWW-Authenticate", refusal.Challenge)
		}
		if refusal.RetryAfter > 0 {
			w.Header().Set("Retry-After", seconds(refusal.RetryAfter))
		}
	} else {
		s.cfg.Logger.Error("who reads a card could not be checked", "error", err)
	}
	s.writePlain(w, status, reason)
}
