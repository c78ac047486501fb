package sse_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/sse"
)

// response notes what a handler does to it, and when.
type response struct {
	*httptest.ResponseRecorder
	writes, flushes int
	deadline        time.Time
	failing         error
}

func newResponse() *response { return &response{ResponseRecorder: httptest.NewRecorder()} }

func (r *response) Write(b []byte) (int, error) {
	r.writes++
	if r.failing != nil {
		return 0, r.failing
	}
	return r.ResponseRecorder.Write(b)
}

func (r *response) FlushError() error { r.flushes++; return r.failing }

func (r *response) SetWriteDeadline(t time.Time) error { r.deadline = t; return nil }

// REQ-RPC-09.
func TestWriterHeaders(t *testing.T) {
	resp := newResponse()
	if _, err := sse.NewWriter(resp, sse.Options{}); err != nil {
		t.Fatal(err)
	}
	want := http.Header{
		"Content-Type":      {"text/event-stream"},
		"Cache-Control":     {"no-cache"},
		"X-Accel-Buffering": {"no"},
	}
	if diff := cmp.Diff(want, resp.Header()); diff != "" || resp.Code != http.StatusOK {
		t.Errorf("status %d, headers (-want +got):\n%s", resp.Code, diff)
	}
	if resp.flushes != 1 {
		t.Error("the head was not sent at once")
	}
}

func TestWriterWritesWhatReadersRead(t *testing.T) {
	resp := newResponse()
	w, err := sse.NewWriter(resp, sse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Add([]byte(`{"result":`), []byte(`1`), []byte(`}`))
	w.Add([]byte(`{"result":2}`))
	if w.Buffered() == 0 || resp.writes != 0 {
		t.Error("added events were written before the flush")
	}
	for _, step := range []func() error{w.Flush, w.Flush, w.KeepAlive, func() error { return w.Event([]byte(`3`)) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	const want = "data: {\"result\":1}\n\ndata: {\"result\":2}\n\n: keep-alive\n\ndata: 3\n\n"
	if diff := cmp.Diff(want, resp.Body.String()); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if resp.writes != 3 || resp.flushes != 4 {
		t.Errorf("%d writes and %d flushes, want 3 and 4", resp.writes, resp.flushes)
	}
	got, err := collect(sse.Events(resp.Body, sse.Limits{}))
	if diff := cmp.Diff([]string{`{"result":1}`, `{"result":2}`, "3"}, got); diff != "" || err != nil {
		t.Errorf("read back: %v, (-want +got):\n%s", err, diff)
	}
}

func TestEveryWriteHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := newResponse()
		w, err := sse.NewWriter(resp, sse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(sse.KeepAlive)
			if left := time.Until(resp.deadline); left != 30*time.Second {
				t.Errorf("%v left for the next write, want 30s", left)
			}
			if err := w.KeepAlive(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestWriterStaysFailed(t *testing.T) {
	resp := newResponse()
	w, err := sse.NewWriter(resp, sse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("gone")
	resp.failing = gone
	if err := w.Event([]byte("1")); !errors.Is(err, gone) {
		t.Errorf("error %v", err)
	}
	resp.failing = nil
	if err := w.Event([]byte("2")); !errors.Is(err, gone) {
		t.Errorf("error %v after a gap", err)
	}
	if resp.Body.Len() > 0 {
		t.Errorf("written: %q", resp.Body)
	}

	resp = newResponse()
	resp.failing = gone
	if _, err := sse.NewWriter(resp, sse.Options{}); !errors.Is(err, gone) {
		t.Errorf("NewWriter error %v", err)
	}
}

func TestAResponseThatCanNotFlushIsRefused(t *testing.T) {
	var w struct{ http.ResponseWriter }
	w.ResponseWriter = plain{}
	if _, err := sse.NewWriter(w, sse.Options{}); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("error %v", err)
	}
}

type plain struct{}

func (plain) Header() http.Header         { return http.Header{} }
func (plain) Write(b []byte) (int, error) { return len(b), nil }
func (plain) WriteHeader(int)             {}

func TestWaitKeepsASilentStreamAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := newResponse()
		w, err := sse.NewWriter(resp, sse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		wake := make(chan struct{})
		go func() {
			time.Sleep(40 * time.Second)
			wake <- struct{}{}
			time.Sleep(10 * time.Second)
			cancel()
		}()
		if err := w.Wait(ctx, wake); err != nil {
			t.Errorf("woken: %v", err)
		}
		if err := w.Wait(ctx, wake); !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		if got := strings.Count(resp.Body.String(), ": keep-alive\n\n"); got != 2 {
			t.Errorf("%d comments in 50 s, want 2", got)
		}
		gone := errors.New("gone")
		resp.failing = gone
		if err := w.Wait(t.Context(), wake); !errors.Is(err, gone) {
			t.Errorf("reader gone: %v", err)
		}
	})
}

// pipes accepts one connection, an unbuffered pipe.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func TestAReaderThatStopsReadingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ended := make(chan error, 1)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stream, err := sse.NewWriter(w, sse.Options{WriteTimeout: 5 * time.Second})
			for err == nil {
				err = stream.Event(bytes.Repeat([]byte("x"), 1<<10))
			}
			ended <- err
		})}
		listener := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		go server.Serve(listener)
		defer server.Close()

		client, remote := net.Pipe()
		listener.conns <- remote
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
		// Not another byte is read.
		if err := <-ended; err == nil {
			t.Error("the stream did not fail")
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("given up after %v, want 5s", took)
		}
		client.Close()
	})
}
