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
	"github.com/legation/legation/card"
)

// served is an agent card as it is served, encoded and signed once.
type served struct {
	body  []byte
	etag  string
	since time.Time
	cache string // of Cache-Control, behind for whom
}

// newServed encodes a card. Since when it is what it is does not depend on its
// signatures, which may be other ones at every start; its tag does. Both are
// made from the canonical form (RFC 8785), so that they stay the same however
// the encoding may change.
func newServed(ctx context.Context, form a2a.AgentCard, agent Agent, cfg Config) (served, error) {
	body := form.AppendJSON(nil)
	digest, err := digestOf(body)
	if err != nil {
		return served{}, err
	}
	since, err := cfg.CardSince(ctx, agent.Name, hex.EncodeToString(digest[:]), cfg.Now())
	if err != nil {
		return served{}, fmt.Errorf("since when it has its card: %w", err)
	}
	if body, err = signed(body, agent.Signers); err != nil {
		return served{}, err
	}
	if digest, err = digestOf(body); err != nil {
		return served{}, err
	}
	return served{
		body:  body,
		etag:  `"` + base64.RawURLEncoding.EncodeToString(digest[:18]) + `"`,
		since: since.UTC(),
		cache: ", max-age=" + strconv.Itoa(int(cfg.CardMaxAge/time.Second)),
	}, nil
}

func digestOf(body []byte) ([sha256.Size]byte, error) {
	canonical := jsontext.Value(bytes.Clone(body))
	if err := canonical.Canonicalize(); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("canonical form of its card: %w", err)
	}
	return sha256.Sum256(canonical), nil
}

// signed is a card with a signature of each signer (section 8.4.2).
func signed(body []byte, signers []card.Signer) ([]byte, error) {
	if len(signers) == 0 {
		return body, nil
	}
	body, err := card.Sign(body, signers...)
	if err != nil {
		return nil, fmt.Errorf("signature of its card: %w", err)
	}
	return body, nil
}

// serveCard answers a request for a card. What is said of conditions is the
// standard library's to weigh (RFC 9110, section 13).
func (s *Server) serveCard(w http.ResponseWriter, r *http.Request, e *endpoint) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.writePlain(w, http.StatusMethodNotAllowed, "the agent card is read with GET")
		return
	}
	audience := "public"
	if readers, ok := s.cfg.Callers.(CardReaders); ok {
		public, err := readers.ReadCard(r)
		if err != nil {
			s.refuseCard(w, err)
			return
		}
		if !public {
			audience = "private" // a shared cache would pass it on to anybody
		}
	}
	s.extendWrite(w)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", audience+e.card.cache)
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
