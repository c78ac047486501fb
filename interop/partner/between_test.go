package partner_test

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// between stands between a client and a server, and may read and change what
// they say. To the client it is the server: cards that pass name its address.
type between struct {
	server   string // what requests are passed on to
	named    string // what the server calls itself, if not that
	requests *strict
	answers  *strict

	header  func(http.Header)            // changes the header of a request
	request func([]byte) ([]byte, error) // changes the body of a request
	card    func([]byte) []byte          // changes a card
	answer  func([]byte) []byte          // changes one answer, or one event
}

// start serves until the test ends, and returns the address.
func (b *between) start(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(b)
	t.Cleanup(web.Close)
	return web.URL
}

func (b *between) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := b.pass(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway) // of no effect on a stream
	}
}

func (b *between) pass(w http.ResponseWriter, r *http.Request) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	method := methodOf(text)
	if b.requests != nil && method != "" {
		b.requests.read(method, text, "params")
	}
	if b.request != nil && method != "" {
		if text, err = b.request(text); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, b.server+r.URL.RequestURI(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, r.Header)
	if b.header != nil {
		b.header(req.Header)
	}
	resp, err := plain.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.Header().Del("Content-Length")
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		w.WriteHeader(resp.StatusCode)
		return b.events(w, method, resp.Body)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if r.Method == http.MethodGet {
		body = bytes.ReplaceAll(body, []byte(cmp.Or(b.named, b.server)), []byte("http://"+r.Host))
		if b.card != nil {
			body = b.card(body)
		}
	} else {
		body = b.said(method, body)
	}
	w.WriteHeader(resp.StatusCode)
	_, err = w.Write(body)
	return err
}

// events passes a stream on line by line, as it comes.
func (b *between) events(w http.ResponseWriter, method string, body io.Reader) error {
	flush := http.NewResponseController(w).Flush
	if err := flush(); err != nil {
		return err
	}
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if event, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = fmt.Appendf(nil, "data: %s\n", b.said(method, bytes.TrimSpace(event)))
		}
		if _, failed := w.Write(line); failed != nil {
			return failed
		}
		if failed := flush(); failed != nil {
			return failed
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *between) said(method string, text []byte) []byte {
	if b.answers != nil {
		b.answers.read(method, text, "result")
	}
	if b.answer != nil {
		return b.answer(text)
	}
	return text
}

// plain does not ask for compression, which events would have to be freed of.
var plain = &http.Transport{DisableCompression: true}
