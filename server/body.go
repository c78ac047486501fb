package server

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/legation/legation/a2a"
)

// checkHTTP checks what can be told without reading the body.
func (c *call) checkHTTP() error {
	r := c.r
	// What is not read here is read by the standard library before it gives
	// the connection up, hence the deadline for refused bodies too.
	http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.server.cfg.ReadTimeout))
	if c.endpoint == nil {
		return notFound(r)
	}
	if r.Method != http.MethodPost {
		c.w.Header().Set("Allow", http.MethodPost)
		return refused(http.StatusMethodNotAllowed, a2a.CodeInvalidRequest,
			"send JSON-RPC requests with POST; the agent card is at %s below this address", a2a.WellKnownCardPath)
	}
	if err := checkContentType(r.Header); err != nil {
		return err
	}
	return nil
}

// checkContentType accepts application/json in UTF-8, uncompressed.
func checkContentType(h http.Header) error {
	unsupported := func(format string, args ...any) error {
		return refused(http.StatusUnsupportedMediaType, a2a.CodeContentTypeNotSupported, format, args...)
	}
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return unsupported("the content type of a request must be application/json")
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return unsupported("the charset of a request must be utf-8")
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return unsupported("the body of a request must not be compressed")
	}
	return nil
}

func (c *call) tooLarge() error {
	return refused(http.StatusRequestEntityTooLarge, a2a.CodeInvalidRequest,
		"the body is larger than the %d bytes allowed here; send large files as the url of a part", c.maxBody())
}

// readBody reads the body within its limits of size and time.
func (c *call) readBody() error {
	cfg := &c.server.cfg
	if c.r.ContentLength > c.maxBody() {
		return c.tooLarge()
	}
	c.body = bodies.Get().(*bytes.Buffer)
	if n := c.r.ContentLength; n > 0 {
		// A length is only a promise: what is kept ready for it is bounded.
		c.body.Grow(int(min(n, keptBody)) + bytes.MinRead)
	}
	_, err := c.body.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, c.maxBody()))
	switch {
	case err == nil:
		http.NewResponseController(c.w).SetReadDeadline(time.Time{})
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refused(http.StatusRequestTimeout, a2a.CodeInvalidRequest, "the body did not arrive within %v", cfg.ReadTimeout)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return c.tooLarge()
	}
	return refused(http.StatusBadRequest, a2a.CodeParse, "%s: the body could not be read to its end", a2a.CodeParse.Message())
}

// release gives the body's memory back. The parameters are gone with it.
func (c *call) release() {
	if c.body == nil {
		return
	}
	if c.body.Cap() <= keptBody {
		c.body.Reset()
		bodies.Put(c.body)
	}
	c.body, c.params = nil, nil
}

const keptBody = 64 << 10

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// notFound says in words that no agent lives at an address.
func notFound(r *http.Request) error {
	what := "no agent is served at this address"
	if strings.HasSuffix(r.URL.Path, a2a.WellKnownCardPath) {
		what = "no agent is published here, so there is no agent card"
	}
	if r.Method != http.MethodPost {
		return &plainError{status: http.StatusNotFound, text: what}
	}
	return refused(http.StatusNotFound, a2a.CodeInvalidRequest, "%s", what)
}

// plainError is answered as text, where nobody expects JSON-RPC.
type plainError struct {
	status int
	text   string
}

func (e *plainError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.text) }
