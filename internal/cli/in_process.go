package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/legation/legation/guard"
)

// inProcess administers through a handler in this process. Closing gives back
// what the handler stands on.
func inProcess(handler http.Handler, closing func() error) *installation {
	return &installation{
		transport: handlerTransport{handler},
		base:      &url.URL{Scheme: "http", Host: "localhost", Path: "/"},
		close:     closing,
	}
}

// handlerTransport answers requests with a handler, without a socket.
type handlerTransport struct{ handler http.Handler }

// RoundTrip returns once the handler has answered in full.
func (t handlerTransport) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	asked := req.Clone(req.Context())
	asked.RequestURI = req.URL.RequestURI()
	asked.RemoteAddr = "127.0.0.1:0"
	asked.Host = req.URL.Host
	asked.URL = &url.URL{Path: req.URL.Path, RawPath: req.URL.RawPath, RawQuery: req.URL.RawQuery}
	if asked.Body == nil {
		asked.Body = http.NoBody
	}
	answer := &recorder{header: http.Header{}}
	defer func() {
		if broken := recover(); broken != nil {
			resp, err = nil, fmt.Errorf("the admin API broke off: %v", broken)
		}
	}()
	t.handler.ServeHTTP(answer, asked)
	if answer.full {
		return nil, &guard.TooLargeError{Limit: maxAdminAnswer}
	}
	if err := req.Context().Err(); err != nil && answer.status == 0 {
		return nil, err
	}
	answer.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: http.StatusText(answer.status), StatusCode: answer.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: answer.sent, Body: io.NopCloser(&answer.body), ContentLength: int64(answer.body.Len()),
		Request: req,
	}, nil
}

// recorder keeps an answer, within bounds.
type recorder struct {
	header, sent http.Header
	status       int // zero until it is written
	body         bytes.Buffer
	full         bool
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status, r.sent = status, r.header.Clone()
	}
}

var errAnswerTooLarge = errors.New("the answer is too large")

func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.body.Len()+len(b) > maxAdminAnswer {
		r.full = true
		return 0, errAnswerTooLarge
	}
	return r.body.Write(b)
}
